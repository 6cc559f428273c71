"""The ZeRO film's second act: one step of FSDP. Slices fly in, a layer computes, what was borrowed is let go."""

import itertools
from collections.abc import Iterator

from app.board.film.composition import Composition, running
from app.board.film.lens import plain
from app.board.film.pieces import (
    LETTERS,
    Axis,
    Cell,
    badge,
    coin,
    faded,
    lane,
    level,
    named,
    playhead,
    sweep,
    tile,
    written,
)
from app.board.film.ring import DRAWN, ring
from app.board.film.track import Way
from app.board.film.wire import Wire
from app.board.scenes.zero.story import LAYERS, Story, Turn
from engine.language.units import count_text, within_text
from engine.lens.sharded import Span, borrowed_layers

HOPS = DRAWN - 1


class Step:
    """Four GPUs, their layers, a ring, lanes of time and a meter of memory."""

    def __init__(self, picture: Composition, story: Story):
        self.picture, self.story, self.case = picture, story, story.case
        self.at, self.lens = ring(picture), story.lens
        self.since, self.until = story.step_begins, story.change[0][0]

    def draw(self) -> None:
        self._frame()
        for layer in range(LAYERS):
            for gpu in range(DRAWN):
                self._layer(gpu, layer)
        for layer in range(LAYERS):
            for owner in range(DRAWN):
                self._coins(layer, owner)
        self._lanes()
        self._meter()

    def _act(self, way: Way) -> Way:
        return faded(way, self.lens, self.since, self.until)

    def _frame(self) -> None:
        picture, at = self.picture, self.at
        with picture.actor("ring", "wire", self._act(Way(0, 0, here=False))):
            for layer in range(LAYERS):
                for gpu in range(DRAWN):
                    for start, end in self._drawn(gpu, layer):
                        picture.line(*start, *end, ink="rule", stroke="thin", key=f"ring-{gpu}-{layer}")
        for gpu, (x, y) in enumerate(at.boxes):
            with picture.actor(f"gpu-{gpu}", "gpu", self._act(Way(x, y, here=False))):
                picture.rectangle(0, 0, at.width, at.tall, key=f"gpu-{gpu}")
                badge(picture, 14, -15, gpu, f"GPU {LETTERS[gpu]}")
        if picture.is_wide:
            with picture.actor("rows", "words", self._act(Way(0, 0, here=False))):
                for layer in range(LAYERS):
                    picture.text(0, at.seat(0, layer, 0)[1] + 18, f"L{layer + 1}", "read")
        rest = self.case.gpus
        note = f"{DRAWN} of {count_text(rest)} GPUs drawn, {count_text(rest - 1)} hops as {HOPS}"
        with picture.actor(
            "drawn",
            "words",
            self._act(Way(0 if picture.is_wide else 4, self.at.strip + 76 if picture.is_wide else 18, here=False)),
        ):
            if picture.is_wide:
                picture.text(0, 0, note if rest > DRAWN else "all GPUs drawn", "remark")

    def _drawn(self, gpu: int, layer: int) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
        """The parts of a row's wire beyond the slots, so that what rides is always on a drawn line."""
        corners = self.at.hop(gpu, layer, 0)[1:-1]
        last = self.at.hop(gpu, layer, DRAWN - 1)[1:-1]
        path = (corners[0], *corners[1:-1], last[-1]) if gpu != DRAWN - 1 or not self.picture.is_wide else corners
        yield from itertools.pairwise(path)

    def _layer(self, gpu: int, layer: int) -> None:
        """A layer's row on one GPU: the room for it, its own slice, and those that are borrowed."""
        picture, at = self.picture, self.at
        x, y = at.seat(gpu, layer, 0)
        with picture.actor(
            f"room-{gpu}-{layer}",
            "room",
            self._act(Way(x, y, here=False)),
            why="the other slices live on the other GPUs",
        ):
            picture.rectangle(0, 0, at.slot * DRAWN, at.row, ink="ghost", stroke="dashed", key=f"room-{layer}")
        ahead, back = self.story.forward[layer], self.story.backward[LAYERS - 1 - layer]
        for owner in range(DRAWN):
            key, (sx, sy) = f"{gpu}-{layer}-{owner}", at.seat(gpu, layer, owner)
            if owner == gpu:
                with picture.actor(
                    f"own-{key}", "slice", self._act(Way(sx, sy, here=False)), why="its own slice: it stays"
                ):
                    tile(picture, at.slot, at.row, owner, f"slot-{owner}")
                continue
            way = Way(sx, sy, here=False)
            hop = (gpu - owner) % DRAWN
            for turn in (ahead, back):
                arrived = turn.gather.start + (turn.gather.end - turn.gather.start) * hop / HOPS
                way.show(self.lens.ends(arrived), 0.0).hide(self.lens.ends(turn.compute.end), 0.3)
            with picture.actor(f"seat-{key}", "borrowed", way, why="borrowed for as long as this layer computes"):
                tile(picture, at.slot, at.row, owner, f"slot-{owner}")
        sweep(
            picture,
            f"sweep-{gpu}-{layer}",
            x,
            y,
            at.slot * DRAWN,
            at.row,
            [(t.compute.start, t.compute.end) for t in (ahead, back)],
            self.lens,
        )
        self._gradients(gpu, layer, back)

    def _gradients(self, gpu: int, layer: int, turn: Turn) -> None:
        """Gradients of a layer: whole once it has computed, sent home slice by slice, stepped at the end."""
        if not turn.scatter:
            return
        picture, at = self.picture, self.at
        for owner in range(DRAWN):
            x, y = at.seat(gpu, layer, owner)
            way = Way(x, y + at.row / 2, here=False).show(self.lens.ends(turn.compute.end))
            hop = (owner - gpu - 1) % DRAWN  # a slice on its owner's right neighbour starts its way home first
            if owner != gpu:
                way.hide(self.lens.begins(_part(turn.scatter, HOPS - 1 - hop)[0]), 0.0)
            else:
                start, end = self.story.own[0][0], self.story.own[-1][0]
                way.go(plain(start + 0.2 * layer, start + 0.2 * layer + 0.8), x, y).hide(end - 0.2, 0.2)
            with picture.actor(
                f"gradient-{gpu}-{layer}-{owner}",
                "gradient",
                way,
                why="gradients of this layer, on their way to their owner",
            ):
                tile(picture, at.slot, at.row / 2, owner, f"slot-{owner}", "hatched", letter=False)

    def _coins(self, layer: int, owner: int) -> None:
        """A slice on the ring: hop by hop away from its owner, and its gradients hop by hop home."""
        ahead, back = self.story.forward[layer], self.story.backward[LAYERS - 1 - layer]
        sent = self.case.layer_bytes.value / DRAWN
        for hop in range(HOPS):
            gpu = (owner + hop) % DRAWN
            wire = self._wire(gpu, layer, owner)
            coin(
                self.picture,
                f"coin-{layer}-{owner}-{hop}",
                owner,
                [(*_part(turn.gather, hop), wire, sent) for turn in (ahead, back)],
                self.lens,
            )
            if back.scatter:
                gpu = (owner + 1 + hop) % DRAWN
                wire = self._wire(gpu, layer, owner)
                coin(
                    self.picture,
                    f"sum-{layer}-{owner}-{hop}",
                    owner,
                    [(*_part(back.scatter, hop), wire, sent)],
                    self.lens,
                    "hatched",
                )

    def _wire(self, gpu: int, layer: int, owner: int) -> Wire:
        return Wire(f"{gpu}-{layer}-{owner}", self.at.hop(gpu, layer, owner))

    def _lanes(self) -> None:
        story, half = self.story, self.story.forward[-1].compute.end
        back = story.lens.begins(half)
        for name, turns, start, end, since, until in (
            ("forward", story.forward, 0.0, half, self.since, back),
            ("backward", story.backward, half, story.backward_ends, back + 0.3, self.until),
        ):
            axis = Axis(*self.at.lanes, start, end)
            compute, wires = _cells(turns, "f" if name == "forward" else "b")
            y, z = self.at.under, self.at.under + 30
            with self.picture.actor(f"lanes-{name}", "words", faded(Way(0, 0, here=False), self.lens, since, until)):
                for words, top, cells in (("compute", y, compute), ("wires", z, wires)):
                    self.picture.text(0, top + 18, words, "remark", ink="ink")
                    lane(self.picture, axis, top, cells)
            written(self.picture, f"compute-{name}", axis, y, compute, self.lens, until)
            written(self.picture, f"wires-{name}", axis, z, wires, self.lens, until)
            with self.picture.actor(f"names-{name}", "words", faded(Way(0, 0, here=False), self.lens, since, until)):
                named(self.picture, axis, y, compute)
                named(self.picture, axis, z, wires)
            playhead(self.picture, f"now-{name}", axis, y - 8, z + 30, self.lens, since, until)

    def _meter(self) -> None:
        """One GPU's memory: its slices, and room for what is borrowed."""
        picture, case, at = self.picture, self.case, self.at
        left, right = at.lanes[0], at.lanes[1] - (170 if picture.is_wide else 0)
        slices = case.states[3].value
        most = max(1.05 * case.capacity, slices + case.window.value + 2 * case.layer_bytes.value)
        scale = (right - left) / most
        with picture.actor("meter", "words", self._act(Way(0, at.strip, here=False))):
            picture.text(0, 19, "holds", "remark", ink="ink")
            picture.rectangle(left, 0, right - left, 26, ink="rule", key="meter")
            picture.cells([(left, 0, slices * scale, 26)], fill="weights", ink="ink")
            x = left + case.capacity * scale
            picture.line(x, -5, x, 32, ink="good" if slices <= case.capacity else "bad", stroke="thick", key="capacity")
        changes = [(e, held * scale) for e, held in self.borrowed()]
        with picture.actor(
            "borrowed",
            "strip",
            self._act_level(level(self.lens, changes, left + slices * scale, at.strip)),
            why="room for whole layers and whole gradients",
        ):
            picture.cells([(0, 0, 1, 26)], fill="dp-pale")
        picture.runs(
            "holds",
            at.lanes[1],
            at.strip + 19 if picture.is_wide else at.strip + 46,
            running(
                self.lens.length,
                lambda t: (
                    within_text(slices + self.held(self.lens(t)), case.capacity)
                    if self.since <= t <= self.until
                    else ""
                ),
            ),
            anchor="end",
        )

    def _act_level(self, way: Way) -> Way:
        return way.hide(self.until, 0.3)

    def held(self, e: float) -> float:
        """What a GPU holds beside its slices at a moment of the step.   [bytes]"""
        story, half = self.story, self.story.forward[-1].compute.end
        if e >= story.backward_ends:
            return 0.0
        turns, now = (self.case.forward_pass, e) if e < half else (self.case.backward_pass, e - half)
        return sum(borrowed_layers(turns, now)) * self.case.layer_bytes.value

    def borrowed(self) -> list[tuple[float, float]]:
        """The same from each moment on at which it changes."""
        spans = [
            s
            for turn in (*self.story.forward, *self.story.backward)
            for s in (turn.gather, turn.compute, turn.scatter)
            if s
        ]
        moments = sorted({0.0, *(s.start for s in spans), *(s.end for s in spans)})
        return [(e, self.held(e)) for e in moments]


def _part(span: Span, hop: int) -> tuple[float, float]:
    """When one of the drawn hops begins and ends: the time of all hops, dealt evenly."""
    each = (span.end - span.start) / HOPS
    return span.start + hop * each, span.start + (hop + 1) * each


def _cells(turns: tuple[Turn, ...], fill: str) -> tuple[list[Cell], list[Cell]]:
    """What the compute lane and the wires do in a pass."""
    compute = [
        Cell(t.compute.start, t.compute.end, f"L{t.layer + 1}", fill, "the whole layer is here: it computes")
        for t in turns
    ]
    wires = [
        Cell(t.gather.start, t.gather.end, f"L{t.layer + 1}", "dp-pale", "its slices are passed round") for t in turns
    ]
    wires += [
        Cell(t.scatter.start, t.scatter.end, "", "dp", "its gradients go to their owners") for t in turns if t.scatter
    ]
    return compute, wires
