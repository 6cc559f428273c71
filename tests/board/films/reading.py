"""Reading films: their family, settings to try, and what of a picture is where at a moment."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from functools import cache

from app.board.film.composition import Composition
from app.board.film.film import Film
from app.board.film.track import value_at
from app.board.legend import SIZES, words_width
from app.board.scenes import SCENES
from engine.language.inputs import Choice
from engine.language.refusal import Refusal
from tests.board.figures import Words

FILMS = {name: scene for name, scene in SCENES.items() if scene.film}
FORMS = ("wide", "tall")
QUIET = frozenset({"playhead", "words"})  # kinds of actor that do not count as a picture that moves
SAMPLES = 10  # a second
_MOVE = re.compile(r"translate\(([-\d.]+) ([-\d.]+)\)")


def settings(name: str) -> list[dict[str, str]]:
    """Defaults, and each knob at both of its ends."""
    found: list[dict[str, str]] = [{}]
    for knob in SCENES[name].knobs:
        ends = [text for text, _ in knob.choices] if isinstance(knob, Choice) else map(knob.text, (knob.low, knob.high))
        found += [{knob.name: end} for end in ends]
    return found


def film_of(name: str, **given: str) -> Film:
    """A film for a setting; kept."""
    return _film(name, tuple(given.items()))


@cache
def _film(name: str, given: tuple[tuple[str, str], ...]) -> Film:
    scene = SCENES[name]
    assert scene.film
    return scene.film(scene.values(dict(given)))


def films(name: str) -> Iterator[tuple[dict[str, str], Film]]:
    """A scene's film at every setting that has a picture."""
    for given in settings(name):
        try:
            yield given, film_of(name, **given)
        except Refusal:
            continue


def compositions(film: Film) -> tuple[Composition, Composition]:
    return film.wide, film.tall


def moments(film: Film) -> list[float]:
    return [at / SAMPLES for at in range(int(film.length * SAMPLES) + 1)]


def picture_of(picture: Composition, t: float) -> list[tuple[str, tuple[float, ...]]]:
    """What can be seen to move, at a moment: without playheads, clocks and running numbers."""
    seen = []
    for actor in picture.actors:
        if actor.kind in QUIET:
            continue
        now = actor.track.at(t)
        if now["opacity"] > 0:
            seen.append((actor.key, tuple(round(value, 2) for value in now.values())))
    return seen


def resting(film: Film) -> list[float]:
    """Seconds that the player rests at each stop but the last, as static/js/elements/film-clock.js has it."""
    return [
        min(max(0.25 * len(stop.caption.split()) - (stop.t - stop.begins), 0.6), 2.5) if stop.t > 0 else 0.0
        for stop in film.stops[:-1]
    ]


def kinds_that_move(picture: Composition) -> set[str]:
    """Kinds of actor of which some change place, size or share shown while they can be seen."""
    return {
        actor.kind
        for actor in picture.actors
        if any(
            len({key.value for key in getattr(actor.track, name)}) > 1 for name in ("x", "y", "wide", "tall", "shown")
        )
        and any(value_at(actor.track.opacity, key.t) > 0 for key in actor.track.opacity)
    } - {"words"}


def words_at(picture: Composition, t: float) -> list[Words]:
    """Every word that can be seen at a moment, where it stands."""

    def walk(node: ET.Element, dx: float, dy: float, faint: bool) -> Iterator[Words]:
        if node.get("display") == "none" or float(node.get("opacity", "1")) < 0.5:
            return
        if moved := _MOVE.match(node.get("transform", "")):
            dx, dy = dx + float(moved[1]), dy + float(moved[2])
        if node.tag == "text" and node.text:
            style = (node.get("class") or "").split()[0].removeprefix("t-")
            size, wide = SIZES[style], words_width(node.text, style)
            x, y = dx + float(node.get("x", 0)), dy + float(node.get("y", 0))
            left = x - {"middle": wide / 2, "end": wide}.get(node.get("text-anchor", ""), 0.0)
            yield Words(node.text, left, y - 0.72 * size, left + wide, y + 0.2 * size, style)
        for child in node:
            yield from walk(child, dx, dy, faint)

    return list(walk(ET.fromstring(picture.at(t)), 0.0, 0.0, False))
