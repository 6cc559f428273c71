"""The floor of the machine: stages light up as their operations run, gradients meet over their wires, a node is lost."""

from collections.abc import Sequence

from app.board.figures.topology_floor import draw_floor, draw_wires
from app.board.film.composition import Composition
from app.board.film.pieces import coin
from app.board.film.track import Way
from app.board.film.wire import Wire
from app.board.pen import Point, cells
from app.board.scenes.layout.case import GPUS, stage_of, unit_names
from app.board.scenes.layout.places import again, framed, places, shot
from app.board.scenes.layout.story import Story
from engine.pipeline.timeline import Interval

MOST_TURNS = 700  # of light, over all stages: more say nothing to the eye and weigh much
FLYING = 4  # coins that stand for all of a group


class FloorShot:
    """The floor, as far as the camera sees it: at the beginning and at the end."""

    def __init__(self, picture: Composition, story: Story):
        self.picture, self.story, self.at = picture, story, places(picture)
        self.floor = self.at.floor(story.case.cluster)
        self.placed = story.made.step.placement
        self.lens = story.lens
        self.goes = story.zoom_unit if story.unit else story.zoom_node
        self.ranks: dict[int, list[int]] = {}
        for rank in range(GPUS):
            self.ranks.setdefault(stage_of(self.placed, rank), []).append(rank)

    def draw(self) -> None:
        way = again(shot(self.at, None, self.goes), self.story.back, self.story.turn)
        with self.picture.actor("floor", "floor", way, why="every GPU of the machine, where its rank says"):
            x, y = self.at.middle
            with self.picture.moved(-x, -y):
                draw_floor(self.picture, self.floor, rest="")
        self._pour()
        for stage, row in enumerate(self.story.made.step.timeline.by_stage):
            self._lights(stage, row)
        self._names()
        node = self.floor.node(self.floor.node_of(self.story.you))
        unit = self.floor.unit(self.floor.unit_of(self.story.you))
        framed(self.picture, "next-shot", unit if self.story.unit else node, self.goes, self.at)
        self._gradients()

    def _cells(self, ranks: Sequence[int]) -> str:
        """The nodes of these GPUs, or where a node is shared between stages the GPUs themselves."""
        nodes = sorted({self.floor.node_of(rank) for rank in ranks})
        if len(nodes) * self.floor.gpus_per_node == len(ranks):
            return cells([self.floor.node(node).sides for node in nodes])
        return cells([self.floor.gpu(rank).sides for rank in ranks])

    def _pour(self) -> None:
        """The GPUs of one stage after another take their place."""
        (start, _), (end, _) = self.story.pour
        each = (end - start) / len(self.ranks)
        for stage, ranks in sorted(self.ranks.items()):
            way = Way(0, 0, here=False).show(start + (stage + 1) * each * 0.9, 0.4)
            way.hide(self.goes[0][0], 0.3).show(self.story.back[-1][0]).hide(self.story.turn[0][0], 0.3)
            with self.picture.actor(
                f"stage-{stage}", "stage", way, why=f"stage {stage}: {len(ranks)} GPUs hold the same layers"
            ):
                self.picture.path(self._cells(ranks), fill="plain", ink="")

    def _lights(self, stage: int, row: Sequence[Interval]) -> None:
        """What a stage runs, while the floor is in view."""
        timeline = self.story.made.step.timeline
        if len(timeline.intervals) > MOST_TURNS:
            row = [Interval(stage, "F", 0, 0, row[0].start, row[-1].end)]
        for kinds, fill in (("F", "f"), ("BIW", "b")):
            way = Way(0, 0, here=False)
            for start, end in _merged([i for i in row if i.kind in kinds], timeline.makespan / 400):
                for since, until in self._seen(start, end):
                    way.show(since, 0.0).hide(until, 0.0)
            with self.picture.actor(
                f"{fill}-{stage}", "light", way, why="a forward pass" if fill == "f" else "a backward pass"
            ):
                self.picture.path(self._cells(self.ranks[stage]), fill=fill, ink="")

    def _seen(self, start: float, end: float) -> list[tuple[float, float]]:
        """The same in film seconds, as far as the floor is in view then."""
        since, until = self.lens.begins(start), self.lens.ends(end)
        views = ((self.story.runs[0][0], self.goes[0][0]), (self.story.back[-1][0], self.story.turn[0][0]))
        both = [(max(since, low), min(until, high)) for low, high in views]
        return [(low, high) for low, high in both if high - low > 0.004]

    def _names(self) -> None:
        picture = self.picture
        y = self.floor.unit(0).bottom + 18
        for since, until, key in ((None, self.goes, "names"), (self.story.back, self.story.turn, "names-again")):
            way = Way(0, 0, here=since is None)
            if since:
                way.show(since[-1][0])
            with picture.actor(key, "words", way.hide(until[0][0], 0.2)):
                for unit, name in enumerate(unit_names(self.floor)):
                    picture.text(self.floor.unit(unit).middle, y, name, "read", anchor="middle", ink="soft")
                spine = self.floor.spine
                picture.text(spine.middle, spine.y + 23, "spine", "read", anchor="middle")

    def _gradients(self) -> None:
        """Copies of one part of the model sum their gradients: along their wires, while the engine says so."""
        span = self.story.tail.gradients
        group = list(self.placed.group("dp", self.story.you))
        if not span or len(group) < 2:
            return
        since, until = self.lens.begins(span[0]), self.lens.ends(span[1])
        way = Way(0, 0, here=False).show(max(since, self.story.back[-1][0])).hide(until, 0.2)
        with self.picture.actor("dp-wires", "wire", way, why="the wires between GPUs that hold the same part"):
            if self.placed.reach("dp").leaves_node:
                draw_wires(self.picture, self.floor, group, "dp")
            self.picture.path(self._cells(group), fill="dp", ink="")
        chosen = group[:: max(1, len(group) // FLYING)][:FLYING]
        visible = max(span[0], self.lens(self.story.back[-1][0]))
        turns = 4
        each = (span[1] - visible) / turns
        sent = sum(c.sent_in_step.value for c in self.story.made.step.communication if c.axis == "dp")
        for at, rank in enumerate(chosen):
            there = chosen[(at + 1) % len(chosen)]
            wire = Wire(f"dp-{at}", self._way(rank, there))
            rides = [(visible + turn * each, visible + (turn + 1) * each, wire, sent / turns) for turn in range(turns)]
            coin(self.picture, f"gradient-{at}", at % 4, rides, self.lens, "hatched", letter=False)

    def _way(self, rank: int, there: int) -> tuple[Point, ...]:
        """From a GPU to another: up to its leaf, over the spine where they stand in two units, and down."""
        up, down = self._rise(rank), self._rise(there)
        if self.floor.node_of(rank) == self.floor.node_of(there):
            return up[0], down[0]
        if self.floor.unit_of(rank) == self.floor.unit_of(there):
            return (*up, *down[::-1])
        spine = self.floor.spine.bottom - 5
        return (*up, (up[-1][0], spine), (down[-1][0], spine), *down[::-1])

    def _rise(self, rank: int) -> tuple[Point, ...]:
        gpu, leaf = self.floor.gpu(rank), self.floor.leaf(self.floor.unit_of(rank), self.floor.rail_of(rank))
        along = leaf.bottom + self.floor.head[2] * 5 / 24
        return (gpu.middle, gpu.y + gpu.height / 2), (gpu.middle, along), (leaf.middle, along), (leaf.middle, leaf.y)


def _merged(row: Sequence[Interval], hair: float) -> list[tuple[float, float]]:
    """Operations that follow one another at once are one."""
    made: list[tuple[float, float]] = []
    for interval in row:
        if made and interval.start - made[-1][1] < hair:
            made[-1] = (made[-1][0], interval.end)
        else:
            made.append((interval.start, interval.end))
    return made
