"""What every GPU, cluster, model, stack and precision of the catalogue keeps to: it is planned with, and drawn."""

import pytest
from fastapi.testclient import TestClient

from app.plan.form import FIELDS, document_of, query_of, state_of
from engine.catalog.calibration import fitted_calibration, software
from engine.catalog.hardware import cluster_named, cluster_names, gpu_named, gpu_names
from engine.catalog.model import catalogue
from engine.catalog.precision import PRECISIONS
from engine.estimate import estimate
from engine.language.inputs import Choice
from engine.language.refusal import Refusal
from engine.scenario import scenario_from

SIMPLE = {"tp": "1", "pp": "1", "cp": "1", "zero": "3"}  # a layout that every model runs in
NODES = 16


def shown(client: TestClient, **fields: str) -> None:
    """Both pages draw the plan: no field is refused, and the figures are there."""
    gpus = str(NODES * cluster_named(fields.get("cluster", "hgx-h100")).gpus_per_node)
    query = query_of(state_of({**SIMPLE, "gpus": gpus, "batch": gpus, **fields}))
    for page, figures in (("/plan", 3), ("/topology", 1)):
        answer = client.get(f"{page}?{query}")
        assert answer.status_code == 200 and "has no meaning" not in answer.text, (page, fields)
        assert answer.text.count("<svg") >= figures and "nan" not in answer.text.lower().split("<main")[1][:2000]


def options(field: str) -> list[str]:
    choice = FIELDS[field].input
    assert isinstance(choice, Choice)
    return [choice.text(option) for option in choice.options]


@pytest.mark.parametrize("name", cluster_names())
def test_a_cluster_is_planned_with_and_drawn(client: TestClient, name: str) -> None:
    assert name in options("cluster")
    shown(client, cluster=name)


@pytest.mark.parametrize("name", catalogue())
def test_a_model_is_planned_and_drawn(client: TestClient, name: str) -> None:
    assert name in options("model")
    shown(client, model=name)


@pytest.mark.parametrize("name", software())
def test_a_stack_is_planned_with_and_drawn(client: TestClient, name: str) -> None:
    assert name in options("stack")
    shown(client, stack=name)


@pytest.mark.parametrize("name", PRECISIONS)
def test_a_precision_is_planned_with_and_drawn_where_a_gpu_has_it(client: TestClient, name: str) -> None:
    assert name in options("precision")
    able = [each for each in cluster_names() if name in cluster_named(each).gpu.precisions]
    shown(client, precision=name, cluster=able[0])


@pytest.mark.parametrize("name", gpu_names())
def test_a_gpu_stands_in_a_cluster_and_computes_in_all_it_says(name: str) -> None:
    gpu = gpu_named(name)
    inside = [each for each in cluster_names() if cluster_named(each).gpu.name == name]
    assert inside, "nobody could plan with it"
    for precision in PRECISIONS:
        asked = {"model": "llama-3-8b", "cluster": inside[0], "gpus": 8, "precision": precision, "layout": {"pp": 1}}
        if precision in gpu.precisions:
            assert estimate(scenario_from(asked)).step.seconds.value > 0
        else:
            with pytest.raises(Refusal, match="has no such tensor cores"):
                scenario_from(asked)
    assert {"bf16", "fp16"} <= set(gpu.precisions), "what exports fall back to"


@pytest.mark.parametrize("name", software())
def test_a_stack_has_its_factors_for_every_gpu_and_precision(name: str) -> None:
    for gpu in gpu_names():
        for precision in PRECISIONS:
            assert fitted_calibration().stack_for(name, gpu, precision).stack == name


def test_no_factors_are_kept_for_a_stack_that_is_none() -> None:
    assert {row.stack for row in fitted_calibration().stacks} == set(software())


def test_the_usual_state_is_in_every_family() -> None:
    scenario = scenario_from(document_of(state_of({})))
    assert scenario.precision in PRECISIONS and scenario.stack_name in software()
