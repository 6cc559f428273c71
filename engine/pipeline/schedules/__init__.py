"""Pipeline schedules, one small file each. To add one: copy the smallest sibling and list it here; the page, the CLI
and the tests read this list."""

from engine.language.choice import choose
from engine.pipeline.schedules.base import Op, Schedule, Shape
from engine.pipeline.schedules.dualpipe import DUALPIPE
from engine.pipeline.schedules.dualpipev import DUALPIPEV
from engine.pipeline.schedules.gpipe import GPIPE
from engine.pipeline.schedules.interleaved import INTERLEAVED
from engine.pipeline.schedules.one_f_one_b import ONE_F_ONE_B
from engine.pipeline.schedules.placement import Place, Placement
from engine.pipeline.schedules.zbv import ZB_V
from engine.pipeline.schedules.zero_bubble import ZB_H1, ZB_H2

SCHEDULES: dict[str, Schedule] = {
    schedule.name: schedule for schedule in (GPIPE, ONE_F_ONE_B, INTERLEAVED, ZB_H1, ZB_V, DUALPIPE, DUALPIPEV)
}
SHOWN_ONLY: dict[str, Schedule] = {ZB_H2.name: ZB_H2}  # drawn in a scene, never chosen by a layout

__all__ = [
    "SCHEDULES",
    "SHOWN_ONLY",
    "Op",
    "Place",
    "Placement",
    "Schedule",
    "Shape",
    "schedule_named",
]


def schedule_named(name: str) -> Schedule:
    """The schedule of this name, or a Refusal with the name most like it.

    >>> schedule_named("1f1b").title
    '1F1B'
    """
    return choose("layout.schedule", name, SCHEDULES, "there is no such schedule; there are {names}")
