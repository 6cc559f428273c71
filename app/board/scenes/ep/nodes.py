"""Few nodes: one GPU's tokens choose freely, or at most so many nodes; there one copy is handed on over NVLink."""

from dataclasses import dataclass

from app.board.film.composition import Composition
from app.board.film.pieces import Axis, Cell, coin, faded, playhead, tile, written
from app.board.film.track import Way
from app.board.film.wire import Wire
from app.board.pen import Point
from app.board.scenes.ep.case import GPUS
from app.board.scenes.ep.story import Story
from engine.language.units import bytes_text, counted, seconds_text

TOKEN, NODE = 36.0, 148.0  # widths


@dataclass(frozen=True)
class Panel:
    """Where one of the two ways to choose is drawn.

    port   x of the nodes
    """

    x: float
    y: float
    pitch: float
    tall: float
    port: float

    @property
    def start(self) -> Point:
        """The middle of the token."""
        return self.x + TOKEN / 2 + 4, self.y + 14 + GPUS * self.pitch / 2

    def node(self, node: int) -> Point:
        return self.port, self.y + 24 + node * self.pitch

    def unit(self, node: int, at: int, of: int) -> tuple[Point, float]:
        """The middle of an expert's place in a node, and its size."""
        x, y = self.node(node)
        pitch = (NODE - 12) / of
        return (x + 6 + (at + 0.5) * pitch, y + self.tall / 2), min(self.tall - 12, pitch - 6)


PANELS = {
    ("wide", False): Panel(0, 6, 70, 56, 190),
    ("wide", True): Panel(376, 6, 70, 56, 566),
    ("tall", False): Panel(0, 4, 46, 38, 206),
    ("tall", True): Panel(0, 222, 46, 38, 206),
}


class Nodes:
    """The same token twice, on one clock."""

    def __init__(self, picture: Composition, story: Story):
        self.picture, self.story, self.case, self.lens = picture, story, story.case, story.lens
        self.since, self.until = story.leave[-1][0], story.turn[0][0]
        self.sent = self.case.dispatch.value / self.case.top_k

    def draw(self) -> None:
        for limited in (False, True):
            panel = PANELS[self.picture.form, limited]
            self._still(panel, limited)
            self._arrived(panel, limited)
        self._lanes()

    def coins(self) -> None:
        """Copies on the network, and on NVLink. Drawn above all else."""
        start = self.story.limits
        for limited in (False, True):
            panel, met = PANELS[self.picture.form, limited], [0] * GPUS
            for order, (node, begins, ends) in enumerate(self.story.network(limited)):
                there = self.story.reach(limited)[node]
                points = self._wire(panel, node, None if limited else there[met[node]])
                met[node] += 1
                wire = Wire(f"net-{limited}-{order}", points)
                coin(
                    self.picture,
                    f"net-{limited}-{order}",
                    0,
                    [(start + begins, start + ends, wire, self.sent)],
                    self.lens,
                )
        panel = PANELS[self.picture.form, True]
        for node, at, begins, ends in self.story.handing():
            (x, y), _ = panel.unit(node, at, self.case.a_gpu)
            wire = Wire(f"nvlink-{node}-{at}", (self._gate(panel, node), (x, y)))
            coin(self.picture, f"nvlink-{node}-{at}", 0, [(start + begins, start + ends, wire, self.sent)], self.lens)

    def _gate(self, panel: Panel, node: int) -> Point:
        """Where the network ends."""
        x, y = panel.node(node)
        return x, y + panel.tall / 2

    def _wire(self, panel: Panel, node: int, at: int | None) -> tuple[Point, ...]:
        gate = self._gate(panel, node)
        return (panel.start, gate) if at is None else (panel.start, gate, panel.unit(node, at, self.case.a_gpu)[0])

    def _act(self, way: Way) -> Way:
        return faded(way, self.lens, self.since, self.until)

    def _still(self, panel: Panel, limited: bool) -> None:
        picture, reach = self.picture, self.story.reach(limited)
        with picture.actor(f"panel-{limited}", "words", self._act(Way(0, 0, here=False))):
            words = f"{counted(self.case.nodes, 'node')} at most" if limited else "free choice"
            picture.text(panel.x, panel.y + 16, words, "caption", ink="ep" if limited else "ink")
            for node, there in enumerate(reach):
                gate, (x, y) = self._gate(panel, node), panel.node(node)
                dashed = "normal" if there else "dashed"
                if there:
                    picture.line(*panel.start, *gate, ink="ep", key=f"to-{limited}-{node}")
                picture.rectangle(
                    x, y, NODE, panel.tall, ink="ink" if there else "ghost", stroke=dashed, key=f"node-{node}"
                )
                if there:
                    (end, middle), _ = panel.unit(node, there[-1], self.case.a_gpu)
                    picture.line(x, middle, end, middle, ink="tp" if limited else "ep", key=f"inside-{limited}-{node}")
                for at in range(self.case.a_gpu):
                    (u, v), size = panel.unit(node, at, self.case.a_gpu)
                    ink, stroke = ("ink", "thin") if at in there else ("ghost", "dashed")
                    picture.rectangle(
                        u - size / 2, v - size / 2, size, size, fill="board", ink=ink, stroke=stroke, key=f"unit-{at}"
                    )
        x, y = panel.start
        with picture.actor(f"chooser-{limited}", "token", self._act(Way(x - TOKEN / 2, y - TOKEN / 2, here=False))):
            tile(picture, TOKEN, TOKEN, 0, "chooser")

    def _arrived(self, panel: Panel, limited: bool) -> None:
        """An expert's place lights up when its copy is there."""
        start, met = self.story.limits, [0] * GPUS
        if limited:
            came = [(node, at, end) for node, at, _, end in self.story.handing()]
        else:
            came = []
            for node, _, end in self.story.network(False):
                came.append((node, self.story.reach(False)[node][met[node]], end))
                met[node] += 1
        for node, at, end in came:
            (x, y), size = panel.unit(node, at, self.case.a_gpu)
            t = self.lens.ends(start + end)
            way = (
                Way(x, y, here=False, wide=0.6, tall=0.6).show(t, 0.0).grow(((t, 0.0), (t + 0.25, 1.0)), wide=1, tall=1)
            )
            if self.until < self.lens.length:
                way.hide(max(self.until, t + 0.25), 0.3)
            with self.picture.actor(f"came-{limited}-{node}-{at}", "arrived", way, why="the token is at this expert"):
                self.picture.cells([(-size / 2, -size / 2, size, size)], fill="owner-a")

    def _lanes(self) -> None:
        """The network's time of both, and what it carried."""
        story, case, start = self.story, self.case, self.story.limits
        wide, y = self.picture.is_wide, 308.0 if self.picture.is_wide else 452.0
        left, right = (112.0, 500.0) if wide else (4.0, 354.0)
        axis = Axis(left, right, start, start + max(case.exchange_s.value, story.handed_on))
        turns = (("free choice", case.dispatch, case.exchange_s), ("limited", case.limited, case.limited_s))
        for at, (name, size, seconds) in enumerate(turns):
            top = y + at * (38 if wide else 46)
            cells = [Cell(start, start + seconds.value, "", "ep-pale", "on the network")]
            with self.picture.actor(f"limit-{name}", "words", self._act(Way(0, 0, here=False))):
                self.picture.line(left, top + 20, right, top + 20, ink="rule", stroke="thin", key=f"limit-{at}")
                self.picture.text(0, top + (16 if wide else -5), name, "read")
            written(self.picture, f"network-{name}", axis, top, cells, self.lens, self.until, 20)
            done = self.lens.ends(start + seconds.value)
            way = Way(right + 14 if wide else right, top + (17 if wide else -5), here=False).show(done)
            with self.picture.actor(f"took-{name}", "words", faded(way, self.lens, 0.0, max(self.until, done))):
                text = f"{bytes_text(size.value)}, {seconds_text(seconds.value)}"
                self.picture.text(0, 0, text, "number", anchor="start" if wide else "end")
        playhead(self.picture, "now-nodes", axis, y - 3, y + (64 if wide else 70), self.lens, self.since, self.until)
