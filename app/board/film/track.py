"""Tracks: what of an actor changes, and when. One way of reading them here and in static/js/elements/film-picture.js.

A channel is a number that stands, or keys (film seconds, value, eased). Between two keys it goes straight, or, where
the later one is eased, by u²(3 - 2u). Keys are rounded once, here, so that server and browser read the same ones.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import pairwise, zip_longest
from operator import itemgetter
from typing import NamedTuple

from app.board.film.lens import Span
from app.board.film.wire import Wire

BLINK = 0.1  # s in which something comes or goes, so that it does not flash


class Key(NamedTuple):
    """The value of a channel at a moment; eased: the way to here begins and ends slowly."""

    t: float
    value: float
    eased: bool = False


Channel = tuple[Key, ...]
_moment_of = itemgetter(0)


def value_at(channel: Channel, t: float) -> float:
    """What a channel says at a moment of the film.

    >>> value_at((Key(1, 0), Key(3, 10)), 2), value_at((Key(0, 0), Key(1, 8, True)), 0.25)
    (5.0, 1.25)
    >>> value_at((Key(1, 0), Key(1, 7)), 1)
    7.0
    """
    if len(channel) == 1:  # most never change
        return float(channel[0].value)
    at = bisect_right(channel, t, key=_moment_of)
    if at == 0:
        return float(channel[0].value)
    if at == len(channel):
        return float(channel[-1].value)
    before, after = channel[at - 1], channel[at]
    u = (t - before.t) / (after.t - before.t)
    if after.eased:
        u = u * u * (3 - 2 * u)
    return before.value + (after.value - before.value) * u


@dataclass(frozen=True)
class Track:
    """Everything that changes of an actor.

    x, y      where its origin is             [units of the picture]
    opacity   0 is not there                  [0 to 1]
    wide      scale from its origin, across   [times]
    tall      likewise down                   [times]
    shown     share of it that is uncovered, from the left; only for an actor with a window   [0 to 1]
    """

    x: Channel
    y: Channel
    opacity: Channel = (Key(0, 1),)
    wide: Channel = (Key(0, 1),)
    tall: Channel = (Key(0, 1),)
    shown: Channel = (Key(0, 1),)

    def at(self, t: float) -> dict[str, float]:
        """All of it at a moment."""
        return {name: value_at(getattr(self, name), t) for name in CHANNELS}


CHANNELS = tuple(field.name for field in fields(Track))
PLACES = {"x": 1, "y": 1, "opacity": 2, "wide": 4, "tall": 4, "shown": 4}  # decimals kept of a value
TIME_PLACES = 3


class Way:
    """A track under way: moves are added in order of time. It stands where it is told to until it is told to go.

    x, y     where it begins
    here     whether it is there from the beginning

    >>> way = Way(10, 20, here=False).show(1).go(plain_span := ((2, 0), (4, 1)), 30, 20)
    >>> way.track().at(3)["x"], way.track().at(0)["opacity"], way.track().at(5)["opacity"]
    (20.0, 0.0, 1.0)
    """

    def __init__(self, x: float, y: float, *, here: bool = True, wide: float = 1, tall: float = 1, shown: float = 1):
        start = {"x": x, "y": y, "opacity": float(here), "wide": wide, "tall": tall, "shown": shown}
        self._keys: dict[str, list[Key]] = {name: [Key(0, value)] for name, value in start.items()}

    def show(self, t: float, over: float = BLINK, opacity: float = 1) -> "Way":
        """It is there from t on; it came in the moment before. A fade that is under way is cut short."""
        return self._cut("opacity", max(0.0, t - over))._to("opacity", ((max(0.0, t - over), 0), (t, 1)), opacity)

    def hide(self, t: float, over: float = BLINK, opacity: float = 0) -> "Way":
        """It goes from t on. A fade that is under way is cut short."""
        return self._cut("opacity", t)._to("opacity", ((t, 0), (t + over, 1)), opacity)

    def go(self, span: Span, x: float, y: float, *, eased: bool = True) -> "Way":
        """It slides to a place."""
        return self._to("x", span, x, eased)._to("y", span, y, eased)

    def ride(self, span: Span, wire: Wire) -> "Way":
        """It moves along a wire at the pace of the span, from its begin to its end."""
        shares = sorted({*(u for _, u in span), *wire.corners})
        passed = [(_moment(span, u), wire.at(u)) for u in shares]
        for place, name in enumerate("xy"):
            keys = [Key(t, at[place]) for t, at in passed]
            self._add(name, [Key(keys[0].t, self._keys[name][-1].value), *keys])
        return self

    def grow(self, span: Span, *, wide: float | None = None, tall: float | None = None, eased: bool = False) -> "Way":
        """It becomes so many times as wide, as tall."""
        for name, value in (("wide", wide), ("tall", tall)):
            if value is not None:
                self._to(name, span, value, eased)
        return self

    def uncover(self, span: Span, share: float = 1) -> "Way":
        """Its window opens to this share, from the left."""
        return self._to("shown", span, share)

    def track(self) -> Track:
        """What the way is, with keys that say nothing left out."""
        return Track(**{name: _thinned(keys, PLACES[name]) for name, keys in self._keys.items()})

    def _to(self, name: str, span: Span, value: float, eased: bool = False) -> "Way":
        start = self._keys[name][-1].value
        if start != value or len(span) > 2:
            keys = [Key(t, start + (value - start) * u, eased and u > 0) for t, u in span]
            self._add(name, keys)
        return self

    def _cut(self, name: str, t: float) -> "Way":
        keys = self._keys[name]
        if keys[-1].t <= t:  # nothing is under way
            return self
        value = value_at(tuple(keys), t)
        while len(keys) > 1 and keys[-1].t > t:
            keys.pop()
        if keys[-1].value != value:
            keys.append(Key(t, value))
        return self

    def _add(self, name: str, keys: Sequence[Key]) -> None:
        last = self._keys[name][-1]
        if keys[0].t < last.t - 0.5 * 10**-TIME_PLACES:
            raise ValueError(f"{name} is told to go at {keys[0].t:.3f} s and is on its way until {last.t:.3f} s")
        self._keys[name] += keys


def _moment(span: Span, u: float) -> float:
    """When a share of the way is done."""
    for (t0, u0), (t1, u1) in pairwise(span):
        if u <= u1:
            return t0 + (t1 - t0) * (u - u0) / (u1 - u0) if u1 > u0 else t1
    return span[-1][0]


def _thinned(keys: Sequence[Key], places: int) -> Channel:
    """Rounded, without those that lie between two alike, nor those that stand twice."""
    if len(keys) == 1:  # most channels never change
        return (Key(keys[0].t, round(keys[0].value, places)),)
    fine, per = 10**TIME_PLACES, 10**places  # to a whole number and back: a fifth of the time of round(value, places)
    rounded = [Key._make((round(t * fine) / fine, round(value * per) / per, eased)) for t, value, eased in keys]
    kept: list[Key] = []
    last = None  # value of the one kept last
    for key, after in zip_longest(rounded, rounded[1:]):
        if key.value != last or (after is not None and after.value != last):
            kept.append(key)
            last = key.value
    return tuple(kept)
