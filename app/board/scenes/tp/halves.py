"""Sequence parallel in the tensor parallel film: the sum stops half-way, norms see their own tokens only."""

from app.board.film.composition import Composition, running
from app.board.film.lens import Span, plain
from app.board.film.pieces import LETTERS
from app.board.film.track import Way
from app.board.scenes.tp.field import LEAVE, PARTIAL, banded, label, seated
from app.board.scenes.tp.places import places
from app.board.scenes.tp.story import Story
from engine.language.units import bytes_text

METER = 240.0  # width of what one GPU keeps without


class Halves:
    """Z in parts, scattered to owners of tokens, normed there, gathered again; and what a GPU keeps of a layer."""

    def __init__(self, picture: Composition, story: Story):
        self.picture, self.story, self.passage = picture, story, story.halves
        self.at, self.lens, self.n = places(picture, story.n), story.lens, story.n
        self.scatter, self.gather = self.passage.act.gestures
        self.since, self.until = self.passage.since, self.passage.until

    def draw(self) -> None:
        for gpu in self.at.drawn:
            seated(self.picture, "halves", self.at, gpu, self.since, self.until)
            self._parts(gpu)
            for piece in self.at.drawn:
                self._piece(gpu, piece)
            self._norm(gpu)
        self._kept()

    def _parts(self, gpu: int) -> None:
        """Z as the product left it: full size, a part of each element. What is not its own is let go."""
        if self.n == 1:
            return
        box, scattered = self.at.matrix(gpu, "Z"), self.lens.ends(self.scatter.turn.end)
        way = Way(box.x, box.y, here=False).show(self.since, LEAVE, PARTIAL).hide(scattered, LEAVE)
        with self.picture.actor(f"sp-parts-{gpu}", "field", way, why="full size, but only its own part of the sum"):
            self.picture.rectangle(0, 0, box.wide, box.tall, fill="activations", radius=6, key=f"field-{box.wide}")
        share = f"1/{self.story.case.tp}"
        label(self.picture, f"sp-share-{gpu}", box, share, self.since, self.lens.begins(self.scatter.turn.start))

    def _piece(self, gpu: int, piece: int) -> None:
        """Some tokens of Z: its own from the scatter on, the others' once they are gathered."""
        gesture = self.scatter if gpu == piece else self.gather
        since = gesture.whole_at(gpu, piece, self.n)
        part = self.at.matrix(gpu, "Z").part(piece, self.n, "rows")
        comes = self.since if self.n == 1 else self.lens.ends(since or 0.0)
        way = Way(part.x, part.y, here=False).show(comes, 0.0).hide(self.until, LEAVE)
        why = f"tokens of GPU {LETTERS[piece]}, all channels, summed"
        with self.picture.actor(f"sp-{gpu}-{piece}", "piece", way, why=why):
            banded(self.picture, part, piece, "rows")

    def _norm(self, gpu: int) -> None:
        """The norm runs over its own tokens alone."""
        part = self.at.matrix(gpu, "Z").part(gpu, self.n, "rows")
        way, turns = Way(part.x, part.y, here=False, wide=0), 2
        (start, _), (end, _) = self.passage.at["norm"]
        each = (end - start) / turns
        for turn in range(turns):
            span: Span = plain(start + turn * each, start + (turn + 0.9) * each)
            way.show(span[0][0], 0.0).grow(plain(span[0][0], span[0][0]), wide=0).grow(span, wide=1).hide(
                span[-1][0], 0.0
            )
        with self.picture.actor(f"sp-norm-{gpu}", "norm", way):
            self.picture.cells([(0, 0, part.wide, part.tall)], fill="sweep", ink="rule")

    def kept(self, t: float) -> float:
        """Activations that a GPU keeps of a layer: of the whole norms, then of its own tokens.   [bytes]"""
        case = self.story.case
        return case.kept(case.tp, t >= self.turns_at and not case.alone).value

    @property
    def turns_at(self) -> float:
        """When what is not its own is let go.   [film seconds]"""
        return self.lens.ends(self.scatter.turn.end)

    def _kept(self) -> None:
        """The meter, as wide as the bytes."""
        case, (x, y) = self.story.case, self.at.free
        scale = METER / case.kept(case.tp, False).value
        with self.picture.actor("kept-name", "words", self._way(x, y)):
            self.picture.text(0, 20, "kept of a layer", "remark")
            self.picture.rectangle(0, 32, METER, 22, ink="ghost", stroke="dashed", key="kept-room")
        at = self.turns_at
        way = Way(x, y + 32, here=False, wide=self.kept(self.since) * scale).show(self.since, LEAVE)
        way.grow(plain(at, at + LEAVE), wide=self.kept(at) * scale).hide(self.until, LEAVE)
        with self.picture.actor("kept", "strip", way, why="activations that a GPU keeps of one layer for backward"):
            self.picture.cells([(0, 0, 1, 22)], fill="activations", ink="ink")
        words = running(self.lens.length, lambda t: bytes_text(self.kept(t)) if self.since <= t <= self.until else "")
        self.picture.runs("kept", x + METER + 10, y + 49, words)

    def _way(self, x: float, y: float) -> Way:
        return Way(x, y, here=False).show(self.since, LEAVE).hide(self.until, LEAVE)
