"""Three axes on the wires of a real floor: one step of the whole machine, from the floor into one layer and back."""

from app.board.scenes.base import Frame, Scene, Values, stills
from app.board.scenes.layout.case import GPUS, MOST_STAGES, NICS, misconceptions, numbers, question
from app.board.scenes.layout.film import TITLE, film
from engine.language.inputs import Amount, Choice

KNOBS = (
    Choice("order", "rank order", "tp-dp-pp", {"tp-dp-pp": "TP, DP, PP", "tp-pp-dp": "TP, PP, DP"}),
    Amount("tp", "tensor parallel", 8, 1, 64, scale="doubling"),
    Amount("pp", "pipeline stages", 4, 1, MOST_STAGES, scale="doubling"),
    Choice("nic", "NIC of a GPU", NICS[0], {rate: f"{rate} Gb/s" for rate in NICS}, side_by_side=True),
    Amount("oversubscription", "narrow spine", 2, 1, 7, unit="times"),
    Amount("you", "you are rank", 74, 0, GPUS - 1),
)


def frames(values: Values) -> tuple[Frame, ...]:
    """The stops of the film, in order."""
    return stills(film(values))


LAYOUT = Scene(
    name="layout",
    title=TITLE,
    sentence="Give the shortest wires to the group that talks most; the order of the ranks is enough to do it.",
    knobs=KNOBS,
    frames=frames,
    question=question,
    numbers=numbers,
    misconceptions=misconceptions,
    real="3d",
    film=film,
    proof="gradients meet",
)
