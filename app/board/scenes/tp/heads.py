"""Attention in the tensor parallel film: heads are dealt, and each GPU's rows of the output matrix meet its own heads."""

from app.board.film.composition import Composition
from app.board.film.pieces import LETTERS
from app.board.film.track import Way
from app.board.scenes.tp.field import LEAVE
from app.board.scenes.tp.forward import Forward
from app.board.scenes.tp.places import Box
from app.board.scenes.tp.story import Story
from engine.language.units import digits_text

SIDE = 7.5  # of a head in the picture, about


class Heads(Forward):
    """The half-block before the MLP: its matrices are those of queries, keys and values, and the output matrix."""

    def __init__(self, picture: Composition, story: Story):
        super().__init__(picture, story, story.attention, "attention", (True, True))

    def draw(self) -> None:
        super().draw()
        self._counts()

    def name_of(self, name: str) -> str:
        return {"A": "the matrices of queries, keys and values", "B": "the output matrix"}[name]

    def title_of(self, name: str) -> str:
        return {"A": "Q K V", "B": "out"}[name]

    def cuts_named(self) -> tuple[str, str]:
        return ("by heads", "by rows") if self.n > 1 else ("whole", "whole")

    def middle(self, gpu: int, own: Box, partial: bool) -> None:
        """Its heads, each finished where it is."""
        model = self.story.case.model
        n = model.heads // self.story.case.tp
        columns = max(1, round(own.wide / SIDE)) if n > 4 else 1
        rows = -(-n // columns)
        wide, tall = own.wide / columns, own.tall / rows
        way = Way(own.x, own.y, here=False, tall=0).show(self.first[0][0], 0.0).grow(self.first, tall=1)
        why = f"{n} of {model.heads} query heads: GPU {LETTERS[gpu]} computes all of each"
        with self.picture.actor(f"heads-{gpu}", "head", way.hide(self.until, LEAVE), why=why):
            places = ((at % columns * wide + 0.5, at // columns * tall + 0.5, wide - 1, tall - 1) for at in range(n))
            self.picture.cells(places, fill="activations")

    def _counts(self) -> None:
        """How many heads each GPU has, and when they run out."""
        case, at = self.story.case, self.at
        model, n = case.model, case.tp
        spare = model.kv_heads > n
        beyond = (
            f"enough for {model.kv_heads} GPUs"
            if spare
            else f"on {2 * n} GPUs each lies on {digits_text(case.copies.value)}"
        )
        rows = (
            (f"{model.heads // n} of {model.heads} query heads each", "ink"),
            (f"{model.kv_heads // n} of {model.kv_heads} KV heads: {beyond}", "ink" if spare else "bad"),
        )
        way = Way(*at.note, here=False).show(self.passage.at["deal A"][-1][0], LEAVE).hide(self.until, LEAVE)
        with self.picture.actor("head-counts", "words", way):
            for row, (words, ink) in enumerate(rows):
                self.picture.text(0, 22 + 28 * row, words, "read", ink=ink)
