"""Pipeline parallelism: each rank holds some layers, and micro-batches pass through in the order of a schedule."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial

from app.runner import rules
from app.runner.description import Demo, Params
from app.runner.event_kinds import Check, RunEvent
from app.runner.knobs import BATCH, HEADS, HIDDEN, SEQUENCE, Value
from app.runner.pipe_timeline import disturbance, measured_timeline, pipe_steps
from app.runner.predict import BYTES_OF, FP32_BYTES, Calls, Held, Prediction, held, small_gpt
from app.runner.stage_parts import numbers, part_tensors
from app.runner.torch_schedules import TORCH_SCHEDULES, TorchSchedule
from engine.language.inputs import Amount, Choice
from engine.language.refusal import Refusal
from engine.lens.demo_model import TinyGpt
from engine.lens.demo_traffic import stream_bytes
from engine.pipeline.schedules import USUAL
from engine.pipeline.schedules.base import put_in
from engine.pipeline.schedules.placement import ChunkPlacement
from engine.pipeline.timeline import Timeline

LAYERS = Amount("layers", "layers", 8, 1, 8)
STEPS = Amount("steps", "steps", 3, 2, 5)
STAGES = Amount("pp", "stages, a rank each", 4, 2, 8)
MICRO_BATCHES = Amount("micro_batches", "micro-batches", 8, 1, 32)
SCHEDULE = Choice("schedule", "schedule", USUAL.torch_name, {name: s.own.title for name, s in TORCH_SCHEDULES.items()})
SLOT = Choice(
    "slot_ms", "forward of a full stage", 50, {0: "as fast as it goes", 20: "20 ms", 50: "50 ms", 100: "100 ms"}, "ms"
)
BUBBLE_TOLERANCE, TOLERANCE_SLOT_MS = 0.04, 50
UNEVEN = "a stage holds whole layers; the first also the embeddings, the last also the norm and the head"
SHAPES_FIRST = "in the first step stages tell each other the shapes of what they send: counts hold from the second on"
FILLED_UP = "each operation is filled up to its slot by sleeping, so that stages are equal and two cores suffice"
LONGER = "what sends and wake-ups add does not depend on the slot, so a longer slot comes nearer"
MOST_S = 20  # of slots, in all steps together
QUIET = 0.05  # share of a step that a rank may wait for a processor before the machine counts as disturbed
JOINED = "where PyTorch joins a forward and a backward, one runs after the other here: nothing is hidden on a CPU"


def chosen(params: Params) -> TorchSchedule:
    return TORCH_SCHEDULES[str(params["schedule"])]


def placed(params: Params) -> ChunkPlacement:
    """Which parts of the model each rank holds."""
    schedule = chosen(params)
    return schedule.own.placement(int(params["pp"]), schedule.chunks)


def expected_timeline(params: Params) -> Timeline:
    """The step as the engine simulates it, a forward of a full stage taking 1: the figure beside the measured one."""
    return chosen(params).timeline(int(params["pp"]), int(params["micro_batches"]))


def stage_held(model: TinyGpt, placement: ChunkPlacement) -> tuple[Held, ...]:
    """State of each rank: all of its parts."""
    each = [numbers(part_tensors(model, part, placement.positions)) for part in range(placement.positions)]
    mine = [sum(each[place.position] for place in places) for places in placement.places]
    return tuple(
        Held(part, held(b, model.parameters, len(mine), part), tuple(b * n for n in mine), UNEVEN)
        for part, b in BYTES_OF.items()
    )


def stage_calls(params: Params) -> tuple[Calls, ...]:
    """Sends and receives of each rank: what crosses from one rank to another, ranks with equal counts together."""
    placement, schedule, ranks = placed(params), chosen(params), int(params["pp"])
    size = stream_bytes(FP32_BYTES, int(params["batch"]), int(params["sequence"]), int(params["hidden"]))
    size //= int(params["micro_batches"])
    counts = {"send": [0] * ranks, "recv": [0] * ranks}
    for stage, ops in enumerate(schedule.own.ops(ranks, int(params["micro_batches"]), schedule.chunks)):
        for op in ops:
            place = placement.places[stage][op.chunk]
            to = {"F": placement.after(place), "W": None}.get(op.kind, placement.before(place))
            if to is not None and (other := placement.holders[to][0]) != stage:
                counts["send"][stage] += 1
                counts["recv"][other] += 1
    return tuple(calls for op, found in counts.items() for calls in _alike(op, found, size))


def _alike(op: str, counts: Sequence[int], size: int) -> list[Calls]:
    by_count: dict[int, list[int]] = defaultdict(list)
    for rank, count in enumerate(counts):
        by_count[count].append(rank)
    return [
        Calls("pp", op, count, count * size, 2, "later", tuple(on) if len(by_count) > 1 else None, SHAPES_FIRST)
        for count, on in by_count.items()
    ]


def bubble_rows(expected: float, slot_ms: int, events: Sequence[RunEvent]) -> list[Check]:
    """The measured bubble beside the simulated one, in the step that other work on this machine disturbed least.

    A machine that is busy with other work keeps ranks from the processors: the tolerance grows by as much as that can add.
    """
    timelines = {step: timeline for step in pipe_steps(events) if (timeline := measured_timeline(events, step))}
    if not timelines or not slot_ms:
        return []
    best = min(timelines, key=lambda step: timelines[step].bubble_of_total)
    seen, found, length_s = disturbance(events, best), timelines[best].bubble_of_total, timelines[best].makespan
    tolerance = BUBBLE_TOLERANCE * max(1.0, TOLERANCE_SLOT_MS / slot_ms)
    why = f"step {best}, the least disturbed; {LONGER}"
    if seen.late:
        why += f"; overrun: {seen.late} of {seen.ops} operations took over 5 % longer than their slot"
    if seen.queued_s > QUIET * length_s:
        tolerance += (1 - expected) * min(1.0, seen.queued_s / length_s)
        why += f"; disturbed: for {seen.queued_s:.2f} s a rank wanted a processor that others had"
    return [
        Check(
            "bubble",
            "bubble, next to the simulated schedule",
            round(expected, 4),
            round(found, 4),
            "share",
            round(tolerance, 4),
            abs(found - expected) <= tolerance,
            why,
        )
    ]


def predict(params: Params) -> Prediction:
    """State and traffic of each stage, and how long stages wait."""
    schedule, stages, m = chosen(params), int(params["pp"]), int(params["micro_batches"])
    expected = expected_timeline(params).bubble_of_total
    closed = schedule.own.closed.bubble_of_total
    return Prediction(
        held=stage_held(small_gpt(params), placed(params)),
        calls=stage_calls(params),
        terms=(closed.explain("bubble", **put_in(closed, p=stages, m=m, v=schedule.chunks)),) if closed else (),
        notes=(schedule.own.idea, FILLED_UP, SHAPES_FIRST, *((JOINED,) if schedule.own.paired else ())),
        judges=(partial(bubble_rows, expected, int(params["slot_ms"])),),
    )


def _schedule_runs(params: Mapping[str, Value]) -> Refusal | None:
    try:
        chosen(params).check(int(params["pp"]), int(params["micro_batches"]))
    except Refusal as refusal:
        return refusal
    return None


def _a_layer_each(params: Mapping[str, Value]) -> Refusal | None:
    layers, chunks = int(params["layers"]), chosen(params).chunks
    parts = chunks * int(params["pp"])
    if layers >= parts:
        return None
    why = f"{params['schedule']} cuts the model into {parts} parts; a part without a layer leaves its optimizer an empty list"
    near = str(parts) if parts <= LAYERS.high else f"layers = {LAYERS.high} with pp = {LAYERS.high // chunks}"
    return Refusal("layers", layers, f"needs at least {parts}: {why}", near, "too-few")


def _in_time(params: Mapping[str, Value]) -> Refusal | None:
    """A run is stopped after half a minute, however well it goes."""
    if _schedule_runs(params):
        return None
    step_s = expected_timeline(params).makespan * int(params["slot_ms"]) / 1e3
    wanted, fits = step_s * (int(params["steps"]) - 1), 1 + int(MOST_S / step_s) if step_s else STEPS.high
    if wanted <= MOST_S:
        return None
    rule = f"all but the first take {step_s:.1f} s each, and a run gets {MOST_S} s for that"
    near = str(fits) if fits >= STEPS.low else "a shorter slot_ms, or fewer micro_batches"
    return Refusal("steps", params["steps"], rule, near, "too-long")


DEMO = Demo(
    name="pp",
    title="Pipeline (PP)",
    idea="Each rank holds a few layers; micro-batches pass from rank to rank, and the schedule decides how long ranks wait.",
    axes=("pp",),
    knobs=(STAGES, SCHEDULE, MICRO_BATCHES, SLOT, HIDDEN, LAYERS, HEADS, SEQUENCE, BATCH, STEPS),
    rules=(_a_layer_each, rules.micro_batches_divide_batch(), _schedule_runs, _in_time),
    predict=predict,
    ranks=lambda params: int(params["pp"]),
)
