"""Pipeline schedules, one small file each. To add one: copy the smallest sibling and list it here; the page, the CLI
and the tests read this list."""

from collections.abc import Callable

from engine.language.choice import choose
from engine.pipeline.schedules.base import Op, Schedule, Shape
from engine.pipeline.schedules.dualpipe import DUALPIPE
from engine.pipeline.schedules.dualpipev import DUALPIPEV
from engine.pipeline.schedules.gpipe import GPIPE
from engine.pipeline.schedules.interleaved import INTERLEAVED
from engine.pipeline.schedules.one_f_one_b import ONE_F_ONE_B
from engine.pipeline.schedules.placement import ChunkPlacement, Place
from engine.pipeline.schedules.zbv import ZB_V
from engine.pipeline.schedules.zero_bubble import ZB_H1, ZB_H2

SCHEDULES: dict[str, Schedule] = {
    schedule.name: schedule for schedule in (GPIPE, ONE_F_ONE_B, INTERLEAVED, ZB_H1, ZB_V, DUALPIPE, DUALPIPEV)
}
USUAL = ONE_F_ONE_B  # what a layout runs that says nothing, and a framework that lacks what it says
SHOWN_ONLY: dict[str, Schedule] = {ZB_H2.name: ZB_H2}  # drawn in a scene, never chosen by a layout

__all__ = [
    "SCHEDULES",
    "SHOWN_ONLY",
    "USUAL",
    "ChunkPlacement",
    "Op",
    "Place",
    "Schedule",
    "Shape",
    "nearest_that",
    "schedule_named",
]


def schedule_named(name: str) -> Schedule:
    """The schedule of this name, or a Refusal with the name most like it.

    >>> schedule_named("1f1b").title
    '1F1B'
    """
    return choose("layout.schedule", name, SCHEDULES, "there is no such schedule; there are {names}")


def nearest_that(has: Callable[[Schedule], object], schedule: Schedule) -> Schedule:
    """What a framework runs: the schedule itself where it has it, else what stands in for it, at last the usual one.

    >>> nearest_that(lambda schedule: schedule.megatron, schedule_named("dualpipe")).title
    '1F1B'
    """
    while not has(schedule) and schedule != USUAL:
        schedule = schedule.stand_in or USUAL
    return schedule
