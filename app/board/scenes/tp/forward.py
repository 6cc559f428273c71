"""A half-block forward, on every GPU: slices of weights are dealt, rows run through them, and what they make meets."""

from app.board.film.composition import Composition
from app.board.film.lens import Span
from app.board.film.pieces import LETTERS, tile
from app.board.film.track import Way
from app.board.scenes.tp.field import LEAVE, PARTIAL, SMALLEST, label, made, pieces, row_line
from app.board.scenes.tp.places import Box, places
from app.board.scenes.tp.story import Passage, Story


class Forward:
    """One passage's half-block.

    name        for its actors
    columns     whether the first matrix is cut by columns; otherwise by rows
    rows        whether the second one is cut by rows; otherwise by columns
    """

    def __init__(self, picture: Composition, story: Story, passage: Passage, name: str, cuts: tuple[bool, bool]):
        self.picture, self.story, self.passage, self.name = picture, story, passage, name
        self.columns, self.rows = cuts
        self.at, self.lens, self.n = places(picture, story.n), story.lens, story.n
        self.until = passage.until
        first, second = passage.act.work
        self.first, self.second = (self.lens.span(turn.start, turn.end) for turn in (first, second))
        self.gestures = {gesture.of: gesture for gesture in passage.act.gestures}

    def draw(self) -> None:
        self.decks()
        for gpu in self.at.drawn:
            self.weights(gpu, "A", "columns" if self.columns else "rows", self.passage.at.get("deal A"))
            self.weights(gpu, "B", "rows" if self.rows else "columns", self.passage.at.get("deal B"))
            self.left_factor(gpu)
            self.inner(gpu)
            self.result(gpu)
        for gpu in self.at.drawn:
            self.labels(gpu)

    def weights(self, gpu: int, name: str, along: str, deal: Span | None) -> None:
        """A GPU's slice of a matrix of weights: it flies from the whole one to its seat."""
        seat = self.at.matrix(gpu, name).part(gpu, self.n, along)
        since = self.passage.since
        if deal:
            deck = self.at.deck(name).part(gpu, self.n, along)
            start, end = deal[0][0], deal[-1][0]
            late = gpu * (end - start) / 8  # one after another, so that each can be followed
            way = self._come(Way(deck.x, deck.y, here=since <= 0), since)
            way.go(((start + late, 0.0), (start + late + (end - start) / 2, 1.0)), seat.x, seat.y)
        else:
            way = self._come(Way(seat.x, seat.y, here=False), since)
        why = f"GPU {LETTERS[gpu]}'s {along} of {self.name_of(name)}: nobody else holds them"
        with self.picture.actor(f"{self.name}-{name}-{gpu}", "slice", self._leave(way), why=why):
            letter = min(seat.wide, seat.tall) >= SMALLEST
            tile(self.picture, seat.wide, seat.tall, gpu, f"slice-{name}-{gpu}", letter=letter)

    def name_of(self, name: str) -> str:
        return name

    def decks(self) -> None:
        """Where the whole matrices lay, once their slices are dealt, and what they are called."""
        if "deal A" not in self.passage.at:
            return
        since = self.passage.since
        for name, place, along in zip("AB", self.at.names, self.cuts_named(), strict=True):
            deck = self.at.deck(name)
            way = self._leave(self._come(Way(*place, here=since <= 0), since))
            with self.picture.actor(f"{self.name}-deck-{name}", "words", way):
                self.picture.text(0, 0, self.title_of(name), "caption")
                if self.picture.is_wide:
                    self.picture.text(0, 26, along, "remark")
                with self.picture.moved(-place[0], -place[1]):
                    self.picture.rectangle(*deck, ink="ghost", stroke="dashed", key=f"deck-{name}")

    def title_of(self, name: str) -> str:
        return name

    def cuts_named(self) -> tuple[str, str]:
        """How each of the two is cut."""
        if self.n == 1:
            return "whole", "whole"
        return "by columns" if self.columns else "by rows", "by rows" if self.rows else "by columns"

    def left_factor(self, gpu: int) -> None:
        """X: the same on all GPUs; by rows of A a GPU needs only the columns that meet its rows."""
        box = self.at.matrix(gpu, "X")
        if not self.columns:
            box = box.part(gpu, self.n, "columns")
        why = "the same X on every GPU" if self.columns else "those columns of X that meet its rows of A"
        made(self.picture, f"{self.name}-X-{gpu}", box, self.passage.at["X"], self.until, why=why)

    def inner(self, gpu: int) -> None:
        """Y: its own columns, finished; or all of it, but only a part of each element."""
        whole = self.at.matrix(gpu, "Y")
        own = whole.part(gpu, self.n, "columns") if self.columns else whole
        partial = not self.columns and self.n > 1
        self.middle(gpu, own, partial)
        row_line(
            self.picture, f"{self.name}-row-A-{gpu}", self.at.matrix(gpu, "X").x, own.x + own.wide, own, self.first
        )
        if gesture := self.gestures.get("Y"):
            along = "columns" if self.columns else "rows"
            pieces(self.picture, f"{self.name}-Y-{gpu}", whole, gpu, self.n, along, gesture, self.lens, self.until)

    def middle(self, gpu: int, own: Box, partial: bool) -> None:
        """Y as it is made."""
        made(
            self.picture,
            f"{self.name}-Y-{gpu}",
            own,
            self.first,
            self.until,
            opacity=PARTIAL if partial else 1.0,
            why="a part of each element: the others hold the rest" if partial else "finished columns of Y",
        )

    def result(self, gpu: int) -> None:
        """Z: a part of the sum until it is whole; or finished columns, gathered."""
        whole = self.at.matrix(gpu, "Z")
        own = whole if self.rows else whole.part(gpu, self.n, "columns")
        partial = self.rows and self.n > 1
        gesture = self.gestures["Z"]
        gone = self.lens.ends(gesture.turn.end) if partial else self.until
        made(
            self.picture,
            f"{self.name}-Z-{gpu}",
            own,
            self.second,
            gone,
            opacity=PARTIAL if partial else 1.0,
            why="full size, but only its own part of the sum" if partial else "Z, made here",
        )
        left = self.at.matrix(gpu, "Y")
        row_line(self.picture, f"{self.name}-row-B-{gpu}", left.x, own.x + own.wide, own, self.second)
        if self.n > 1:
            along = "rows" if self.rows else "columns"
            pieces(self.picture, f"{self.name}-Z-{gpu}", whole, gpu, self.n, along, gesture, self.lens, self.until)

    def labels(self, gpu: int) -> None:
        """Names, and which share of its sum a part is."""
        share = f"1/{self.story.case.tp}"
        box, ends = self.at.matrix(gpu, "Z"), self.lens.ends(self.passage.act.end)
        made_at = self.second[-1][0]
        if self.columns:
            self._label(gpu, "X", "X", self.passage.at["X"][-1][0])
        if self.rows and self.n > 1:
            label(self.picture, f"{self.name}-share-{gpu}", box, share, made_at, self._scattered("Z"), over=0.0)
        self._label(gpu, "Z", "Z", max(made_at, ends))
        self.inner_label(gpu, share)

    def inner_label(self, gpu: int, share: str) -> None:
        """Y is named once the nonlinearity has passed."""
        sigma = self.passage.at.get("σ")
        if not sigma:
            return
        box = self.at.matrix(gpu, "Y")
        own = box.part(gpu, self.n, "columns") if self.columns else box
        start, end = sigma[0][0], sigma[-1][0]
        row_line(self.picture, f"{self.name}-σ-{gpu}", own.x, own.x + own.wide, own, sigma)
        if not self.columns and self.n > 1:
            since = self.passage.at["aside"][-1][0] + 2 * LEAVE  # once the crosses have gone
            scattered = self._scattered("Y")
            label(self.picture, f"{self.name}-y-share-{gpu}", box, share, since, scattered, over=0.0)
        label(self.picture, f"{self.name}-y-{gpu}", own, "σ", start + (end - start) / 2, self.until)

    def _scattered(self, of: str) -> float:
        """When the first pieces of a sum are whole.   [film seconds]"""
        return self.lens.ends(self.gestures[of].halves(self.n)[0][-1][1])

    def _label(self, gpu: int, name: str, words: str, since: float) -> None:
        label(self.picture, f"{self.name}-name-{name}-{gpu}", self.at.matrix(gpu, name), words, since, self.until)

    def _come(self, way: Way, since: float) -> Way:
        return way.show(since, LEAVE) if since > 0 else way

    def _leave(self, way: Way) -> Way:
        return way.hide(self.until, LEAVE) if self.until < self.lens.length else way
