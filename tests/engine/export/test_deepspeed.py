"""Exports for DeepSpeed against DeepSpeed's own configuration and its launcher's own parser."""

import importlib
import inspect
import json
import re
import shlex
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings

from engine.export import export
from engine.export.beside import KEY
from engine.scenario import Scenario
from tests.conftest import Framework
from tests.engine.export.cases import SCENARIOS, usual

USUAL = usual()
Configured = Callable[..., Any]  # DeepSpeed's own type, which may not be installed


@pytest.fixture(scope="module")
def configured(framework: Framework) -> Iterator[Configured]:
    """Gives DeepSpeed's configuration of a scenario's JSON, with as many data-parallel ranks as the layout has."""
    config = framework("deepspeed.runtime.config")
    ranks: dict[str, int] = {}
    patch = pytest.MonkeyPatch()
    patch.setattr(config, "dist", SimpleNamespace(get_rank=lambda: 0, get_world_size=lambda: ranks["all"]))

    def make(scenario: Scenario, **changes: Any) -> Any:
        ranks["all"] = scenario.gpus
        mpu = SimpleNamespace(get_data_parallel_world_size=lambda: scenario.layout.data_width)
        return config.DeepSpeedConfig({**json.loads(export(scenario, "deepspeed").files[0].text), **changes}, mpu=mpu)

    yield make
    patch.undo()


@pytest.mark.parametrize("name", USUAL)
def test_deepspeed_takes_the_file(name: str, configured: Configured) -> None:
    scenario = USUAL[name]
    found, layout = configured(scenario), scenario.layout
    assert found.train_batch_size == layout.global_batch and found.gradient_accumulation_steps == layout.micro_batches
    assert found.zero_config.stage == layout.zero and found.bfloat16_config.enabled
    assert (found.tensor_parallel_config.autotp_size or 1) == layout.tp
    assert found.expert_parallel_config.autoep_size == layout.ep
    assert found.grad_accum_dtype == ("fp32" if layout.gradient_bytes == 4 else "bf16")


@settings(max_examples=100)
@given(scenario=SCENARIOS)
def test_deepspeed_takes_every_layout(configured: Configured, scenario: Scenario) -> None:
    configured(scenario)


def test_deepspeed_refuses_a_wrong_name_and_a_batch_that_does_not_multiply(configured: Configured) -> None:
    with pytest.raises(Exception, match="stages"):
        configured(USUAL["70B on 1,024"], zero_optimization={"stages": 1})
    with pytest.raises(AssertionError, match="train_batch_size is not equal"):
        configured(USUAL["70B on 1,024"], train_batch_size=500)


def test_every_key_is_one_that_deepspeed_asks_for(framework: Framework) -> None:
    """Its configuration passes over names it does not know, so they are looked for where it keeps them."""
    config = framework("deepspeed.runtime.config")
    modules = [config, *(importlib.import_module(f"deepspeed.runtime.{name}") for name in ("constants", "zero.config"))]
    known = {value for module in modules for value in vars(module).values() if isinstance(value, str)}
    asked = set(
        re.findall(
            r"[\"'](tensor_parallel|sequence_parallel_size)[\"'] in",
            inspect.getsource(config)
            + inspect.getsource(importlib.import_module("deepspeed.runtime.tensor_parallel.config")),
        )
    )
    for scenario in USUAL.values():
        written = json.loads(export(scenario, "deepspeed").files[0].text)
        assert set(written) - {KEY} <= known | asked
        assert set(written["data_types"]) <= known


@pytest.mark.parametrize("name", USUAL)
def test_deepspeeds_launcher_takes_its_line(name: str, framework: Framework) -> None:
    runner = framework("deepspeed.launcher.runner")
    line = next(file.text for file in export(USUAL[name], "deepspeed").files if file.name == "launch.sh")
    words = shlex.split(line.replace("\\\n", " "), comments=True)
    found = runner.parse_args(words[1:])
    assert words[0] == "deepspeed" and found.num_nodes * found.num_gpus == USUAL[name].gpus
    assert found.user_script == "train.py" and found.user_args[-1] == "ds_config.json"
