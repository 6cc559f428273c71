"""The DDP film's lanes: compute and wires on one clock, and what is told below them."""

from collections.abc import Sequence

from app.board.film.composition import Composition, running
from app.board.film.pieces import Axis, Cell, faded, lane, named, playhead, written
from app.board.film.ring import DRAWN
from app.board.film.track import Way
from app.board.scenes.ddp.case import LAYERS
from app.board.scenes.ddp.places import places
from app.board.scenes.ddp.story import HOPS, LAPS, Story
from engine.language.units import bytes_text, count_text
from engine.lens.sharded import Span

BURSTS = 60  # drawn of the buckets on the wires
GAP = 5.0  # between two lanes


def step_cells(story: Story, start: float, end: float) -> list[Cell]:
    """What a GPU computes in a step that begins at `start`, and how it waits until `end`."""
    f, b = story.forward / LAYERS, (story.backward_ends - story.forward) / LAYERS
    up = [Cell(start + at * f, start + (at + 1) * f, f"L{at + 1}", "f", "forward") for at in range(LAYERS)]
    half = start + story.forward
    down = [
        Cell(half + at * b, half + (at + 1) * b, f"L{LAYERS - at}", "b", "backward: it makes the gradients")
        for at in range(LAYERS)
    ]
    waits = Cell(start + story.backward_ends, end, "", "waiting", "nothing is left to compute: it waits for the sum")
    return [*up, *down, waits]


def wires(
    picture: Composition,
    key: str,
    axis: Axis,
    y: float,
    spans: Sequence[Span],
    story: Story,
    since: float,
    until: float,
    tall: float,
) -> None:
    """Buckets on the wires, uncovered as they travel: one drawing, for there may be hundreds."""
    way = Way(axis.left, y, here=False, shown=0).show(max(since, story.lens.begins(axis.start)))
    way.uncover(story.lens.span(axis.start, axis.end))
    if until < story.lens.length:
        way.hide(until)
    why = "buckets on the wires: each leaves when it is full and the one before is through"
    with picture.actor(key, "bursts", way, window=(axis.right - axis.left + 1, tall), why=why):
        boxes = [(axis.x(s.start) - axis.left, 0.5, axis.x(s.end) - axis.x(s.start), tall - 1) for s in spans]
        picture.cells(boxes, fill="dp-pale", ink="dp")


class Lanes:
    """The whole step on one axis; while the first bucket travels, that moment alone on a longer one."""

    def __init__(self, picture: Composition, story: Story):
        self.picture, self.story, self.case = picture, story, story.case
        self.at, self.lens = places(picture), story.lens

    def draw(self) -> None:
        story = self.story
        near, back, end = story.fill[0], story.back[0][0], story.change[0][0]
        whole = Axis(*self.at.axis, 0.0, story.step_ends)
        cells = step_cells(story, 0.0, story.step_ends)
        bursts = [Span(story.forward + span.start, story.forward + span.end) for span in story.buckets.bursts(BURSTS)]
        self._pair("step", whole, cells, bursts, 0.0, near)
        self._close(near, back)
        self._pair("rest", whole, cells, bursts, back, end)
        self._words()

    def _close(self, since: float, until: float) -> None:
        """The first bucket: filled on one lane, summed on the other."""
        story, first = self.story, self.story.wire(0)
        axis = Axis(
            *self.at.axis,
            story.forward,
            first.start + 1.08 * max(first.end - first.start, 0.3 * (first.start - story.forward)),
        )
        cells, at = [], 0
        while (start := story.forward + story.buckets.filling(at).start) < axis.end and at < story.buckets.k:
            end = min(story.forward + story.buckets.filling(at).end, axis.end)
            cells.append(Cell(start, end, f"fills bucket {at + 1}", "b", "backward: its gradients fill this bucket"))
            at += 1
        self._pair("close", axis, cells, [Span(first.start, first.end)], since, until)

    def _pair(self, key: str, axis: Axis, cells: list[Cell], busy: Sequence[Span], since: float, until: float) -> None:
        picture, at = self.picture, self.at
        y, z = at.under, at.under + at.lane + GAP
        with picture.actor(f"lanes-{key}", "words", faded(Way(0, 0, here=since <= 0), self.lens, since, until)):
            for words, top in (("compute", y), ("wires", z)):
                picture.text(0, top + at.lane / 2 + 6, words, at.side, ink="ink")
            lane(picture, axis, y, cells, at.lane)
            picture.cells([(axis.left, z, axis.right - axis.left, at.lane)], ink="ghost")
        written(picture, f"compute-{key}", axis, y, cells, self.lens, until, at.lane, since)
        wires(picture, f"wires-{key}", axis, z, busy, self.story, since, until, at.lane)
        with picture.actor(f"names-{key}", "words", faded(Way(0, 0, here=since <= 0), self.lens, since, until)):
            named(picture, axis, y, cells, at.lane)
        playhead(picture, f"now-{key}", axis, y - 5, z + at.lane + 5, self.lens, since, until)

    def _words(self) -> None:
        picture, story, at = self.picture, self.story, self.at
        first, second = at.words
        steps = running(self.lens.length, story.doing)
        picture.runs("doing", 0 if picture.is_wide else 4, first, steps, "caption" if picture.is_wide else "read")

        def sent(t: float) -> str:
            if self.lens(t) < story.forward or t >= story.change[0][0]:
                return ""
            return f"each sent {bytes_text(story.sent(t))}"

        right = at.axis[1]
        picture.runs("sent", right, first if picture.is_wide else second, running(self.lens.length, sent), anchor="end")
        gpus = self.case.gpus
        alike = "all GPUs drawn" if gpus == DRAWN else f"{DRAWN} of {count_text(gpus)} GPUs drawn"
        if picture.is_wide and gpus > DRAWN:
            alike += f", {count_text(self.case.hops.value)} hops as {LAPS * HOPS}"
        shown = faded(Way(0 if picture.is_wide else 4, second), self.lens, 0.0, story.change[0][0])
        with picture.actor("drawn", "words", shown):
            picture.text(0, 0, alike, "remark" if picture.is_wide else "small")
