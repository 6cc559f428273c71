"""Deeper: in one GPU layers run and leave their activations; in one layer halves compute and sums repair them."""

from app.board.figures.floor import Box
from app.board.film.composition import Composition, running
from app.board.film.lens import plain
from app.board.film.pieces import coin, sweep
from app.board.film.track import Way
from app.board.film.wire import Wire
from app.board.scenes.layout.places import framed, places, shot
from app.board.scenes.layout.story import Story
from engine.language.units import within_text

KINDS = ("weights", "gradients", "optimizer")


class GpuShot:
    """One GPU: its memory as a box that fills, and its stack of layers."""

    def __init__(self, picture: Composition, story: Story):
        self.picture, self.story, self.at = picture, story, places(picture)
        box = self.at.region
        tall = box.height - 40
        self.box = Box(box.x + (60 if picture.is_wide else 12), box.y + 30, 120 if picture.is_wide else 96, tall)
        self.stack = Box(box.x + box.width * (0.62 if picture.is_wide else 0.58), box.y + 30, box.width * 0.3, tall)
        self.held = story.made.stages[story.stage]
        self.scale = tall / max(story.made.capacity_bytes, self.held.total.value)

    def layer(self, at: int) -> Box:
        step = self.stack.height / self.story.chunk.layers
        return Box(self.stack.x, self.stack.bottom - (at + 1) * step, self.stack.width, step * 0.78)

    def draw(self) -> None:
        story, picture = self.story, self.picture
        with picture.actor("gpu", "gpu", shot(self.at, story.zoom_gpu, story.zoom_layer)):
            x, y = self.at.middle
            with picture.moved(-x, -y):
                self._still()
        view = story.zoom_gpu[-1][0], story.zoom_layer[0][0]
        for at in range(1, story.last_layer):
            box, span = self.layer(at), story.layer_span(at)
            sweep(picture, f"stack-{at}", box.x, box.y, box.width, box.height, [span], story.lens)
            kept = Way(box.x, box.y, here=False).show(story.lens.ends(span[1]), 0.2).hide(view[1], 0.3)
            with picture.actor(f"kept-{at}", "activations", kept, why="its activations stay until the backward pass"):
                picture.rectangle(0, 0, box.width, box.height, fill="activations", stroke="thin", key="kept")
        self._breath(view)
        framed(picture, "next-layer", self.layer(story.last_layer), story.zoom_layer, self.at)

    def _state(self) -> float:
        return self.held.state.value + self.held.buffers.value

    def activations(self, e: float) -> float:
        """Bytes of activations that this stage holds at a moment of the step: whole micro-batches, and of this one its layers.

        The pass that is looked into counts layer by layer.
        """
        timeline, stage, work = self.story.made.step.timeline, self.story.stage, self.story.close.work
        steps = timeline.memory_over_time(stage)
        chunks = next((count for since, count in reversed(steps) if since <= e), 0)
        each = self.held.activations.value / max(timeline.held[stage], 1)
        if not work.start <= e < work.end:
            return chunks * each
        done = sum(self.story.layer_span(layer)[1] <= e for layer in range(self.story.chunk.layers))
        return (chunks - 1 + done / self.story.chunk.layers) * each

    def _breath(self, view: tuple[float, float]) -> None:
        """Activations in the box, higher with each layer that has run."""
        story, picture = self.story, self.picture
        base = self.box.bottom - self._state() * self.scale
        low, high = story.layer_span(0)[1], story.layer_span(story.last_layer)[0]
        moments = [low, *(story.layer_span(layer)[1] for layer in range(1, story.last_layer)), high]
        way = Way(self.box.x, base, here=False, tall=-self.activations(low) * self.scale).show(view[0], 0.2)
        for e in moments:
            t = max(view[0], story.lens.ends(e))
            way.grow(plain(t, t), tall=-self.activations(e) * self.scale)
        with picture.actor("breath", "strip", way.hide(view[1], 0.2), why="activations of the micro-batches under way"):
            picture.cells([(0, 0, self.box.width, 1)], fill="activations", ink="")
        x, y = (self.box.x + self.box.width + 16, self.box.y + 20) if picture.is_wide else (self.box.x, self.box.y - 10)
        capacity = story.made.capacity_bytes
        picture.runs(
            "gpu-holds",
            x,
            y,
            running(
                story.lens.length,
                lambda t: (
                    within_text(self._state() + self.activations(story.lens(t)), capacity, binary=True)
                    if view[0] <= t <= view[1]
                    else ""
                ),
            ),
        )

    def _still(self) -> None:
        picture, box = self.picture, self.box
        y = box.bottom
        for name in KINDS:
            size = getattr(self.held, name).value * self.scale
            y -= size
            picture.rectangle(box.x, y, box.width, size, fill=name, stroke="thin", key=f"gpu-{name}")
        picture.rectangle(*box.sides, stroke="thick", key="gpu-box")
        for at in range(self.story.chunk.layers):
            picture.cells([self.layer(at).sides], fill="board", ink="rule")
        count = self.story.chunk.layers
        picture.text(self.stack.x + self.stack.width + 6, self.stack.bottom - 4, f"{1}", "read")
        picture.text(self.stack.x + self.stack.width + 6, self.stack.y + 14, f"{count}", "read")
        picture.text(self.stack.x, self.stack.y - 10, "layers", "remark")


class LayerShot:
    """One layer: attention and its sum, the MLP and its sum."""

    def __init__(self, picture: Composition, story: Story):
        self.picture, self.story, self.at = picture, story, places(picture)
        box = self.at.region
        if picture.is_wide:
            self.halves = {
                half: Box(box.x + 70 + at * 320, box.y + 70, 200, 110) for at, half in enumerate(("attention", "mlp"))
            }
            self.sums = {half: (part.x + part.width + 56, part.y + 55) for half, part in self.halves.items()}
        else:
            self.halves = {
                half: Box(box.x + 64, box.y + 50 + at * 160, 180, 90) for at, half in enumerate(("attention", "mlp"))
            }
            self.sums = {half: (part.x + part.width + 62, part.y + 45) for half, part in self.halves.items()}

    def draw(self) -> None:
        story, picture = self.story, self.picture
        with picture.actor("layer", "layer", shot(self.at, story.zoom_layer, story.back, out=True)):
            x, y = self.at.middle
            with picture.moved(-x, -y):
                self._still()
        start, layer = story.close.work.start, story.last_layer
        own = [event for event in story.events if event.layer == layer]
        for half, box in self.halves.items():
            spans = [(start + e.start, start + e.end) for e in own if e.kind == "compute" and e.what == half]
            sweep(picture, f"half-{half}", box.x, box.y, box.width, box.height, spans, story.lens)
        low, high = story.layer_span(layer)
        middle = next(start + e.end for e in own if e.kind == "compute")
        for place, event in enumerate(e for e in own if e.axis == "tp"):
            half = "attention" if start + event.start < middle + 1e-9 else "mlp"
            gathers = event.start < next(e.start for e in own if e.kind == "compute" and e.what == half)
            self._sum(place, half, max(low, start + event.start), min(high, start + event.end), event.n_bytes, gathers)

    def _sum(self, place: int, half: str, start: float, end: float, n_bytes: float, gathers: bool) -> None:
        """The other GPUs' parts come into this layer's input, or into its sum."""
        box = self.halves[half]
        x, y = (box.x - 20, box.y + box.height / 2) if gathers else self.sums[half]
        for at in range(4):
            wire = Wire(f"part-{place}-{at}", ((x - 36 + at * 24, box.y + box.height + 38), (x, y)))
            coin(self.picture, f"part-{place}-{at}", at, [(start, end, wire, n_bytes / 4)], self.story.lens)

    def _still(self) -> None:
        picture, reach = self.picture, self.story.made.step.placement.reach("tp")
        for half, box in self.halves.items():
            words = {"attention": "attention", "mlp": "MLP"}[half]
            picture.rectangle(*box.sides, fill="f", key=f"half-{half}")
            picture.text(box.middle, box.y - 10, words, "caption", anchor="middle")
            part = box.width / max(reach.size, 1)
            if reach.size > 1 and part > 3:
                picture.cells([(box.x + at * part, box.y, part, box.height) for at in range(reach.size)], ink="rule")
            x, y = self.sums[half]
            picture.line(box.x - 20, y, box.x, y, key=f"in-{half}")
            picture.line(box.x + box.width, y, x - 18, y, key=f"out-{half}")
            picture.circle(x, y, 18, ink="tp" if reach.size > 1 else "ghost", key=f"sum-{half}")
            picture.text(x, y + 6, "Σ", "read", anchor="middle")
            for at in range(4):
                for foot in ((box.x - 20, y), (x, y)):
                    picture.line(
                        foot[0] - 36 + at * 24,
                        box.y + box.height + 38,
                        *foot,
                        ink="rule",
                        stroke="thin",
                        key=f"from-{half}-{at}-{foot[0]:.0f}",
                    )
