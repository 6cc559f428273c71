"""Operations that follow each other touch in the drawing: only waiting looks like waiting."""

import re
from itertools import pairwise

import pytest

from app.board.figures.pipeline_timeline import pipeline_timeline
from app.board.scenes import SCENES
from app.board.scenes.pp.case import Case
from engine.pipeline.schedules import SCHEDULES
from engine.pipeline.simulator import even_durations, simulate
from engine.pipeline.timeline import Timeline

HAIR = 0.25  # of the drawing: two coordinates rounded to a tenth
BOX = re.compile(r"m(-?[\d.]+) (-?[\d.]+)h(-?[\d.]+)v(-?[\d.]+)h-?[\d.]+z")
MOVER = re.compile(
    r'<g class="mover op-[^"]*" data-key="[^"]*-shape"\s*transform="translate\((?P<x>[\d.]+) (?P<y>[\d.]+)\)">'
    r'<path[^>]*d="M0 0h(?P<width>[\d.]+)v[\d.]+h-[\d.]+z"'
)
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


def test_the_scenes_timeline_leaves_no_air_between_operations() -> None:
    scene = SCENES["pp"]
    values = scene.values({})
    frame = next(frame for frame in scene.frames(values) if frame.name == "1F1B")
    boxes: Boxes = {}
    for found in MOVER.finditer(frame.figure.svg()):
        x = float(found["x"])
        boxes.setdefault(float(found["y"]), []).append((x, x + float(found["width"])))
    assert touches(Case(values).run("1f1b").timeline, boxes) > 20
