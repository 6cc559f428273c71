"""The ZeRO film's first act: the training state spills out of its box, and is cut until it fits."""

import itertools

from app.board.film.composition import Composition, running
from app.board.film.lens import Span, plain
from app.board.film.pieces import badge, faded, tile
from app.board.film.ring import DRAWN, ring
from app.board.film.track import Way
from app.board.scenes.zero.story import FIELDS, Story
from engine.language.units import bytes_text, count_text
from engine.memory.state import held_bytes

FLOOR = 3.0  # a slice thinner than this is drawn as thick as this, and said to be
CUT, LIT, FADED, HOME = 0.3, 0.3, 0.9, 0.8  # of a passage, in seconds: 2.2 in all, for the slide begins early


class State:
    """Rows of weights, gradients and optimizer state beside their boxes; x stands for bytes."""

    def __init__(self, picture: Composition, story: Story):
        self.picture, self.story, self.case = picture, story, story.case
        self.left, self.right = (64.0, 700.0) if picture.is_wide else (38.0, 350.0)
        self.top, self.pitch, self.tall = (104.0, 62.0, 44.0) if picture.is_wide else (120.0, 76.0, 48.0)
        most = max(self.case.states[0].value, 1.05 * self.case.capacity)
        self.scale = (self.right - self.left) / most
        self.ends = story.state_ends if story.camera else story.lens.length + 1

    def draw(self) -> None:
        for gpu in range(DRAWN):
            self._row(gpu)
        self._words()
        for gpu in range(DRAWN):
            self._box(gpu)

    def _row(self, gpu: int) -> None:
        y, x = self.top + gpu * self.pitch, self.left
        paces = self._paces()
        for (name, size), pour, zero in zip(FIELDS, paces, (3, 2, 1), strict=True):
            whole = held_bytes(size, self.case.parameters, 1) * self.scale
            self._field(gpu, name, x, y, whole, pour, self.story.cuts[zero - 1])
            self._slice(gpu, name, x, y, whole, zero)
            x += whole

    def _paces(self) -> list[Span]:
        """When each of the fields pours in: one pace, so that a pixel is as many bytes everywhere."""
        (start, _), (end, _) = self.story.pour
        all_bytes, moments = sum(size for _, size in FIELDS), [start]
        for _, size in FIELDS:
            moments.append(moments[-1] + (end - start) * size / all_bytes)
        return [plain(a, b) for a, b in itertools.pairwise(moments)]

    def _field(self, gpu: int, name: str, x: float, y: float, whole: float, pour: Span, cut: Span) -> None:
        """All of a field: it pours in, and is faded out when it is cut."""
        begin = cut[0][0] + CUT + LIT
        way = Way(x, y, here=False, shown=0).show(max(pour[0][0], 0.0), 0.0).uncover(pour)
        way.hide(begin, FADED)
        why = f"{name} of all parameters, whole, on every GPU alike"
        with self.picture.actor(f"{name}-{gpu}", name, way, window=(whole + 2, self.tall + 4), why=why):
            self.picture.rectangle(1, 1, whole - 1, self.tall, fill=name, key=f"{name}-{gpu}")
        ghost = faded(Way(x, y, here=False).show(begin + FADED, FADED / 2), self.story.lens, 0.0, self.ends)
        with self.picture.actor(
            f"ghost-{name}-{gpu}", "ghost", ghost, why=f"room that {name} took before they were cut"
        ):
            self.picture.rectangle(1, 4, whole - 1, self.tall - 8, ink="ghost", stroke="dashed", key=f"ghost-{name}")

    def _slice(self, gpu: int, name: str, x: float, y: float, whole: float, zero: int) -> None:
        """What a GPU keeps of a field: lit where it was, then it slides home."""
        start = self.story.cuts[zero - 1][0][0]
        width = max(FLOOR, whole / self.case.gpus)
        own = x + gpu * max(FLOOR, whole / DRAWN if self.case.gpus == DRAWN else whole / self.case.gpus)
        way = Way(own, y, here=False).show(start + CUT + LIT, LIT)
        way.go(plain(start + CUT + LIT + FADED - 0.2, start + CUT + LIT + FADED - 0.2 + HOME), self._home(gpu, zero), y)
        later = [self._home(gpu, zero, after) for after in range(zero, 3)]
        for after, home in zip(range(zero, 3), later, strict=True):
            begin = self.story.cuts[after][0][0] + CUT + LIT + FADED - 0.2
            way.go(plain(begin, begin + HOME), home, y)
        x = self._home(gpu, zero, 2)
        self._off(way, gpu, x - self.left, 6)
        over = {"gradients": "hatched", "optimizer": "dotted", "weights": ""}[name]
        with self.picture.actor(
            f"slice-{name}-{gpu}", "slice", way, why=f"its own slice of the {name}, one of {self.case.gpus}"
        ):
            tile(self.picture, width, self.tall, gpu, f"slice-{gpu}", over, letter=width > 18)

    def _home(self, gpu: int, zero: int, after: int | None = None) -> float:
        """Where a slice lies once ZeRO has cut so far: behind what is still whole, in the order of the fields."""
        stage = zero if after is None else after + 1
        x = self.left
        for at, (_, size) in enumerate(FIELDS):
            cut_at = 3 - at
            if cut_at == zero:
                return x
            held = held_bytes(size, self.case.parameters, self.case.gpus if cut_at <= stage else 1) * self.scale
            x += max(FLOOR, held) if cut_at <= stage else held
        return x

    def _box(self, gpu: int) -> None:
        """One GPU's memory, in the scale of the bytes. At the end of the act it goes to where the GPU will stand."""
        picture, y = self.picture, self.top + gpu * self.pitch
        width = self.case.capacity * self.scale
        way = self._off(Way(self.left, y - 6), gpu)
        with picture.actor(f"box-{gpu}", "box", way, why=f"the memory of one H100: {bytes_text(self.case.capacity)}"):
            picture.rectangle(0, 0, width, self.tall + 12, stroke="thick", key=f"box-{gpu}")

    def _off(self, way: Way, gpu: int, dx: float = 0.0, dy: float = 0.0) -> Way:
        """Out of the act: a box and what lies in it fly together to where the GPU will stand."""
        if not self.story.camera:
            return way
        x, y = ring(self.picture).boxes[gpu]
        (start, _), (end, _) = self.story.camera
        return way.go(plain(start, start + 0.9), x + dx, y + dy).hide(end - 0.4, 0.3)

    def _words(self) -> None:
        picture, case, lens = self.picture, self.case, self.story.lens
        for gpu in range(DRAWN):
            with picture.actor(f"owner-{gpu}", "badge", self._until(Way(0, self.top + gpu * self.pitch))):
                badge(picture, 20, self.tall / 2, gpu)
        capacity = f"one GPU: {bytes_text(case.capacity)}"
        with picture.actor("capacity", "words", self._until(Way(self.left, self.top - 14))):
            picture.text(0, 0, capacity, "caption")
        rest = case.gpus - DRAWN
        with picture.actor("more", "words", self._until(Way(self.left, self.top + DRAWN * self.pitch + 14))):
            picture.text(0, 0, f"… and {count_text(rest)} more, all alike" if rest else "all GPUs drawn", "remark")
        picture.runs(
            "state",
            self.right,
            44,
            running(lens.length, lambda t: bytes_text(self.held(t)) if 0 < t <= self.ends else ""),
            "answer",
            anchor="end",
        )
        self._fits()

    def _until(self, way: Way) -> Way:
        return faded(way, self.story.lens, 0.0, self.ends)

    def held(self, t: float) -> float:
        """State of one GPU that the picture shows.   [bytes]"""
        case, paces, held = self.case, self._paces(), 0.0
        for (_, size), pour, zero in zip(FIELDS, paces, (3, 2, 1), strict=True):
            whole, cut = held_bytes(size, case.parameters, 1), held_bytes(size, case.parameters, case.gpus)
            begin = self.story.cuts[zero - 1][0][0] + CUT + LIT
            held += whole * _share(t, *(at for at, _ in pour)) - (whole - cut) * _share(t, begin, begin + FADED)
        return held

    def _fits(self) -> None:
        """A tick on each box at the end, where it does fit."""
        case = self.case
        last = self.story.cuts[-1][-1][0]
        fits = case.states[3].value <= case.capacity
        for gpu in range(DRAWN):
            x = self.left + case.capacity * self.scale + 18
            way = faded(
                Way(x, self.top + gpu * self.pitch + self.tall / 2 + 8, here=False).show(last),
                self.story.lens,
                0.0,
                self.ends,
            )
            with self.picture.actor(f"fits-{gpu}", "verdict", way):
                if fits:
                    self.picture.tick(0, 0, 18, key=f"fits-{gpu}")
                else:
                    self.picture.cross(0, -6, 18, key=f"fits-{gpu}")


def _share(t: float, start: float, end: float) -> float:
    return min(max((t - start) / (end - start), 0.0), 1.0)
