"""What may be offered at all: a schedule that the software of a plan runs."""

from engine.catalog.calibration import software
from engine.pipeline.schedules import Schedule
from engine.scenario import Scenario


def runs_here(schedule: Schedule, scenario: Scenario) -> bool:
    """Whether the software that runs a plan has this schedule.

    >>> from engine.pipeline.schedules import schedule_named
    >>> from engine.scenario import scenario_from
    >>> card = scenario_from({"model": "llama-3-70b", "cluster": "hgx-h100", "gpus": 1024})
    >>> runs_here(schedule_named("interleaved"), card), runs_here(schedule_named("zb-v"), card)
    (True, False)
    """
    return bool(schedule.torch_name) if software()[scenario.stack_name].torch else schedule.megatron
