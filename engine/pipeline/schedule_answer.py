"""A pipeline schedule with equal stages, as the document that programs get."""

from typing import Any

from pydantic import Field

from engine.language.document import Count, Document, Real, Whole, read
from engine.language.refusal import Refusal
from engine.pipeline.schedules import SCHEDULES, USUAL, schedule_named
from engine.pipeline.simulator import run

MOST_INTERVALS = 200_000  # about 20 MB of text, made in about a second
LONGEST = 1e9

NAMES = {
    "layout.schedule": "name",
    "layout.pp": "stages",
    "layout.micro_batches": "micro_batches",
    "layout.vp": "chunks",
}


class ScheduleQuestion(Document, frozen=True):
    """A schedule, its size, and the times of one micro-batch on a full stage, in any one unit."""

    name: str = Field(description="of the schedule", examples=[USUAL.name], json_schema_extra={"enum": list(SCHEDULES)})
    stages: Whole = Count(le=1024, meaning="pipeline stages")
    micro_batches: Whole = Count(le=1_048_576, meaning="micro-batches per pipeline and step")
    chunks: Whole = Count(1, ge=1, le=256, meaning="chunks per stage of the interleaved schedule")
    forward: Real = Field(1.0, ge=0, le=LONGEST, description="time of a forward")
    backward_input: Real = Field(1.0, ge=0, le=LONGEST, description="time of the input-gradient part of a backward")
    backward_weight: Real = Field(1.0, ge=0, le=LONGEST, description="time of the weight-gradient part of a backward")


def schedule_answer(given: dict[str, object]) -> dict[str, Any]:
    """The timeline of a schedule.

    given   the fields of ScheduleQuestion, as numbers or as text

    >>> answer = schedule_answer({"name": "1f1b", "stages": "4", "micro_batches": "16"})
    >>> round(answer["bubble_of_total"], 4), answer["in_flight"], len(answer["intervals"])
    (0.1579, [4.0, 3.0, 2.0, 1.0], 128)
    """
    question = read(
        ScheduleQuestion, {name: value if name == "name" else _number(value) for name, value in given.items()}
    )
    try:
        _refuse_long(question)
        timeline = run(**question.model_dump())
    except Refusal as refusal:
        field = NAMES.get(refusal.field, refusal.field)
        raise Refusal(field, refusal.value, refusal.rule, refusal.nearest, refusal.code) from None
    return {
        "stages": question.stages,
        "micro_batches": question.micro_batches,
        "makespan": float(timeline.makespan),
        "bubble_of_total": float(timeline.bubble_of_total),
        "bubble_of_ideal": float(timeline.bubble_of_ideal),
        "in_flight": [float(held) for held in timeline.in_flight],
        "intervals": [interval._asdict() for interval in timeline.intervals],
    }


def _refuse_long(question: ScheduleQuestion) -> None:
    schedule = schedule_named(question.name)
    schedule.check(question.stages, question.micro_batches, question.chunks)
    each = question.stages * schedule.chunks_used(question.chunks) * (3 if schedule.splits_backward else 2)
    intervals, most = each * question.micro_batches, MOST_INTERVALS // each
    if intervals > MOST_INTERVALS:
        rule = f"the timeline would have {intervals:,} intervals; at most {MOST_INTERVALS:,} are drawn"
        near = most - most % question.stages or most  # a multiple of the stages runs under every schedule
        raise Refusal("micro_batches", question.micro_batches, rule, str(near) if near else None, "too-long")


def _number(value: object) -> object:
    """Text that is a number as that number; anything else as it is, to be refused."""
    if not isinstance(value, str):
        return value
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value
