"""Why columns come first: one element on its way through the nonlinearity, finished or as two parts of a sum."""

from app.board.film.composition import Composition
from app.board.film.lens import plain
from app.board.film.track import Way
from app.board.scenes.tp.case import ELEMENT, silu_of
from app.board.scenes.tp.field import LEAVE
from app.board.scenes.tp.places import places
from app.board.scenes.tp.said import signed
from app.board.scenes.tp.story import Story

ROW, HIGH = 29.0, 24.0
BEFORE, GATE, AFTER, SUM, MARK = 66.0, 140.0, 150.0, 246.0, 332.0  # x of what stands in a row
BEFORE_WIDE, AFTER_WIDE, GAP = 66.0, 90.0, 4.0  # of the elements of a row together, and between two
LINGER = 0.1  # s that the aside stays once B is dealt


class Aside:
    """Two rows: by columns the element is whole and comes out right, by rows its parts come out wrong."""

    def __init__(self, picture: Composition, story: Story):
        self.picture, self.story = picture, story
        self.at, self.lens = places(picture, story.n), story.lens
        (self.start, _), (self.end, _) = story.mlp.at["aside"]
        self.leaves = story.mlp.at["deal B"][0][0] + LINGER
        self.x, self.y = self.at.note

    def draw(self) -> None:
        whole = sum(ELEMENT)
        right = silu_of(whole).value
        parts = [silu_of(part).value for part in ELEMENT]
        self._row(0, "columns", (whole,), (right,))
        self._row(1, "rows", ELEMENT, tuple(parts))
        self._still()
        case = self.story.case
        if not (case.columns_first or case.alone):
            self._crosses()

    def _row(self, row: int, name: str, before: tuple[float, ...], after: tuple[float, ...]) -> None:
        """Elements slide up to the gate, and what they become slides on."""
        picture, y = self.picture, self.y + row * ROW
        wide, later = (
            (BEFORE_WIDE - GAP * (len(before) - 1)) / len(before),
            (AFTER_WIDE - GAP * (len(before) - 1)) / len(before),
        )
        begin, pace = self.start + 0.2, (self.end - self.start) / 6
        wrong = abs(sum(after) - silu_of(sum(before)).value) > 1e-9
        with picture.actor(f"aside-{name}", "words", self._way(self.x, y, self.start)):
            picture.text(0, 18, name, "read", ink="remark")
        for at, (value, becomes) in enumerate(zip(before, after, strict=True)):
            x = self.x + BEFORE + at * (wide + GAP)
            way = self._way(x - 24, y, self.start).go(plain(begin, begin + pace), x, y)
            self._element(f"aside-{name}-{at}", way, wide, value)
            x = self.x + AFTER + at * (later + GAP)
            way = self._way(self.x + GATE, y, begin + pace, 0.0).go(plain(begin + pace, begin + 2.4 * pace), x, y)
            self._element(f"aside-{name}-{at}-after", way, later, becomes)
        with picture.actor(f"aside-{name}-sum", "words", self._way(self.x + SUM, y + 18, begin + 2.8 * pace)):
            picture.text(0, 0, f"= {signed(sum(after), 2)}", "read", ink="bad" if wrong else "ink")
        way = self._way(self.x + MARK, y + 12, begin + 3.2 * pace)
        span = plain(begin + 3.2 * pace, begin + 4.2 * pace)
        with picture.actor(f"aside-{name}-mark", "verdict", self._grown(way, span)):
            if wrong:
                picture.cross(0, 0, 16, key="aside-wrong")
            else:
                picture.tick(-8, 6, 16, key="aside-right")

    def _element(self, key: str, way: Way, wide: float, value: float) -> None:
        with self.picture.actor(key, "element", way, why="one element of Y, or one part of it"):
            self.picture.rectangle(0, 0, wide, HIGH, fill="activations", radius=6, key=f"element-{wide}")
            self.picture.text(wide / 2, 17, signed(value, 2), "read", anchor="middle")

    def _still(self) -> None:
        """The gate through which both rows pass."""
        with self.picture.actor("aside-gate", "words", self._way(self.x + GATE, self.y, self.start)):
            self.picture.line(0, 0, 0, ROW + HIGH, ink="tp", stroke="thick", key="gate")

    def _crosses(self) -> None:
        """On every GPU: the nonlinearity would come too early."""
        gone = self.story.mlp.at["aside"][-1][0]
        for gpu in self.at.drawn:
            box = self.at.matrix(gpu, "Y")
            way = Way(box.middle, box.y + box.tall / 2, here=False).show(self.start + 0.8, 0.0).hide(gone, LEAVE)
            span = plain(self.start + 0.8, self.start + 1.6)
            with self.picture.actor(
                f"broken-{gpu}", "verdict", self._grown(way, span), why="parts of a sum: sum first"
            ):
                self.picture.cross(0, 0, 36, key="broken")

    def _grown(self, way: Way, span: tuple[tuple[float, float], ...]) -> Way:
        """It begins small and is drawn larger until it is as it should be."""
        start = span[0][0]
        at_once = plain(start - 0.01, start - 0.01)
        return way.grow(at_once, wide=0.2, tall=0.2).grow(span, wide=1, tall=1, eased=True)

    def _way(self, x: float, y: float, since: float, over: float = LEAVE) -> Way:
        return Way(x, y, here=False).show(since, over).hide(self.leaves, LEAVE)
