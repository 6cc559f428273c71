"""What a run will show, said before it runs: by the engine's formulas, with the reasons where a framework leaves the textbook.

A demo's own file (app/runner/demos/) puts a `Prediction` together from the parts here; verdict.py compares it with what the
ranks measured.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from app.runner.event_kinds import Check, Knobs, RunEvent
from app.runner.told import Told, ToldCalls, ToldFailure, ToldState, ToldTerm
from engine.language.formula import Formula, Term
from engine.lens.demo_model import TinyGpt
from engine.memory.state import held_bytes
from engine.network.collectives import all_to_all_sent_bytes, ring_all_gather_sent_bytes, ring_all_reduce_sent_bytes

FP32_LOSS, BF16_LOSS = 1e-5, 5e-3  # largest difference of a loss that rounding explains; measured 1e-6 and 1.1e-3
FP32_BYTES, BF16_BYTES = 4, 2
WIRE_SHARE, MESSAGE_BYTES = 0.01, 256  # what gloo adds to the payload, and to each message: five headers of 48 bytes
ADAM_BYTES = 2 * FP32_BYTES  # two moments a parameter
STEADY = ("every", "later", "steady")
GLOO_REDUCE_SCATTER = (
    "gloo's reduce-scatter is an all-reduce on the wire, twice what is needed (pytorch PR 118911); NCCL would send half"
)


Judge = Callable[[Sequence[RunEvent]], list[Check]]  # all events of a run -> further rows of its verdict


@dataclass(frozen=True)
class Held:
    """Bytes of one part of the training state.

    part       "parameters", "gradients" or "optimizer"
    term       the formula and its working
    per_rank   bytes that each rank really holds, where frameworks cut unevenly; None: the term, on all
    why        the two differ
    """

    part: str
    term: Term
    per_rank: tuple[int, ...] | None = None
    why: str = ""

    @property
    def expected(self) -> int | tuple[int, ...]:
        if self.per_rank and len(set(self.per_rank)) > 1:
            return self.per_rank
        return self.per_rank[0] if self.per_rank else round(self.term.value)


@dataclass(frozen=True)
class Calls:
    """Collectives of one kind and axis that each rank issues in a step.

    count, bytes   of a step, all together; a buffer counts at its larger side
    ranks          in the group
    when           "every" step, the "first", the "second", "later" ones (all but the first), "steady" ones (all but the second)
    on             ranks that issue them; None: all
    why            the framework does what the textbook does not
    """

    axis: str
    op: str
    count: int
    bytes: int
    ranks: int
    when: str = "every"
    on: tuple[int, ...] | None = None
    why: str = ""


@dataclass(frozen=True)
class Failure:
    """How a fault demo ends: with its victim as the root cause, and these words in the sentence that names it."""

    says: str
    why: str


@dataclass(frozen=True)
class Prediction:
    """What one run will show.

    loss_tolerance   largest difference to the single-process loss
    calls            empty where nothing is predicted
    terms            further formulas worth showing with their working
    notes            sentences that a page shows beside the verdict
    judges           rows that need the events of all ranks together
    """

    loss_tolerance: float = FP32_LOSS
    held: tuple[Held, ...] = ()
    calls: tuple[Calls, ...] = ()
    terms: tuple[Term, ...] = ()
    notes: tuple[str, ...] = ()
    failure: Failure | None = None
    more: tuple["Measurable", ...] = field(default=())
    judges: tuple["Judge", ...] = ()

    @property
    def wire_bytes(self) -> float | None:
        """Bytes that a rank sends in a later step over gloo's sockets, in the mean over all ranks."""
        steady = [calls for calls in self.calls if calls.when in STEADY]
        return sum(map(gloo_sent_bytes, steady)) if steady and all(calls.on is None for calls in steady) else None

    @property
    def wire_tolerance_bytes(self) -> float:
        """What gloo's own headers may add to that."""
        messages = sum(2 * (calls.ranks - 1) * calls.count for calls in self.calls if calls.when in STEADY)
        return WIRE_SHARE * (self.wire_bytes or 0.0) + MESSAGE_BYTES * messages

    @property
    def wire_why(self) -> str:
        scatters = any(calls.op == "reduce_scatter" for calls in self.calls)
        return GLOO_REDUCE_SCATTER if scatters else "a ring sends (n-1)/n of the buffer for each half of an all-reduce"

    def told(self) -> Told:
        """The prediction as the run.started event gives it."""
        return Told(
            loss_tolerance=self.loss_tolerance,
            state=tuple(
                ToldState(part=held.part, bytes=held.expected, why=held.why, **held.term.document())
                for held in self.held
            ),
            calls=tuple(
                ToldCalls(
                    axis=calls.axis,
                    op=calls.op,
                    n=calls.count,
                    bytes=calls.bytes,
                    ranks=calls.ranks,
                    when=calls.when,
                    why=calls.why,
                    on=calls.on,
                )
                for calls in self.calls
            ),
            wire_bytes=self.wire_bytes,
            terms=tuple(ToldTerm(**term.document()) for term in self.terms),
            notes=self.notes,
            fails=self.failure and ToldFailure(self.failure.says, self.failure.why),
        )


@dataclass(frozen=True)
class Measurable:
    """A further row of the verdict: a number that a `measure` event of this name gives.

    at_least   the measured value may be larger
    """

    name: str
    label: str
    predicted: float
    unit: str
    tolerance: float = 0.0
    at_least: bool = False
    why: str = ""


def small_gpt(params: Knobs) -> TinyGpt:
    """The model that these knobs ask for."""
    return TinyGpt(int(params["hidden"]), int(params["layers"]), int(params["sequence"]))


def held_everywhere(model: TinyGpt, parameters: Term | None = None) -> tuple[Held, ...]:
    """All of the state on every rank, as DDP keeps it.

    parameters   that a rank holds; those of the model, unless given
    """
    N = parameters or model.parameters
    return tuple(Held(part, held(b, N, 1, part)) for part, b in BYTES_OF.items())


BYTES_OF = {"parameters": FP32_BYTES, "gradients": FP32_BYTES, "optimizer": ADAM_BYTES}


def held(b: int, P: Term | float, D: int, label: str) -> Term:
    """Bytes of one part of the state, by the formula that the lessons use."""
    return held_bytes.explain(label, b=b, P=P, D=D)


GLOO_SENDS: dict[str, Formula] = {
    "all_reduce": ring_all_reduce_sent_bytes,
    "reduce_scatter": ring_all_reduce_sent_bytes,
    "all_gather": ring_all_gather_sent_bytes,
    "broadcast": ring_all_gather_sent_bytes,  # one rank's buffer reaches n-1 others: so much for each in the mean
    "all_to_all": all_to_all_sent_bytes,
}


def gloo_sent_bytes(calls: Calls) -> float:
    """Bytes that gloo sends for them, in the mean over the ranks of the group.

    >>> gloo_sent_bytes(Calls("dp", "all_reduce", count=1, bytes=1000, ranks=4))
    1500.0
    """
    if calls.op in GLOO_SENDS:
        return float(GLOO_SENDS[calls.op](S=calls.bytes, n=calls.ranks))
    return float(calls.bytes) if calls.op == "send" else 0.0


def total(calls: Iterable[Calls], op: str) -> int:
    """Bytes of all collectives of this kind."""
    return sum(c.bytes for c in calls if c.op == op)


def rounded(values: Sequence[float]) -> tuple[int, ...]:
    return tuple(round(value) for value in values)
