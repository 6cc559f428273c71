"""A film as the page reads it: what static/js/elements/film-picture.js needs to draw any of its moments, as JSON."""

import json
from collections.abc import Sequence
from typing import Any

from app.board.film.composition import FORMS, Actor, Composition, Steps
from app.board.film.film import Film
from app.board.film.track import CHANNELS, Channel


def film_data(film: Film, forms: Sequence[str] = FORMS) -> str:
    """All tracks of these compositions, and what is said when."""
    said = {
        "length": film.length,
        "stops": [[stop.begins, stop.t, stop.name, stop.caption] for stop in film.stops],
        "clock": _steps(film.clock),
        "slow": _steps(film.slow),
        **{form: _composition(film.composition(form)) for form in forms},
    }
    return json.dumps(said, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")


def _composition(picture: Composition) -> dict[str, Any]:
    return {
        "actors": [_actor(actor) for actor in picture.actors],
        "words": [_steps(running.steps) for running in picture.words],
    }


def _actor(actor: Actor) -> dict[str, Any]:
    """Its channels, those that never leave their usual value left out."""
    channels = ((name, getattr(actor.track, name)) for name in CHANNELS)
    said: dict[str, Any] = {
        name: _channel(channel)
        for name, channel in channels
        if name in ("x", "y") or any(value != 1 for _, value, _ in channel)
    }
    return {**said, "window": actor.window[0]} if actor.window else said


def _channel(channel: Channel) -> Any:
    if len(channel) == 1:
        return _short(channel[0].value)
    return [[_short(t), _short(value), 1] if eased else [_short(t), _short(value)] for t, value, eased in channel]


def _steps(steps: Steps) -> list[list[Any]]:
    return [[_short(t), words] for t, words in steps]


def _short(value: float) -> float | int:
    """A whole number without its point."""
    return int(value) if value == int(value) else value
