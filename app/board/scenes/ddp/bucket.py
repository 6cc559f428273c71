"""The DDP film's ring: a bucket in slices that travel once round as sums and once more as copies."""

import itertools

from app.board.film.composition import Composition, Flight
from app.board.film.lens import plain
from app.board.film.pieces import LETTERS, faded
from app.board.film.ring import DRAWN
from app.board.film.track import BLINK, Way
from app.board.film.wire import Wire
from app.board.scenes.ddp.case import LAYERS
from app.board.scenes.ddp.places import places
from app.board.scenes.ddp.story import CLEARED, HOPS, LAPS, Round, Story, quarter
from app.board.svg import OWNERS

STALE = 0.28  # of something that is still there and no longer true


class Bucket:
    """The bucket on all GPUs: two of all are seen, the first and the last."""

    def __init__(self, picture: Composition, story: Story):
        self.picture, self.story, self.case = picture, story, story.case
        self.at, self.lens, self.until = places(picture), story.lens, story.change[0][0]

    def draw(self) -> None:
        self._ring()
        for gpu in range(DRAWN):
            for row in range(DRAWN):
                for owner in range(DRAWN):
                    self._part(gpu, row, owner)
        for row in range(DRAWN):
            for hop in range(LAPS * HOPS):
                self._coin(row, hop)

    def _ring(self) -> None:
        """The wires beyond the slices, so that what rides is always on a drawn line."""
        picture, at = self.picture, self.at
        with picture.actor("ring", "wire", faded(Way(0, 0), self.lens, 0.0, self.until)):
            for gpu in range(DRAWN):
                for row in range(DRAWN):
                    for start, end in itertools.pairwise(at.hop(gpu, row)[1:-1]):
                        picture.line(*start, *end, ink="rule", stroke="thin", key=f"ring-{gpu}-{row}")

    # what lies in the bucket

    def _part(self, gpu: int, row: int, owner: int) -> None:
        """An owner's gradients within a slice, on one GPU: there from when they come, faded once they are sent on."""
        place, far = (gpu - row) % DRAWN, (owner - row) % DRAWN  # steps along the ring from where the slice begins
        way = Way(*self.at.seat(gpu, row, owner), here=False)
        for turn in self.story.rounds:
            self._comes(way, turn, gpu, row, place, far)
            if far <= place < HOPS:
                way.hide(self._begins(turn, place), BLINK, STALE).show(self._ends(turn, HOPS + place), 0.0)
            self._goes(way, turn)
        why = "gradients of the GPU whose letter they bear; faded: sent on, no longer the newest"
        with self.picture.actor(f"part-{gpu}-{row}-{owner}", "slice", way, why=why):
            self._tile(owner, self.at.column, self.at.bucket[2])

    def _comes(self, way: Way, turn: Round, gpu: int, row: int, place: int, far: int) -> None:
        seat = self.at.seat(gpu, row, (row + far) % DRAWN)
        if far == place:  # its own: they fall out of the layer that is computed
            fall = quarter(turn.falls, row)
            x, y, width, _ = self.at.strip(gpu, self._layer(turn, row))
            way.go(plain(fall[0][0], fall[0][0]), x + (width - self.at.column) / 2, y, eased=False)
            way.show(fall[0][0] + BLINK).go(fall, *seat)
        else:
            way.show(self._ends(turn, place - 1 if far < place else HOPS + place), 0.0)

    def _goes(self, way: Way, turn: Round) -> None:
        if turn is self.story.rounds[0]:
            way.hide(self.lens.ends(turn.wire.end), 0.6 * CLEARED, STALE).hide(self.story.rounds[1].falls[0] - BLINK)
        else:
            way.hide(self.story.own[0][0] + CLEARED, CLEARED)

    def _layer(self, turn: Round, row: int) -> int:
        """The layer whose gradients make this slice of the bucket."""
        share = (turn.bucket + (row + 0.5) / DRAWN) / self.story.buckets.k
        return LAYERS - 1 - int(share * LAYERS)

    def _begins(self, turn: Round, hop: int) -> float:
        return self.lens.begins(turn.hop(hop)[0])

    def _ends(self, turn: Round, hop: int) -> float:
        return self.lens.ends(turn.hop(hop)[1])

    def _tile(self, owner: int, width: float, height: float) -> None:
        picture = self.picture
        picture.cells([(0, 0, width, height)], fill=OWNERS[owner], ink="")
        picture.cells([(0, 0, width, height)], fill="hatched")
        picture.cells([(width / 2 - 8, 1, 16, height - 2)], fill=OWNERS[owner], ink="")  # clear of the hatching
        picture.text(width / 2, height / 2 + 5, LETTERS[owner], self.at.digit, anchor="middle", ink="letter")

    # what travels

    def _coin(self, row: int, hop: int) -> None:
        """A slice on its way: the columns that are filled say whose gradients it holds already."""
        gpu, (wide, tall) = (row + hop) % DRAWN, self.at.coin
        wire = Wire(f"{gpu}-{row}", self.at.hop(gpu, row))
        way, flights = Way(*wire.at(0), here=False), []
        sent = self.case.slice.value * (self.case.gpus - 1) / HOPS  # a drawn hop stands for several
        for turn in self.story.rounds:
            span = self.lens.span(*turn.hop(hop))
            way.show(span[0][0], 0.0).ride(span, wire).hide(span[-1][0], 0.0)
            flights.append(Flight(wire, span[0][0], span[-1][0], sent))
        with self.picture.actor(f"coin-{row}-{hop}", "coin", way, flights=flights):
            self.picture.cells([(-wide / 2, -tall / 2, wide, tall)], fill="board", ink="ink", stroke="normal")
            for far in range(min(hop + 1, DRAWN)):
                owner = (row + far) % DRAWN
                x = (owner - DRAWN / 2) * wide / DRAWN
                self.picture.cells([(x, -tall / 2, wide / DRAWN, tall)], fill=OWNERS[owner])
                self.picture.text(x + wide / DRAWN / 2, 5, LETTERS[owner], self.at.digit, anchor="middle", ink="letter")
