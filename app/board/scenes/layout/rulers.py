"""Rulers of time under the picture: the step, the layers of one operation, one layer. Each is a glass on the one above."""

from app.board.film.composition import Composition
from app.board.film.lens import Span
from app.board.film.pieces import Axis, Cell, lane, named, playhead, written
from app.board.film.track import Way
from app.board.pen import cells
from app.board.scenes.layout.places import places
from app.board.scenes.layout.story import Story
from engine.language.units import seconds_text
from engine.step.events import Event

ROW = 28.0
MOST_CELLS = 2400  # of the step's ruler: beyond, lanes are drawn as one


class Rulers:
    """The three of them, each with its playhead; from one to the next dashed lines show what is seen larger."""

    def __init__(self, picture: Composition, story: Story):
        self.picture, self.story, self.at, self.lens = picture, story, places(picture), story.lens
        self.inside = story.zoom_node[-1][0], story.back[0][0]

    def draw(self) -> None:
        self._step()
        layers = [(*self.story.layer_span(layer), layer) for layer in range(self.story.chunk.layers)]
        work = self.story.close.work
        outer = Axis(*self.at.axis, 0.0, self.story.tail.end)
        inner = Axis(*self.at.axis, work.start, work.end)
        shown = [
            Cell(start, end, f"{layer + 1}", "f", f"layer {layer + 1} of this stage") for start, end, layer in layers
        ]
        self._ruler("layers", inner, self.at.rulers[1], shown, self.inside[0], self.inside[1], outer)
        for name, layer, span in (("first", 0, self.story.node), ("last", self.story.last_layer, self.story.layer)):
            start, end = self.story.layer_span(layer)
            axis = Axis(*self.at.axis, start, end)
            parts = [
                self._part(event) for event in self.story.events if event.layer == layer and event.kind != "beside"
            ]
            self._ruler(f"{name} layer", axis, self.at.rulers[2], parts, span[0][0], span[-1][0] + 0.2, inner)

    def _part(self, event: Event) -> Cell:
        start = self.story.close.work.start
        words = {"attention": "attention", "mlp": "MLP"}.get(event.what, "")
        why = "computes" if event.kind == "compute" else f"waits for {event.what}"
        return Cell(start + event.start, start + event.end, words, "f" if event.kind == "compute" else event.axis, why)

    def _ruler(
        self, name: str, axis: Axis, y: float, parts: list[Cell], since: float, until: float, outer: Axis
    ) -> None:
        words = Way(0, 0, here=False).show(since, 0.4).hide(until, 0.3)
        with self.picture.actor(f"ruler-{name}", "words", words):
            self.picture.text(0, y + 17, name.split()[-1], "remark", ink="ink")
            lane(self.picture, axis, y, parts)
            for moment, x in ((axis.start, axis.left), (axis.end, axis.right)):
                self.picture.line(
                    outer.x(moment), y - 18, x, y - 1, ink="ghost", stroke="dashed", key=f"glass-{name}-{x:.0f}"
                )
        written(self.picture, f"run-{name}", axis, y, parts, self.lens, until)
        with self.picture.actor(f"parts-{name}", "words", Way(0, 0, here=False).show(since, 0.4).hide(until, 0.3)):
            named(self.picture, axis, y, parts)
        playhead(self.picture, f"now-{name}", axis, y - 4, y + 28, self.lens, since, until)

    def _step(self) -> None:
        """All stages of the whole step, written behind the playhead."""
        story, y = self.story, self.at.rulers[0]
        timeline, tail = story.made.step.timeline, story.tail
        axis = Axis(*self.at.axis, 0.0, tail.end)
        tall = ROW / timeline.stages
        wide = axis.right - axis.left
        until = story.turn[0][0]
        with self.picture.actor("ruler-step", "words", Way(0, 0).hide(until, 0.3)):
            self.picture.text(0, y + 19, "step", "remark", ink="ink")
            self.picture.path(cells([(axis.left, y, wide, ROW)]), ink="rule")
        few = len(timeline.intervals) <= MOST_CELLS
        for kinds, fill in (("F", "f"), ("BIW", "b")):
            boxes = [
                (axis.x(i.start) - axis.left, i.stage * tall, max(0.4, axis.x(i.end) - axis.x(i.start)), tall)
                for i in timeline.intervals
                if i.kind in kinds and (few or i.stage in (0, timeline.stages - 1))
            ]
            span: Span = self.lens.span(0.0, tail.end)
            way = Way(axis.left, y, shown=0).uncover(span).hide(until, 0.3)
            with self.picture.actor(
                f"step-{fill}",
                "timeline",
                way,
                window=(wide, ROW),
                why=f"every stage of the step: {seconds_text(tail.end)}",
            ):
                self.picture.path(cells(boxes), fill=fill, ink="soft" if few else "", stroke="thin")
        if tail.gradients:
            start, end = tail.gradients
            with self.picture.actor(
                "step-dp", "timeline", self._after(axis, start, end).hide(until, 0.3), why="gradients on their wires"
            ):
                self.picture.cells([(0, 0, max(1.0, axis.x(end) - axis.x(start)), 6)], fill="dp", ink="")
        playhead(self.picture, "now-step", axis, y - 5, y + ROW + 8, self.lens, 0.0, until)

    def _after(self, axis: Axis, start: float, end: float) -> Way:
        span = self.lens.span(start, end)
        return Way(axis.x(start), self.at.rulers[0] + ROW, here=False, wide=0).show(span[0][0], 0.0).grow(span, wide=1)
