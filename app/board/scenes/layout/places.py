"""Where things are in the film of the whole machine: one region for what the camera sees, rulers of time below it."""

from dataclasses import dataclass

from app.board.figures.floor import Box, Floor
from app.board.figures.topology_floor import floor_of
from app.board.film.composition import Composition
from app.board.film.lens import Span, plain
from app.board.film.track import Way
from app.board.pen import Point
from app.board.scenes.layout.case import GPUS
from engine.catalog.hardware import Cluster

GROWN, SHRUNK = 1.5, 0.66  # of what leaves or enters while the camera goes in or out


@dataclass(frozen=True)
class Places:
    """Geometry of one composition.

    region   what the camera sees
    rulers   y of the step, of the layers of an operation, of one layer
    axis     left and right end of the rulers
    floor    region of the floor in it
    """

    region: Box
    rulers: tuple[float, float, float]
    axis: tuple[float, float]
    floor_box: Box

    def floor(self, cluster: Cluster) -> Floor:
        box = self.floor_box
        return floor_of(cluster, GPUS, box.x, box.y, box.width, box.height)

    @property
    def middle(self) -> Point:
        return self.region.middle, self.region.y + self.region.height / 2


WIDE = Places(Box(0, 0, 720, 262), (276, 322, 362), (92, 708), Box(60, 4, 600, 240))
TALL = Places(Box(0, 0, 360, 350), (378, 434, 482), (62, 354), Box(4, 12, 352, 318))


def places(picture: Composition) -> Places:
    return WIDE if picture.is_wide else TALL


def shot(at: Places, enters: Span | None, leaves: Span | None, *, out: bool = False) -> Way:
    """The way of what one shot shows: it grows into the region, and out of it as the camera goes on.

    enters   passage in which it comes; none: it is there from the beginning
    leaves   passage in which it goes; none: it stays
    out      it goes while the camera goes out
    """
    start = SHRUNK if enters else 1.0
    way = Way(*at.middle, here=not enters, wide=start, tall=start)
    if enters:
        way.show(enters[-1][0], (enters[-1][0] - enters[0][0]) * 0.7).grow(enters, wide=1, tall=1, eased=True)
    if leaves:
        end = SHRUNK if out else GROWN
        way.hide(leaves[0][0], (leaves[-1][0] - leaves[0][0]) * 0.5)
        way.grow(leaves, wide=end, tall=end, eased=True)
    return way


def again(way: Way, enters: Span, leaves: Span) -> Way:
    """The same shot once more, on the camera's way out."""
    way.grow(((enters[0][0], 0.0), (enters[0][0], 1.0)), wide=GROWN, tall=GROWN)
    way.show(enters[-1][0], (enters[-1][0] - enters[0][0]) * 0.7).grow(enters, wide=1, tall=1, eased=True)
    return way.hide(leaves[0][0], 0.3)


def framed(picture: Composition, key: str, focus: Box, zoom: Span, at: Places) -> None:
    """The dashed frame of the next shot: it stands around its place, then grows to the whole region."""
    start, end = zoom[0][0], zoom[-1][0]
    way = Way(focus.x, focus.y, here=False, wide=focus.width, tall=focus.height).show(max(0.1, start - 0.8), 0.3)
    way.go(plain(start, end), at.region.x, at.region.y).grow(
        plain(start, end), wide=at.region.width, tall=at.region.height, eased=True
    )
    with picture.actor(key, "frame", way.hide(end - 0.05, 0.2)):
        picture.cells([(0, 0, 1, 1)], ink="pp", stroke="dashed")
