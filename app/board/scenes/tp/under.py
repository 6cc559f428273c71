"""Under the tensor parallel film's picture: what computes and what is on the wires, straight in the engine's time."""

from app.board.film.composition import Composition
from app.board.film.pieces import LANE, Axis, Cell, faded, lane, named, playhead, written
from app.board.film.track import Way
from app.board.scenes.tp.field import LEAVE
from app.board.scenes.tp.places import places
from app.board.scenes.tp.story import Passage, Story
from engine.language.units import seconds_text
from engine.lens.turns import Turn

WORDS = {"X A": "X·A", "Y B": "Y·B", "Q K V": "Q K V", "out": "out"}


class Under:
    """The lanes of one passage.

    back   whether its work is backward
    """

    def __init__(self, picture: Composition, story: Story, passage: Passage, name: str, *, back: bool = False):
        self.picture, self.story, self.passage, self.name = picture, story, passage, name
        self.at, self.lens = places(picture, story.n), story.lens
        self.since, self.until = passage.since, passage.until
        self.fill = "b" if back else "f"
        self.axis = Axis(*self.at.lanes, passage.act.start, passage.act.end)
        self.y, self.z = self.at.under, self.at.under + LANE + 6

    def draw(self) -> None:
        lasting = [turn for turn in self.passage.act.turns if turn.end > turn.start]
        compute = [self._work(turn) for turn in lasting if not turn.on_wires]
        wires = [self._wire(turn) for turn in lasting if turn.on_wires]
        with self.picture.actor(f"{self.name}-lanes", "words", self._act()):
            for words, y, cells in (("compute", self.y, compute), ("wires", self.z, wires)):
                self.picture.text(0, y + 18, words, "remark", ink="ink")
                lane(self.picture, self.axis, y, cells)
        for at, cell in enumerate(wires):
            self._idle(f"{self.name}-idle-{at}", cell)
        written(self.picture, f"{self.name}-compute", self.axis, self.y, compute, self.lens, self.until)
        written(self.picture, f"{self.name}-wires", self.axis, self.z, wires, self.lens, self.until)
        with self.picture.actor(f"{self.name}-names", "words", self._act()):
            named(self.picture, self.axis, self.y, compute)
            named(self.picture, self.axis, self.z, wires)
        top, bottom = self.y - 6, self.z + LANE + 6
        playhead(self.picture, f"{self.name}-now", self.axis, top, bottom, self.lens, self.since, self.until)

    def says(self, words: str) -> None:
        """A line under the lanes, at their right end."""
        y = self.z + LANE + (22 if self.picture.is_wide else 77)
        with self.picture.actor(f"{self.name}-says", "words", self._act(self.at.lanes[1], y)):
            self.picture.text(0, 0, words, "read", anchor="end", ink="tp")

    def note(self, name: str, words: str) -> None:
        """What it comes to, in the room for words."""
        x, y = self.at.free
        with self.picture.actor(f"{self.name}-note", "words", self._act(x, y)):
            self.picture.text(0, 22, name, "remark")
            self.picture.text(0, 50, words, "caption", ink="bad")

    def flag(self, e: float, words: str) -> None:
        """A mark on the axis where something would have ended."""
        x = self.axis.x(e)
        way = Way(x, self.y - 6, here=False).show(self.lens.ends(e))
        with self.picture.actor(f"{self.name}-flag", "flag", way, why=words):
            self.picture.line(0, 0, 0, 2 * LANE + 18, ink="good", stroke="thick", key="flag")

    def _act(self, x: float = 0.0, y: float = 0.0) -> Way:
        return faded(Way(x, y, here=self.since <= 0), self.lens, self.since, self.until)

    def _work(self, turn: Turn) -> Cell:
        words = WORDS.get(turn.name, turn.name)
        return Cell(turn.start, turn.end, words, self.fill, f"{words}: {seconds_text(turn.end - turn.start)}")

    def _wire(self, turn: Turn) -> Cell:
        adds = turn.name.startswith(("sum", "all-reduce"))
        words = "Σ" if adds else turn.name.partition(" of ")[0].removeprefix("all-")
        why = f"{turn.name}: {seconds_text(turn.end - turn.start)}; the next product needs it"
        return Cell(turn.start, turn.end, words, "tp-pale", why)

    def _idle(self, key: str, cell: Cell) -> None:
        """While a collective is on the wires nobody computes."""
        x, width = self.axis.x(cell.start), self.axis.x(cell.end) - self.axis.x(cell.start)
        span = self.lens.span(cell.start, cell.end)
        way = Way(x, self.y, here=False, shown=0).show(span[0][0], 0.0).uncover(span)
        if self.until < self.lens.length:
            way.hide(max(self.until, span[-1][0]), LEAVE)
        why = "waits: the next product needs what is on the wires"
        with self.picture.actor(key, "idle", way, window=(width + 1, LANE + 1), why=why):
            self.picture.cells([(0, 0, width, LANE)], fill="waiting", ink="ghost")
