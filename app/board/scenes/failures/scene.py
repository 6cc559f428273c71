"""Failures: a slow GPU, a crash and a hang, the way back, how often to save, half a year by lot, what the loss shows."""

from app.board.scenes.base import Frame, Scene, Values, stills
from app.board.scenes.failures.case import misconceptions, numbers, question
from app.board.scenes.failures.film import TITLE, film
from engine.catalog.calibration import fitted_calibration
from engine.language.inputs import Amount

KNOBS = (
    Amount("gpus", "GPUs", 1024, 16, 65_536, scale="doubling"),
    Amount(
        "hours",
        "hours between failures of a GPU",
        fitted_calibration().factor("gpu_hours_between_failures"),
        5000,
        200_000,
        step=500,
        unit="h",
    ),
    Amount("stall", "stall to save", fitted_calibration().factor("checkpoint_stall_s"), 1, 600, unit="s"),
    Amount("interval", "between checkpoints", 76.5, 1, 1440, step=0.5, unit="min", whole=False),
)


def frames(values: Values) -> tuple[Frame, ...]:
    """The stops of the film, in order."""
    return stills(film(values))


FAILURES = Scene(
    name="failures",
    title=TITLE,
    sentence="At this size failures are a rate: what buys goodput is noticing soon and saving cheaply.",
    knobs=KNOBS,
    frames=frames,
    question=question,
    numbers=numbers,
    misconceptions=misconceptions,
    real="kill-rank",
    film=film,
    proof="half a year",
)
