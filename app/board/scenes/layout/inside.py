"""Inside the floor: a hand-over arrives in a unit on all rails; in a node GPUs compute a layer and sum over their switch."""

from app.board.figures.floor import Box
from app.board.film.composition import Composition, Flight
from app.board.film.pieces import coin, sweep
from app.board.film.track import Way
from app.board.film.wire import Wire
from app.board.scenes.layout.places import framed, places, shot
from app.board.scenes.layout.story import Story
from engine.step.events import Event

DRAWN_NODES = 8  # of a unit
LAYERS = 5  # bars that stand for a GPU's layers


class UnitShot:
    """A unit: its leaves above, some of its nodes below; what is handed over comes down all rails at once."""

    def __init__(self, picture: Composition, story: Story):
        self.picture, self.story, self.at = picture, story, places(picture)
        self.rails = story.case.floor.leaves_per_unit
        self.nodes = min(DRAWN_NODES, story.case.floor.nodes_per_unit)
        box = self.at.region
        self.pitch = (box.width - 20) / self.rails
        self.top = box.y + 74
        self.down = (box.height - 74 - 30) / self.nodes

    def x(self, rail: int) -> float:
        return self.at.region.x + 10 + (rail + 0.5) * self.pitch

    def node(self, at: int) -> Box:
        return Box(self.at.region.x + 10, self.top + at * self.down, self.at.region.width - 20, self.down - 6)

    def draw(self) -> None:
        story, picture = self.story, self.picture
        if not story.unit:
            return
        with picture.actor("unit", "unit", shot(self.at, story.zoom_unit, story.zoom_node)):
            x, y = self.at.middle
            with picture.moved(-x, -y):
                self._still()
        hop = next(c for c in story.made.step.communication if c.axis == "pp")
        before = story.close.before
        assert before
        for rail in range(self.rails):
            for at in range(self.nodes):
                wire = Wire(
                    f"rail-{rail}-{at}",
                    ((self.x(rail), self.at.region.y + 36), (self.x(rail), self.node(at).y + self.node(at).height / 2)),
                )
                self._parcel(f"hand-over-{rail}-{at}", wire, before.end, story.close.arrives, hop.payload.value)
        framed(picture, "next-node", self.node(self._mine), story.zoom_node, self.at)

    @property
    def _mine(self) -> int:
        floor = self.story.case.floor
        return floor.node_of(self.story.you) % floor.nodes_per_unit % self.nodes

    def _parcel(self, key: str, wire: Wire, start: float, end: float, n_bytes: float) -> None:
        """Activations of a micro-batch on their way, each GPU's own part: a small round."""
        span = self.story.lens.span(start, end)
        way = Way(*wire.at(0), here=False).show(span[0][0], 0.0).ride(span, wire).hide(span[-1][0], 0.0)
        flight = Flight(wire, span[0][0], span[-1][0], n_bytes)
        with self.picture.actor(key, "activations", way, flights=(flight,)):
            self.picture.cells([(-6, -5, 12, 10)], fill="activations")

    def _still(self) -> None:
        picture = self.picture
        for rail in range(self.rails):
            x, y = self.x(rail), self.at.region.y + 20
            picture.rectangle(x - self.pitch * 0.38, y, self.pitch * 0.76, 32, key=f"leaf-{rail}")
            if picture.is_wide:
                picture.text(x, y + 22, f"leaf {rail}", "read", anchor="middle")
            last = self.node(self.nodes - 1)
            picture.line(x, y + 32, x, last.y + last.height, ink="pp", stroke="thin", key=f"rail-{rail}")
        for at in range(self.nodes):
            box = self.node(at)
            picture.rectangle(*box.sides, ink="ink" if at == self._mine else "rule", key=f"node-{at}")
        whole = self.story.case.floor.nodes_per_unit
        words = f"{self.nodes} of {whole} nodes drawn" + (", a leaf for each rail" if picture.is_wide else "")
        picture.text(
            self.at.region.middle, self.at.region.y + self.at.region.height - 4, words, "remark", anchor="middle"
        )


class NodeShot:
    """A node: each GPU holds its part of every layer; in one layer they compute, and their parts meet in the switch."""

    def __init__(self, picture: Composition, story: Story):
        self.picture, self.story, self.at = picture, story, places(picture)
        self.count = story.case.cluster.gpus_per_node
        box, rows = self.at.region, 1 if picture.is_wide else 2
        self.columns = self.count // rows
        self.pitch, self.wide = box.width / self.columns, box.width / self.columns * 0.78
        self.tall = 148 if rows == 1 else 104
        self.switch = Box(box.x + 6, box.y + (198 if rows == 1 else 150), box.width - 12, 44 if rows == 1 else 40)

    def gpu(self, at: int) -> Box:
        row, column = divmod(at, self.columns)
        y = self.at.region.y + 26 if row == 0 else self.switch.bottom + 38
        return Box(self.at.region.x + column * self.pitch + (self.pitch - self.wide) / 2, y, self.wide, self.tall)

    def bar(self, at: int) -> Box:
        """The layer that is looked at, in its GPU."""
        box = self.gpu(at)
        step = (box.height - 8) / LAYERS
        return Box(box.x + 6, box.y + 6 + 2 * step, box.width - 12, step - 6)

    def draw(self) -> None:
        story, picture = self.story, self.picture
        with picture.actor("node", "node", shot(self.at, story.zoom_node, story.zoom_gpu)):
            x, y = self.at.middle
            with picture.moved(-x, -y):
                self._still()
        start, (low, high) = story.close.work.start, story.layer_span(0)
        own = [event for event in story.events if event.layer == 0]
        spans = [(start + e.start, start + e.end) for e in own if e.kind == "compute"]
        for at in range(self.count):
            bar = self.bar(at)
            sweep(picture, f"node-sweep-{at}", bar.x, bar.y, bar.width, bar.height, spans, story.lens)
        for place, event in enumerate(e for e in own if e.axis == "tp"):
            self._sum(place, event, low, high)
        framed(picture, "next-gpu", self.gpu(self._mine), story.zoom_gpu, self.at)

    @property
    def _mine(self) -> int:
        return self.story.you % self.count

    def _sum(self, place: int, event: Event, low: float, high: float) -> None:
        """A gather or a sum: each GPU's part goes to the switch, and the others' parts come back."""
        start = self.story.close.work.start + event.start
        end = min(start + event.seconds, high)
        half = (start + end) / 2
        for at in range(self.count):
            box, switch = self.gpu(at), self.switch
            above = box.y < switch.y
            ends = (
                (box.middle, box.bottom if above else box.y),
                (box.middle, switch.y + 6 if above else switch.bottom - 6),
            )
            there, back = Wire(f"nv-{at}", ends), Wire(f"nv-{at}-back", ends[::-1])
            rides = [(max(start, low), half, there, event.n_bytes / 2), (half, end, back, event.n_bytes / 2)]
            coin(self.picture, f"sum-{place}-{at}", at % 4, rides, self.story.lens)

    def _still(self) -> None:
        picture, switch = self.picture, self.switch
        reach = self.story.made.step.placement.reach("tp")
        picture.rectangle(*switch.sides, fill="tp-pale" if reach.size > 1 else "board", ink="tp", key="switch")
        said = "NVLink switch" if reach.local > 1 and reach.size > 1 else "NVLink switch, at rest"
        picture.text(switch.middle, switch.y + switch.height / 2 + 6, said, "read", anchor="middle")
        for at in range(self.count):
            box, bar = self.gpu(at), self.bar(at)
            above = box.y < switch.y
            picture.line(
                box.middle,
                box.bottom if above else box.y,
                box.middle,
                switch.y if above else switch.bottom,
                ink="tp",
                stroke="thick",
                key=f"nv-{at}",
            )
            picture.rectangle(*box.sides, key=f"node-gpu-{at}")
            words = f"GPU {at}" if picture.is_wide else f"{at}"
            x = box.middle if above else box.middle + 16  # its wire comes from above
            picture.text(x, box.y - 6, words, "read", anchor="middle")
            step = bar.height + 6
            for layer in range(LAYERS):
                fill = "board" if layer == 2 else "plain"
                picture.cells([(bar.x, box.y + 6 + layer * step, bar.width, bar.height)], fill=fill, ink="rule")
