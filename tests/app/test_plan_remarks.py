"""What stands under the planner's timeline where its length is not proven."""

from dataclasses import replace

from app.plan.remarks import pipeline_remark
from engine.estimate import Estimate
from engine.scenario import scenario_from

LONG = {"tp": 8, "pp": 16, "dp": 1, "schedule": "dualpipev", "micro_batches": 4096}


def test_a_step_whose_pace_is_not_proven_says_so() -> None:
    found = Estimate(scenario_from({"model": "llama-3-405b", "cluster": "hgx-h100", "gpus": 128, "layout": LONG}))
    assert pipeline_remark(found).endswith("4,096 micro-batches")
    outline = replace(found.step.outline, may_exceed=0.02, simulated=40)
    found.__dict__["step"] = replace(found.step, outline=outline)
    assert pipeline_remark(found).endswith("pace of 40 of them: up to 2 % longer")
