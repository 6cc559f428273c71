"""Where things are in the pipeline film: stages side by side, stacks under them, lanes of engine time below."""

from dataclasses import dataclass

from app.board.film.composition import Composition
from app.board.film.pieces import Axis

UNDER = 22.0  # a row of words


@dataclass(frozen=True)
class Places:
    """Geometry of one composition.

    sides    left and right end of the pipe and of all lanes
    boxes    top and bottom of the stages' boxes
    marble   its radius
    stacks   top and base of the stacks
    lanes    top of the lanes of the step; `room` is the height there is for them
    race     top of the race's first lane; `course` is the height there is for both fields of lanes
    most     pitch of the lanes where there are few
    number   style of the numbers in cells, marbles and pills
    """

    sides: tuple[float, float]
    boxes: tuple[float, float]
    marble: float
    stacks: tuple[float, float]
    lanes: float
    room: float
    race: float
    course: float
    most: float
    number: str

    def axis(self, start: float, end: float) -> Axis:
        return Axis(*self.sides, start, end)

    def wall(self, stage: int, stages: int) -> float:
        """x of the wall on the left of a stage."""
        left, right = self.sides
        return left + (right - left) * stage / stages

    @property
    def forward(self) -> float:
        """y of the lane in which forwards run."""
        top, bottom = self.boxes
        return top + 0.27 * (bottom - top)

    @property
    def backward(self) -> float:
        top, bottom = self.boxes
        return top + 0.73 * (bottom - top)

    def pitch(self, stages: int) -> float:
        """From a stage's lane to the next one's: the same in the step and in the race."""
        return min(self.most, self.room / stages, (self.course - 4 * UNDER) / (2 * stages))

    def field(self, second: bool, stages: int) -> float:
        """Top of one of the race's fields."""
        return self.race + second * (self.pitch(stages) * stages + 2 * UNDER + 2)


WIDE = Places((54, 708), (26, 104), 13, (116, 196), 216, 132, 34, 344, 33, "number")
TALL = Places((26, 352), (26, 114), 10, (136, 232), 260, 196, 40, 446, 42, "cell")


def places(picture: Composition) -> Places:
    return WIDE if picture.is_wide else TALL
