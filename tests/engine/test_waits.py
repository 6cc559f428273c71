"""Why a stage idles, for every schedule: the reasons are all of its idle time, and each names what really comes last."""

import pytest

from engine.pipeline.schedules import SCHEDULES, SHOWN_ONLY
from engine.pipeline.simulator import even_durations, simulate
from engine.pipeline.waits import waits

EVERY = {**SCHEDULES, **SHOWN_ONLY}


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("send", [0.0, 0.3])
@pytest.mark.parametrize("weight", [0.25, 1.0, 2.0])
def test_every_idle_moment_of_every_schedule_has_its_reason(name: str, send: float, weight: float) -> None:
    """Joined operations too: they wait for what their partner needs, and give when both are done."""
    schedule = EVERY[name]
    chunks = 2 if schedule.takes_chunks else 1
    orders, placement = schedule.ops(4, 12, chunks), schedule.placement(4, chunks)
    timeline = simulate(orders, placement, even_durations(placement, 1.0, 1.0, weight), send)
    told = waits(orders, placement, timeline, send)
    for stage in range(4):
        mine = [wait for wait in told if wait.stage == stage]
        idle = sum(end - start for start, end in timeline.idle_gaps(stage))
        assert sum(wait.end - wait.start for wait in mine) == pytest.approx(idle)
        assert all(wait.missing is None or wait.missing.micro_batch < 12 for wait in mine)
