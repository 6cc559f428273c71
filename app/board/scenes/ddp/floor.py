"""The DDP film's GPUs: data, layers of weights with their gradients, and the buckets that leave them."""

from itertools import pairwise

from app.board.film.composition import Composition, running
from app.board.film.lens import Span, plain
from app.board.film.pieces import LETTERS, Axis, Cell, badge, coin, lane, named, playhead, written
from app.board.film.ring import DRAWN, ring
from app.board.film.track import Way
from app.board.film.wire import Wire
from app.board.scenes.ddp.story import HOPS, LAYERS, Story
from app.board.svg import OWNERS
from engine.language.units import bytes_text, count_text, seconds_text

KEPT = 0.58  # of a row's width: weights; the rest is for its gradients
MIDDLE = (DRAWN - 1) / 2  # slot in the middle of a row


class Floor:
    """Four GPUs with their layers, a ring between them, and two lanes of time below."""

    def __init__(self, picture: Composition, story: Story):
        self.picture, self.story, self.case = picture, story, story.case
        self.at, self.lens = ring(picture), story.lens
        self.goes, self.comes = story.zoom, story.back
        self.ends = story.turn[0][0]

    def row(self, layer: int) -> int:
        """The first layer is the lowest."""
        return LAYERS - 1 - layer

    def draw(self) -> None:
        self._frame()
        for gpu in range(DRAWN):
            self._data(gpu)
            for layer in range(LAYERS):
                self._layer(gpu, layer)
        for layer in range(LAYERS - 1):
            self._bucket(layer)
        self._lanes()
        self._sent()

    def _twice(self, way: Way) -> Way:
        """There before the bucket is looked into, and after."""
        way.hide(self.goes[0][0], 0.5).show(self.comes[-1][0], 0.5)
        return way.hide(self.ends, 0.3)

    def _frame(self) -> None:
        picture, at = self.picture, self.at
        with picture.actor(
            "ring", "wire", Way(0, 0).hide(self.ends, 0.3), why="the ring: each GPU sends to the next one only"
        ):
            for row in range(LAYERS):
                for gpu in range(DRAWN):
                    corners = at.hop(gpu, row, MIDDLE)[1:-1]
                    for start, end in pairwise(corners):
                        picture.line(*start, *end, ink="rule", stroke="thin", key=f"ring-{gpu}-{row}")
        for gpu, (x, y) in enumerate(at.boxes):
            with picture.actor(f"gpu-{gpu}", "gpu", Way(x, y).hide(self.ends, 0.3)):
                picture.rectangle(0, 0, at.width, at.tall, key=f"gpu-{gpu}")
                badge(picture, 14, -15, gpu, f"GPU {LETTERS[gpu]}")
        gpus = self.case.gpus
        note = (
            f"{DRAWN} of {count_text(gpus)} GPUs drawn, {count_text(2 * (gpus - 1))} hops as {HOPS}"
            if gpus > DRAWN
            else "all GPUs drawn"
        )
        if picture.is_wide:
            with picture.actor("drawn", "words", Way(0, at.strip + 66).hide(self.ends, 0.3)):
                picture.text(0, 0, note, "remark")

    def _data(self, gpu: int) -> None:
        """A slice of data falls into its GPU."""
        (start, _), (end, _) = self.story.deal
        x, y = self.at.boxes[gpu]
        from_x, to_x = x + self.at.width - 46, x + self.at.width - 46
        begin = start + 0.15 * gpu
        way = Way(from_x, y - 60 if self.picture.is_wide else y - 40, here=False).show(begin + 0.2, 0.2)
        way.go(plain(begin + 0.2, min(end, begin + 1.2)), to_x, y - 24)
        with self.picture.actor(
            f"data-{gpu}", "data", way.hide(self.ends, 0.3), why="its own slice of the data, other than everybody's"
        ):
            self.picture.rectangle(0, 0, 42, 18, fill="activations", radius=7, key=f"data-{gpu}")

    def _layer(self, gpu: int, layer: int) -> None:
        picture, at, story = self.picture, self.at, self.story
        x, y = at.seat(gpu, self.row(layer), 0)
        width = at.slot * DRAWN
        with picture.actor(
            f"weights-{gpu}-{layer}", "weights", self._twice(Way(x, y)), why="weights: the same on every GPU"
        ):
            picture.rectangle(0, 0, width * KEPT, at.row, fill="weights", key=f"weights-{layer}")
        self._work(gpu, layer, x, y, width * KEPT)
        self._gradients(gpu, layer, x + width * KEPT, y, width * (1 - KEPT))
        (start, _), (end, _) = story.step
        begin = start + 0.25 * layer
        step = (
            Way(x, y, here=False, wide=0).show(begin, 0.0).grow(plain(begin, begin + 0.6), wide=1).hide(end - 0.1, 0.3)
        )
        with picture.actor(f"step-{gpu}-{layer}", "optimizer", step, why="the optimizer: the same step on every GPU"):
            picture.cells([(0, 0, width * KEPT, at.row)], fill="w", ink="rule")

    def _work(self, gpu: int, layer: int, x: float, y: float, width: float) -> None:
        """A shade crosses a layer while it computes: forward, then backward."""
        way = Way(x, y, here=False, wide=0)
        for busy in (self.story.forward(layer), self.story.backward(layer)):
            span = self.lens.span(busy.start, busy.end)
            way.grow(((span[0][0], 0.0), (span[0][0], 1.0)), wide=0).grow(span, wide=1)
            self._seen(way, span)
        with self.picture.actor(f"sweep-{gpu}-{layer}", "sweep", way, why="this layer computes"):
            self.picture.cells([(0, 0, width, self.at.row)], fill="sweep", ink="rule")

    def _seen(self, way: Way, span: Span) -> None:
        """There for a span, as far as the floor is in view then."""
        start, end = span[0][0], span[-1][0]
        goes, comes = self.goes[0][0], self.comes[-1][0]
        for since, until in ((start, min(end, goes)), (max(start, comes), end)):
            if until > since:
                way.show(since, 0.0).hide(until, 0.1)

    def _gradients(self, gpu: int, layer: int, x: float, y: float, width: float) -> None:
        """Its own gradients grow as backward goes; once summed they are everybody's."""
        picture, story, tall = self.picture, self.story, self.at.row
        busy, summed = story.backward(layer), self.lens.ends(story.sums[layer].end)
        span = self.lens.span(busy.start, busy.end)
        own = Way(x, y, here=False, shown=0).uncover(span)
        self._seen(own, ((span[0][0], 0.0), (max(summed, span[-1][0]), 1.0)))
        with picture.actor(
            f"gradient-{gpu}-{layer}",
            "gradient",
            own,
            window=(width, tall + 2),
            why="gradients of this layer, from its own data",
        ):
            picture.path(_box(width - 2, tall), fill=OWNERS[gpu], stroke="thin")
            picture.path(_box(width - 2, tall), fill="hatched", ink="")
        start = self.story.step[0][0]
        both = Way(x, y, here=False).show(max(summed, self.comes[-1][0]), 0.15).hide(start + 0.25 * layer + 0.4, 0.3)
        with picture.actor(
            f"summed-{gpu}-{layer}", "summed", both, why="the sum of all GPUs' gradients: the same everywhere"
        ):
            for owner in range(DRAWN):
                picture.cells([((width - 2) / DRAWN * owner, 0, (width - 2) / DRAWN, tall)], fill=OWNERS[owner])
            picture.path(_box(width - 2, tall), fill="hatched", ink="")

    def _bucket(self, layer: int) -> None:
        """A later bucket on the ring: four coins, hop by hop, as far as the floor is in view."""
        busy, sent = self.story.sums[layer], self.case.gradients.value / LAYERS / DRAWN
        view = self.story.lens(self.comes[-1][0]) if self.comes[-1][0] > 0 else 0.0
        for owner in range(DRAWN):
            rides = []
            for hop in range(HOPS):
                start, end = busy.part(hop, HOPS)
                gpu = (owner + hop) % DRAWN
                wire = Wire(f"{gpu}-{layer}", self.at.hop(gpu, self.row(layer), MIDDLE))
                if start >= view:
                    rides.append((start, end, wire, sent))
            if rides:
                coin(self.picture, f"bucket-{layer}-{owner}", owner, rides, self.lens, "hatched")

    def _lanes(self) -> None:
        story, at = self.story, self.at
        axis = Axis(*at.lanes, 0.0, max(story.step_ends, story.sums[0].end))
        compute = [
            Cell(b.start, b.end, f"L{layer + 1}", "f", "forward")
            for layer, b in enumerate(map(story.forward, range(LAYERS)))
        ]
        compute += [
            Cell(b.start, b.end, f"L{layer + 1}", "b", "backward")
            for layer, b in ((k, story.backward(k)) for k in reversed(range(LAYERS)))
        ]
        wires = [Cell(b.start, b.end, "", "dp", "a bucket on its way round the ring") for b in reversed(story.sums)]
        y, z = at.under, at.under + 30
        for words, top, cells in (("compute", y, compute), ("wires", z, wires)):
            with self.picture.actor(f"lane-{words}", "words", Way(0, 0).hide(self.ends, 0.3)):
                self.picture.text(0, top + 18, words, "remark", ink="ink")
                lane(self.picture, axis, top, cells)
            written(self.picture, words, axis, top, cells, self.lens, self.ends)
        with self.picture.actor("lane-names", "words", Way(0, 0).hide(self.ends, 0.3)):
            named(self.picture, axis, y, compute)
        playhead(self.picture, "now", axis, y - 8, z + 30, self.lens, 0.0, self.ends)

    def _sent(self) -> None:
        """What each GPU has sent so far: it runs only while bytes do."""
        story, whole = self.story, self.case.sent.value

        def words(t: float) -> str:
            if not 0 < t <= self.ends:
                return ""
            e = self.lens(t)
            done = sum(min(max((e - b.start) / (b.end - b.start), 0.0), 1.0) for b in story.sums) / LAYERS
            return f"{bytes_text(whole * done)} sent by each"

        below = 18 if self.picture.is_wide else 42
        self.picture.runs(
            "sent", self.at.lanes[1], self.at.strip + below, running(self.lens.length, words), anchor="end"
        )
        with self.picture.actor("step-time", "words", Way(self.at.lanes[0], self.at.strip + 18).hide(self.ends, 0.3)):
            self.picture.text(0, 0, f"step {seconds_text(story.step_ends)}", "number")


def _box(width: float, tall: float) -> str:
    return f"M{0} {0}h{width:.1f}v{tall:.1f}h{-width:.1f}z"
