"""The planner's three figures for an estimate, with the addresses of their workings: one place for the page, the lessons
and the gallery."""

from app.board.figures.memory_bars import memory_bars
from app.board.figures.pipeline_timeline import pipeline_timeline
from app.board.figures.waterfall import waterfall
from app.board.linked import LinkedFigure
from app.plan.form import document_of, query_of, state_of
from engine.estimate import Estimate, estimate
from engine.scenario import scenario_from


def memory_figure(
    found: Estimate, query: str, *, narrow: bool = False, binary: bool = True, name: str = "memory-bars"
) -> LinkedFigure:
    """What one GPU of each stage holds."""

    def link(stage: int, kind: str) -> str:
        return f"/plan/working/memory.stages.{stage}.{kind}_bytes?{query}"

    return memory_bars(found.stages, found.capacity_bytes, narrow=narrow, link=link, binary=binary, name=name)


def pipeline_figure(
    found: Estimate, *, narrow: bool = False, quoted: bool = True, name: str = "pipeline-timeline"
) -> LinkedFigure:
    """One step through the pipe, with the bubble of the schedule by itself."""
    return pipeline_timeline(
        found.step.timeline,
        bubble_of_total=found.alone.bubble_of_total,
        bubble_of_ideal=found.alone.bubble_of_ideal,
        micro_batches=found.scenario.layout.micro_batches,
        narrow=narrow,
        quoted=quoted,
        name=name,
    )


def time_figure(found: Estimate, query: str, *, narrow: bool = False, name: str = "waterfall") -> LinkedFigure:
    """Where the time goes."""

    def link(part: str) -> str:
        return f"/plan/working/lost.{part.partition(',')[0].lower()}?{query}"

    return waterfall(found, narrow=narrow, link=link, name=name)


def plan_figures() -> tuple[LinkedFigure, ...]:
    """All three for the question's own layout."""
    state = state_of({})
    found, query = estimate(scenario_from(document_of(state))), query_of(state)
    return memory_figure(found, query), pipeline_figure(found), time_figure(found, query)
