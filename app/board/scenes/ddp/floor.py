"""The DDP film's GPUs: a stack of layers each, the data that climb it and come down again, and the gradients they leave."""

from itertools import pairwise

from app.board.film.composition import Composition
from app.board.film.lens import Lens, Span
from app.board.film.pieces import LETTERS, badge, faded, sweep
from app.board.film.ring import DRAWN
from app.board.film.track import BLINK, Way
from app.board.scenes.ddp.case import LAYERS
from app.board.scenes.ddp.places import PAD, places
from app.board.scenes.ddp.story import Story
from app.board.svg import OWNERS

RADIUS = 9.0  # of the data on their way


class Floor:
    """Four GPUs with equal weights."""

    def __init__(self, picture: Composition, story: Story):
        self.picture, self.story = picture, story
        self.at, self.lens, self.until = places(picture), story.lens, story.change[0][0]

    def draw(self) -> None:
        for gpu in range(DRAWN):
            self._gpu(gpu)
            for layer in range(LAYERS):
                self._layer(gpu, layer)
                self._gradients(gpu, layer)
                self._name(gpu, layer)
            self._data(gpu)
            self._equal(gpu)

    def _act(self, way: Way) -> Way:
        return faded(way, self.lens, 0.0, self.until)

    def _gpu(self, gpu: int) -> None:
        picture, at = self.picture, self.at
        with picture.actor(f"gpu-{gpu}", "gpu", self._act(Way(*at.boxes[gpu]))):
            picture.rectangle(0, 0, at.width, at.tall, key=f"gpu-{gpu}")
            badge(picture, 14, -15, gpu, f"GPU {LETTERS[gpu]}")
        top, pitch, _ = at.bucket
        with picture.actor(f"bucket-{gpu}", "tray", self._act(Way(*at.boxes[gpu])), why="a bucket of gradients"):
            left, right, bottom = PAD - 6, at.width - PAD + 6, top + DRAWN * pitch
            tray = ((left, top - 5), (left + 3, bottom), (right - 3, bottom), (right, top - 5))
            picture.polyline(tray, ink="soft", key="bucket")
        empty = self._empty(Way(at.boxes[gpu][0] + at.width / 2, at.seat(gpu, 1)[1] + at.bucket[2] / 2 + 5))
        with picture.actor(f"empty-{gpu}", "words", empty):
            picture.text(0, 0, "bucket", "remark", anchor="middle")

    def _empty(self, way: Way) -> Way:
        return way.hide(self.story.fill[0] - 3 * BLINK, 3 * BLINK)

    def _layer(self, gpu: int, layer: int) -> None:
        """A layer's weights: the same on all GPUs, swept while they compute and when they take the step."""
        picture, at, story = self.picture, self.at, self.story
        x, y = at.layer(gpu, layer)
        height = at.stack[2]
        why = "weights of this layer, the same on every GPU"
        with picture.actor(f"weights-{gpu}-{layer}", "weights", self._act(Way(x, y)), why=why):
            picture.rectangle(0, 0, at.stacked, height, fill="weights", key=f"weights-{layer}")
        spans = [self._forward(layer), self._backward(layer)]
        sweep(picture, f"sweep-{gpu}-{layer}", x, y, at.stacked, height, spans, self.lens)
        start, end = story.own[0][0], story.own[-1][0] - 0.5
        way = Way(x, y, here=False, wide=0).show(start, 0.0).grow(((start, 0.0), (end, 1.0)), wide=1).hide(end, 0.4)
        with picture.actor(f"step-{gpu}-{layer}", "step", way, why="the optimizer step: the same sum, the same change"):
            picture.cells([(0, 0, at.stacked, height)], fill="sweep", ink="rule")

    def _name(self, gpu: int, layer: int) -> None:
        x, y = self.at.layer(gpu, layer)
        with self.picture.actor(f"name-{gpu}-{layer}", "words", self._act(Way(x, y + self.at.stack[2] / 2 + 5))):
            self.picture.text(-4, 0, f"L{layer + 1}", self.at.read, anchor="end")

    def _forward(self, layer: int) -> tuple[float, float]:
        each = self.story.forward / LAYERS
        return layer * each, (layer + 1) * each

    def _backward(self, layer: int) -> tuple[float, float]:
        each, turn = (self.story.backward_ends - self.story.forward) / LAYERS, LAYERS - 1 - layer
        return self.story.forward + turn * each, self.story.forward + (turn + 1) * each

    # gradients

    def _gradients(self, gpu: int, layer: int) -> None:
        """Its own ones appear while backward is in this layer; the sum of all covers them as buckets come back."""
        picture, story = self.picture, self.story
        x, y, width, height = self.at.strip(gpu, layer)
        gone = story.own[-1][0] - 0.6
        for kind, key, span, why in (
            ("gradient", "own", self.lens.span(*self._backward(layer)), "gradients of this GPU's own data"),
            ("sum", "sum", self._summed(layer), "summed: the gradients of all data, here as on every GPU"),
        ):
            way = Way(x, y, here=False, shown=0).show(span[0][0], 0.0).uncover(span).hide(gone, 0.4)
            with picture.actor(f"{key}-{gpu}-{layer}", kind, way, window=(width, height), why=why):
                if kind == "gradient":
                    picture.cells([(0, 0, width, height)], fill=OWNERS[gpu], ink="")
                    picture.cells([(0, 0, width, height)], fill="hatched")
                else:
                    band = height / DRAWN
                    for owner in range(DRAWN):
                        picture.cells([(0, owner * band, width, band)], fill=OWNERS[owner], ink="")
                    picture.cells([(0, 0, width, height)])

    def _summed(self, layer: int) -> Span:
        """While the sums of a layer come in: its share of all buckets, last layer first."""
        buckets, turn = self.story.buckets, LAYERS - 1 - layer
        first, last = (buckets.k * at / LAYERS for at in (turn, turn + 1))
        moments = [(self.story.forward + e, done) for e, done in _between(self.story, first, last)]
        return progress(self.lens, moments)

    # data

    def _data(self, gpu: int) -> None:
        """A slice of the data falls in, climbs the layers, and its error comes down again."""
        picture, at, story, lens = self.picture, self.at, self.story, self.lens
        above, low, high = (at.shaft_at(gpu, layer) for layer in (LAYERS + 0.15, 0, LAYERS - 1))
        turned = lens.begins(story.forward)
        start = (above[0], at.boxes[gpu][1] - 16)
        up = Way(*start).go(story.data, *low).go(lens.span(0.0, story.forward), *high, eased=False).hide(turned)
        with picture.actor(f"data-{gpu}", "data", up, why="this GPU's own slice of the batch: no other GPU sees it"):
            self._marble(gpu)
        down = Way(*high, here=False).show(turned + BLINK)
        span = lens.span(story.forward, story.backward_ends)
        down.go(span, *low, eased=False).hide(span[-1][0] + 0.2, 0.4)
        with picture.actor(f"error-{gpu}", "error", down, why="what its own loss says of its weights, layer by layer"):
            self._marble(gpu, "hatched")

    def _marble(self, gpu: int, over: str = "") -> None:
        picture = self.picture
        if over:
            picture.circle(0, 0, RADIUS + 4, fill=OWNERS[gpu], key=f"error-{gpu}")
            picture.circle(0, 0, RADIUS + 4, fill=over, key=f"error-{gpu}")
        picture.circle(0, 0, RADIUS, fill=OWNERS[gpu], key=f"data-{gpu}")
        picture.text(0, 5, LETTERS[gpu], self.at.read, anchor="middle", ink="letter")

    def _equal(self, gpu: int) -> None:
        """A tick where the copies are equal again."""
        x, y = self.at.shaft_at(gpu, LAYERS / 2 - 0.5)
        way = Way(x - 8, y + 6, here=False).show(self.story.own[-1][0] - 0.4)
        with self.picture.actor(f"equal-{gpu}", "verdict", faded(way, self.lens, 0.0, self.until)):
            self.picture.tick(0, 0, 17, key=f"equal-{gpu}")


EXACT = 40  # buckets up to which each is seen to come back by itself; more of them look even


def _between(story: Story, first: float, last: float) -> list[tuple[float, float]]:
    """When how much of the buckets from first to last is summed: (since backward began, share)."""
    buckets = story.buckets
    if buckets.k > EXACT:
        start = buckets.wire(int(first)).start
        return [(start, 0.0), (buckets.wire(max(int(last) - 1, 0)).end, 1.0)]
    steps = [(span.start, span.end, at) for at in range(buckets.k) if (span := buckets.wire(at))]
    found: list[tuple[float, float]] = []
    for start, end, at in steps:
        low, high = max(first, at), min(last, at + 1)
        if low < high:
            for done in (low, high):
                found.append((start + (end - start) * (done - at), (done - first) / (last - first)))
    return found


def progress(lens: Lens, moments: list[tuple[float, float]]) -> Span:
    """A way that is so far at such moments of engine time, at one pace between two of them."""
    span: list[tuple[float, float]] = []
    for (e0, u0), (e1, u1) in pairwise(moments):
        span += [(t, u0 + (u1 - u0) * u) for t, u in lens.span(e0, e1)]
    return tuple(sorted(span))
