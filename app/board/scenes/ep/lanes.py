"""Lanes of the expert parallel film: each GPU's experts and the wires, first without a limit, then with a capacity."""

from app.board.film.composition import Composition
from app.board.film.pieces import LETTERS, Axis, Cell, faded, named, playhead, waited, written
from app.board.film.track import Way
from app.board.scenes.ep.case import GPUS
from app.board.scenes.ep.places import places
from app.board.scenes.ep.story import Story
from app.board.svg import OWNERS

SLIM, WIRES, TALL = 9.0, 38.0, 16.0  # height of a compute lane, where the wires' lane begins, its height


class Lanes:
    """Both turns on one axis: the second begins where the dispatch has ended."""

    def __init__(self, picture: Composition, story: Story):
        self.picture, self.story, self.case = picture, story, story.case
        self.at, self.lens = places(picture), story.lens
        self.first = Axis(*self.at.axis, 0.0, story.combined)
        start = story.again - story.sent
        self.second = Axis(*self.at.axis, start, start + story.combined)

    def draw(self) -> None:
        story, y = self.story, self.at.lanes
        since, until, end = story.stay[0][0], story.return_[0][0], story.leave[0][0]
        with self.picture.actor("lanes", "words", faded(Way(0, 0, here=False), self.lens, since, end)):
            self._still(y)
        for gpu in range(GPUS):
            cells = self._cells(gpu, story.sent)
            idle = [
                Cell(0.0, story.sent, why="no tokens yet"),
                Cell(story.done(gpu, story.sent), story.computed, why="done: waits for the busiest"),
                Cell(story.computed, story.combined, why="waits for the results"),
            ]
            self._lane(f"{gpu}-first", self.first, y + gpu * SLIM, cells, idle, until)
            most = self.case.values["capacity"]
            again = Cell(story.done(gpu, story.again, most), story.capped, why="done: waits for the busiest")
            self._lane(f"{gpu}-second", self.second, y + gpu * SLIM, self._cells(gpu, story.again, most), [again], end)
        wires = [
            Cell(0.0, story.sent, "dispatch", "ep-pale"),
            Cell(story.computed, story.combined, "combine", "ep-pale"),
        ]
        written(self.picture, "wires", self.first, y + WIRES, wires, self.lens, until, TALL)
        with self.picture.actor("wires-names", "words", faded(Way(0, 0, here=False), self.lens, since, until)):
            named(self.picture, self.first, y + WIRES, wires, TALL)
        self._marks(y, since, until, end)

    def _cells(self, gpu: int, begins: float, most: float = float("inf")) -> list[Cell]:
        works = self.story.works(gpu, begins, most)
        return [Cell(start, stop, "", "f", f"expert {expert} of {LETTERS[gpu]}") for expert, start, stop in works]

    def _lane(self, key: str, axis: Axis, y: float, cells: list[Cell], idle: list[Cell], until: float) -> None:
        idle = [cell for cell in idle if cell.end - cell.start > 1e-9 * cell.end]
        waited(self.picture, f"wait-{key}", axis, y, idle, self.lens, until, SLIM - 1)
        written(self.picture, f"compute-{key}", axis, y, cells, self.lens, until, SLIM - 1)

    def _still(self, y: float) -> None:
        left, right = self.at.axis
        self.picture.text(0, y + 20, "experts", "read")
        self.picture.text(0, y + WIRES + 13, "wires", "read")
        for gpu in range(GPUS):
            self.picture.cells([(left - 11, y + gpu * SLIM, 7, SLIM - 1)], fill=OWNERS[gpu], ink="")
        for line in (4 * SLIM, WIRES + TALL):
            self.picture.line(left, y + line, right, y + line, ink="rule", stroke="thin", key=f"lane-{line:.0f}")

    def _marks(self, y: float, since: float, until: float, end: float) -> None:
        story, first, second = self.story, self.first, self.second
        playhead(self.picture, "now-first", first, y - 3, y + WIRES + TALL, self.lens, since, until)
        x = second.x(story.again)
        left = Axis(x, second.x(story.capped), story.again, story.capped)
        playhead(self.picture, "now-second", left, y - 3, y + WIRES + TALL, self.lens, story.drop[0][0], end)
        mark = faded(Way(first.x(story.computed), y - 3, here=False), self.lens, story.return_[-1][0], end)
        with self.picture.actor("unlimited", "mark", mark, why="without a capacity the busiest is done here"):
            self.picture.line(0, 0, 0, WIRES + TALL, ink="bad", stroke="dashed", key="unlimited")
