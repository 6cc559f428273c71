"""GPUs on their ring: queries that stay, keys and values in two buffers that take turns, and coins on the wires."""

from app.board.film.composition import Composition, Flight
from app.board.film.pieces import COIN, LETTERS, faded, hue, sweep
from app.board.film.track import BLINK, Way
from app.board.film.wire import Wire
from app.board.scenes.cp.places import places
from app.board.scenes.cp.square import Square, strip_tile
from app.board.scenes.cp.story import Act, Story
from engine.lens.ring_steps import let_go, step_work

NOT_ASKED = 0.35  # opacity of keys that lie in the future of all queries


def draw_gpus(picture: Composition, story: Story) -> None:
    """Boxes, and the ring under them: still."""
    at, ranks = places(picture), story.case.ranks
    wide, part = at.box_wide(ranks), at.part(ranks)
    for rank in range(ranks):
        x, y = at.box_at(rank, ranks)
        picture.rectangle(x, y, wide, at.box_tall, key=f"gpu-{rank}")
        _named(picture, x + 14, y - 15, rank, ranks)
        for step in (0, 1):
            left, top = at.buffer(rank, ranks, step)
            picture.rectangle(left, top, part, at.tile, ink="ghost", stroke="dashed", key=f"room-{rank}-{step}")
            picture.line(
                left + part / 2, y + at.box_tall, left + part / 2, at.wires[0], ink="rule", key=f"tap-{rank}-{step}"
            )
    left, right = at.buffer(0, ranks, 0)[0] + part / 2, at.buffer(ranks - 1, ranks, 1)[0] + part / 2
    first, back = at.wires
    picture.line(left, first, right, first, ink="rule", key="onward")
    picture.line(left, back, right, back, ink="rule", key="back")
    for x in (left, left + part + 5, right - part - 5, right):
        picture.line(x, first, x, back, ink="rule", key=f"end-{x:.0f}")
    middle = (left + right) / 2
    picture.polyline(
        ((middle - 5, first - 6), (middle + 3, first), (middle - 5, first + 6)), ink="rule", key="onward-head"
    )
    picture.polyline(((middle + 5, back - 6), (middle - 3, back), (middle + 5, back + 6)), ink="rule", key="back-head")
    x, y = at.row[0] - 8, at.box + 7 + at.tile / 2 + 6
    picture.text(x, y, "Q", "read", anchor="end", ink="soft")
    picture.text(x, y + at.tile + 10, "KV", "read", anchor="end", ink="soft")


def _named(picture: Composition, x: float, y: float, rank: int, ranks: int) -> None:
    words = f"GPU {LETTERS[rank]}" if picture.is_wide and ranks <= 4 else ""
    picture.circle(x, y, 11, fill=hue(rank, ranks), key=f"badge-{rank}")
    ink = "ink" if hue(rank, ranks) == "plain" else "letter"
    picture.text(x, y + 6, LETTERS[rank], "read", anchor="middle", ink=ink)
    if words:
        picture.text(x + 18, y + 7, words, "caption")


class Ring:
    """One act on the ring."""

    def __init__(self, picture: Composition, story: Story, act: Act, square: Square):
        self.picture, self.story, self.act, self.square = picture, story, act, square
        self.at, self.lens, self.ranks = places(picture), story.lens, act.ranks

    def draw(self) -> None:
        for rank in range(self.ranks):
            self._waits(rank)
            self._queries(rank)
            for step in range(self.ranks):
                self._held(rank, step)
            for half in (0, 1):
                self._sweep(rank, half)

    def coins(self) -> None:
        """Keys and values on their way. Drawn last."""
        for rank in range(self.ranks):
            for step in range(self.ranks - 1):
                self._coin(rank, step)

    def _queries(self, rank: int) -> None:
        """They stay where they are."""
        mine, arrived = self.act.strips[rank], self.square.arrives(rank, 0.0)[-1][0]
        wide = self.at.part(self.ranks)
        for half, strip in enumerate(mine):
            way = faded(
                Way(*self.square.seat(rank, half), here=False).show(arrived, 0.0), self.lens, 0.0, self.act.until
            )
            with self.picture.actor(f"q-{self.act.key}-{strip}", "queries", way, why="queries stay where they are"):
                words = LETTERS[rank] if len(mine) == 1 else f"{strip}" if self.ranks <= 4 else ""
                whole = 2 * wide + 5 if len(mine) == 1 else wide
                strip_tile(self.picture, whole, self.at.tile, rank, self.ranks, f"q-{rank}-{half}", words)

    def _held(self, rank: int, step: int) -> None:
        """Keys and values in a buffer, from their arrival until the buffer is given back."""
        now = self.act.steps[rank][step]
        asked = step_work(self.act.strips, rank, step) > 0
        arrived = self.lens.ends(now.arrived) if step else self.square.arrives(rank, 0.5)[-1][0]
        way = Way(*self.at.buffer(rank, self.ranks, step), here=False)
        way.show(arrived, 0.0, 1 if asked else NOT_ASKED)
        if step + 1 < self.ranks:
            way.hide(self.lens.begins(let_go(self.act.steps, rank, step)), 2 * BLINK)
        elif self.act.until < self.lens.length:
            way.hide(self.act.until, 3 * BLINK)
        whose = LETTERS[now.source]
        why = f"keys and values of {whose}" if asked else f"keys of {whose} lie in the future of all queries here"
        with self.picture.actor(f"kv-{self.act.key}-{rank}-{step}", "keys", way, why=why):
            strip_tile(self.picture, self.at.part(self.ranks), self.at.tile, now.source, self.ranks, "kv", whose)

    def _sweep(self, rank: int, half: int) -> None:
        """Work on the keys in a buffer."""
        mine = self.act.steps[rank]
        spans = [(step.start, step.end) for at, step in enumerate(mine) if at % 2 == half and step.end > step.start]
        if spans:
            x, y = self.at.buffer(rank, self.ranks, half)
            part = self.at.part(self.ranks)
            sweep(self.picture, f"sweep-{self.act.key}-{rank}-{half}", x, y, part, self.at.tile, spans, self.lens)

    def _waits(self, rank: int) -> None:
        """Hatched while it has nothing to compute."""
        x, y = self.at.box_at(rank, self.ranks)
        wide = self.at.box_wide(self.ranks)
        for at, (start, end) in enumerate(self.act.idle(rank)):
            begins, ends = self.lens.begins(start), self.lens.ends(end)
            if end == self.act.ends:
                ends = self.act.until
            way = Way(x, y, here=False).show(begins + BLINK)
            if ends < self.lens.length:
                way.hide(max(ends, begins + BLINK))
            with self.picture.actor(f"idle-{self.act.key}-{rank}-{at}", "idle", way, why=WAITS):
                self.picture.cells([(3, 3, wide - 6, self.at.box_tall - 6)], fill="waiting", ink="")

    def _coin(self, rank: int, step: int) -> None:
        to = (rank + 1) % self.ranks
        now = self.act.steps[to][step + 1]
        wire = Wire(f"hop-{rank}-{step % 2}", self.at.hop(rank, self.ranks, step))
        span = self.lens.span(now.sent, now.arrived)
        way = Way(*wire.at(0), here=False).show(span[0][0], 0.0).ride(span, wire).hide(span[-1][0], 0.0)
        flight = Flight(wire, span[0][0], span[-1][0], self.story.case.hop(2, "hop").value)
        whose = LETTERS[now.source]
        why = f"keys and values of {whose} on their way to {LETTERS[to]}"
        wide, tall = COIN
        key = f"coin-{self.act.key}-{rank}-{step}"
        with (
            self.picture.actor(key, "coin", way, flights=[flight], why=why),
            self.picture.moved(-wide / 2, -tall / 2),
        ):
            strip_tile(self.picture, wide, tall, now.source, self.ranks, "coin", whose)


WAITS = "it waits: the keys it has lie in the future, or are not there yet"
