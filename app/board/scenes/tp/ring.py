"""Collectives of the tensor parallel film: coins that hop round a ring, and which piece is whole where and when."""

from collections.abc import Iterable
from dataclasses import dataclass

from app.board.film.composition import Composition
from app.board.film.lens import Lens
from app.board.film.pieces import coin
from app.board.film.wire import Wire
from app.board.scenes.tp.places import Places
from engine.lens.turns import Turn, ring_hops


@dataclass(frozen=True)
class Gesture:
    """One collective as it is drawn: every GPU sends one piece to the next, so many times.

    of        the matrix that it makes whole: X, Y or Z
    turn      when, in engine time
    scatters  parts are summed on the way round, until each owner has its piece whole
    gathers   whole pieces are passed round
    sent      by each GPU   [bytes]
    """

    of: str
    turn: Turn
    scatters: bool
    gathers: bool
    sent: float

    def halves(self, n: int) -> tuple[tuple[tuple[float, float], ...], tuple[tuple[float, float], ...]]:
        """When each hop begins and ends: those of the scatter, then those of the gather."""
        each = n - 1
        hops = ring_hops(self.turn.start, self.turn.end, each * (self.scatters + self.gathers))
        return (hops[:each], hops[each:]) if self.scatters else ((), hops)

    def whole_at(self, gpu: int, piece: int, n: int) -> float | None:
        """From when on a GPU has a piece whole; nothing: it never gets it."""
        scatter, gather = self.halves(n)
        if gpu == piece:
            return scatter[-1][1] if scatter else self.turn.start
        return gather[(gpu - piece) % n - 1][1] if gather else None

    def rides(self, gpu: int, piece: int, n: int) -> list[tuple[float, float]]:
        """When a piece leaves a GPU for the next one."""
        scatter, gather = self.halves(n)
        turns = ((scatter, (gpu - piece - 1) % n), (gather, (gpu - piece) % n))
        return [hops[at] for hops, at in turns if at < len(hops)]


def draw_coins(picture: Composition, at: Places, gestures: Iterable[Gesture], lens: Lens) -> None:
    """All pieces on their way, of all collectives; one actor for each wire and piece."""
    flown = [gesture for gesture in gestures if gesture.turn.end > gesture.turn.start]
    for of in ("X", "Y", "Z"):
        for gpu in at.drawn:
            wire = Wire(f"{of}-{gpu}", at.hop(gpu, of))
            for piece in at.drawn:
                rides = [
                    (start, end, wire, gesture.sent / sum(map(len, gesture.halves(at.n))))
                    for gesture in flown
                    if gesture.of == of
                    for start, end in gesture.rides(gpu, piece, at.n)
                ]
                if rides:
                    coin(picture, f"coin-{of}-{gpu}-{piece}", piece, sorted(rides, key=lambda r: r[0]), lens)
