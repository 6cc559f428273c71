"""Inside the first bucket: a row is a slice, a tint is whose gradients it holds; a lap of sums, then a lap of copies."""

from app.board.film.composition import Composition, Flight
from app.board.film.pieces import tile
from app.board.film.ring import DRAWN, ring
from app.board.film.track import Way
from app.board.film.wire import Wire
from app.board.scenes.ddp.floor import MIDDLE
from app.board.scenes.ddp.story import HOPS, LAYERS, Story
from app.board.svg import OWNERS

LAP = DRAWN - 1  # hops of sums, and as many of copies
STALE = 0.3  # still in memory, but no longer true
COIN = (48.0, 16.0)


class Bucket:
    """Four slices of the gradients of the last layer, on their way round the ring."""

    def __init__(self, picture: Composition, story: Story):
        self.picture, self.story = picture, story
        self.at, self.lens = ring(picture), story.lens
        self.first = story.sums[LAYERS - 1]
        self.since, self.until = story.zoom[-1][0], story.back[0][0]

    def hop(self, at: int) -> tuple[float, float]:
        """When a hop of the ring begins and ends: sums first, then copies."""
        return self.first.part(at, HOPS)

    def draw(self) -> None:
        for row in range(DRAWN):
            for gpu in range(DRAWN):
                x, y = self.at.seat(gpu, row, 0)
                way = Way(x, y, here=False).show(self.since, 0.5).hide(self.until, 0.3)
                with self.picture.actor(f"slice-{gpu}-{row}", "room", way, why=f"slice {row + 1} of the bucket"):
                    self.picture.rectangle(
                        0, 0, self.at.slot * DRAWN, self.at.row, ink="ghost", stroke="dashed", key=f"slice-{row}"
                    )
                for owner in range(DRAWN):
                    self._tint(gpu, row, owner)
            for at in range(HOPS):
                self._coin(row, at)

    def _tint(self, gpu: int, row: int, owner: int) -> None:
        """One GPU's gradients as another holds them: there, stale once they have been passed on, whole at the end."""
        place, of = (gpu - row) % DRAWN, (owner - row) % DRAWN
        holder = (row + LAP) % DRAWN
        x, y = self.at.seat(gpu, row, owner)
        way = Way(x, y, here=False)
        if owner == gpu:
            way.show(self.since, 0.5)
        elif of < place:
            way.show(self.lens.ends(self.hop(place - 1)[1]), 0.0)
        if place < LAP and of <= place:
            way.hide(self.lens.begins(self.hop(place)[0]), 0.15, STALE)
        copied = (gpu - holder) % DRAWN
        if copied:
            way.show(self.lens.ends(self.hop(LAP + copied - 1)[1]), 0.0)
        way.hide(self.until, 0.3)
        with self.picture.actor(
            f"tint-{gpu}-{row}-{owner}", "tint", way, why="whose gradients this slice holds already"
        ):
            tile(self.picture, self.at.slot, self.at.row, owner, f"slot-{owner}", "hatched")

    def _coin(self, row: int, at: int) -> None:
        """A slice on its way, with the tints that it holds."""
        gpu = (row + at) % DRAWN if at < LAP else (row + LAP + at - LAP) % DRAWN
        held = range(at + 1) if at < LAP else range(DRAWN)
        start, end = self.hop(at)
        wire = Wire(f"{gpu}-{row}", self.at.hop(gpu, row, MIDDLE))
        span = self.lens.span(start, end)
        way = Way(*wire.at(0), here=False).show(span[0][0], 0.0).ride(span, wire).hide(span[-1][0], 0.0)
        n_bytes = self.story.case.gradients.value / LAYERS / DRAWN
        flight = Flight(wire, span[0][0], span[-1][0], n_bytes)
        why = (
            "a sum on its way: it picks up what it finds" if at < LAP else "a whole slice on its way: it leaves a copy"
        )
        with self.picture.actor(f"coin-{row}-{at}", "coin", way, flights=(flight,), why=why):
            wide, tall = COIN
            self.picture.cells([(-wide / 2, -tall / 2, wide, tall)], fill="board", ink="ink", stroke="normal")
            for of in held:
                owner = (row + of) % DRAWN
                cell = wide / DRAWN
                self.picture.cells([(-wide / 2 + owner * cell, -tall / 2, cell, tall)], fill=OWNERS[owner])
