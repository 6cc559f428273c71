"""Operations that follow each other touch in the drawing: only waiting looks like waiting."""

import re
from itertools import pairwise

import pytest

from app.board.figures.pipeline_timeline import pipeline_timeline
from app.board.scenes.pp.case import NAMES, Case
from app.board.scenes.pp.film import film
from app.board.scenes.pp.scene import PP
from engine.pipeline.schedules import SCHEDULES
from engine.pipeline.simulator import even_durations, simulate
from engine.pipeline.timeline import Timeline

HAIR = 0.25  # of the drawing: two coordinates rounded to a tenth
BOX = re.compile(r"m(-?[\d.]+) (-?[\d.]+)h(-?[\d.]+)v(-?[\d.]+)h-?[\d.]+z")
CELL = re.compile(r"M(-?[\d.]+) [\d.]+h([\d.]+)v")
Boxes = dict[float, list[tuple[float, float]]]  # left and right edges, by the top of their row


def touches(timeline: Timeline, boxes: Boxes) -> int:
    """How many pairs of operations without a wait between them were seen to touch; none may leave air."""
    rows = [sorted(boxes[top]) for top in sorted(boxes)]
    assert [len(row) for row in rows] == [len(row) for row in timeline.by_stage]
    seen = 0
    for ops, row in zip(timeline.by_stage, rows, strict=True):
        for (one, other), ((_, right), (left, _)) in zip(pairwise(ops), pairwise(row), strict=True):
            if other.start - one.end < 1e-9:
                assert abs(left - right) <= HAIR, (one, other)
                seen += 1
    return seen


@pytest.mark.parametrize("name", ["1f1b", "gpipe", "zb-h1"])
def test_the_planners_timeline_leaves_no_air_between_operations(name: str) -> None:
    schedule = SCHEDULES[name]
    placement = schedule.placement(4, 1)
    timeline = simulate(schedule.ops(4, 8, 1), placement, even_durations(placement, 1.0, 1.0, 1.0), 0.0)
    svg = pipeline_timeline(timeline).svg()
    boxes: Boxes = {}
    for data in re.findall(r' d="M0 0(m[^"]+)"', svg):
        x = y = 0.0
        for dx, dy, width, _ in BOX.findall(data):
            x, y = x + float(dx), y + float(dy)
            boxes.setdefault(round(y, 1), []).append((x, x + float(width)))
    assert touches(timeline, boxes) > 20


@pytest.mark.parametrize("name", NAMES)
def test_the_films_lanes_leave_no_air_between_operations(name: str) -> None:
    values = PP.values({"schedule": name})
    boxes: Boxes = {}
    for actor in film(values).wide.actors:
        if actor.key.startswith("lane-"):
            work = actor.drawing[actor.drawing.index('<g class="op-') :]  # waits come first
            cells = [(float(x), float(width)) for x, width in CELL.findall(work)]
            boxes[float(actor.key.removeprefix("lane-"))] = [(x, x + width) for x, width in cells]
    assert touches(Case(values).played.timeline, boxes) > 20
