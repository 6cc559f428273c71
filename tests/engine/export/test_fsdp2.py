"""Exports for FSDP2 against accelerate's own loader, launch arguments, plugin and mesh sizes."""

from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings

from engine.export import export
from engine.scenario import Scenario, scenario_from
from tests.conftest import Framework
from tests.engine.export.cases import SCENARIOS, usual

USUAL = usual()
Loaded = Callable[[str], Any]  # accelerate's own type, which may not be installed
FULL: dict[str, Any] = {
    "model": "llama-3-8b",
    "cluster": "hgx-h100",
    "gpus": 64,
    "layout": {"tp": 1, "pp": 1, "cp": 2, "zero": 3, "recompute": "full"},
}


@pytest.fixture
def loaded(tmp_path_factory: pytest.TempPathFactory, framework: Framework) -> Loaded:
    """Gives accelerate's configuration of a YAML file; it refuses keys that it does not know."""
    config = framework("accelerate.commands.config.config_args")
    path = tmp_path_factory.mktemp("accelerate") / "accelerate.yaml"

    def load(text: str) -> Any:
        path.write_text(text, encoding="utf-8")
        return config.load_config_from_file(str(path))

    return load


def yaml_of(scenario: Scenario) -> str:
    return export(scenario, "fsdp2").files[0].text


def mesh_of(config: Any, framework: Framework) -> Any:
    """accelerate's own sizes of the mesh, which refuse what does not go together."""
    parallelism = framework("accelerate.parallelism_config")
    sizes = {name.removeprefix("parallelism_config_"): size for name, size in config.parallelism_config.items()}
    return parallelism.ParallelismConfig(
        **sizes, tp_handler=object()
    )  # its own asks transformers, which is not needed here


@pytest.mark.parametrize("name", USUAL)
def test_accelerate_loads_the_file_and_its_mesh_has_all_gpus(name: str, loaded: Loaded, framework: Framework) -> None:
    scenario = USUAL[name]
    found = loaded(yaml_of(scenario))
    assert found.num_processes == scenario.gpus and found.distributed_type.value == "FSDP"
    assert mesh_of(found, framework).total_size == scenario.gpus


@settings(max_examples=100)
@given(document=SCENARIOS)
def test_accelerate_takes_every_layout(framework: Framework, document: Scenario) -> None:
    config = framework("accelerate.commands.config.config_args")
    found = config.ClusterConfig(**yaml.safe_load(yaml_of(document)), debug=False)
    if found.distributed_type.value == "FSDP":
        assert mesh_of(found, framework).total_size == document.gpus


def test_accelerate_refuses_a_wrong_name(loaded: Loaded) -> None:
    with pytest.raises(ValueError, match="unknown keys"):
        loaded(yaml_of(scenario_from(FULL)) + "num_gpus: 8\n")


@pytest.mark.parametrize("name", USUAL)
def test_every_setting_is_an_argument_of_accelerate_launch(name: str, loaded: Loaded, framework: Framework) -> None:
    launch = framework("accelerate.commands.launch")
    known = vars(launch.launch_command_parser().parse_args(["train.py"]))
    found = loaded(yaml_of(USUAL[name]))
    assert set(found.fsdp_config) | set(found.parallelism_config) <= set(known)
    words = next(file.text for file in export(USUAL[name], "fsdp2").files if file.name == "train.sh").split(
        "accelerate launch "
    )[1]
    parsed = launch.launch_command_parser().parse_args(
        words.replace("\\\n", " ")
        .replace("${SLURM_NODEID:?the number of this node, from 0}", "1")
        .replace('"', "")
        .split()
    )
    assert parsed.training_script == "train.py" and parsed.config_file == "accelerate.yaml"


def environment(path: Path, framework: Framework) -> dict[str, str]:
    """What `accelerate launch` tells its processes about a configuration."""
    launch, told = framework("accelerate.commands.launch"), framework("accelerate.utils.launch")
    args: Namespace = launch.launch_command_parser().parse_args(["--config_file", str(path), "train.py"])
    args, _, _ = launch._validate_launch_command(args)
    return told.prepare_multi_gpu_env(args)


@pytest.mark.parametrize("zero", [0, 2, 3])
def test_the_plugin_that_a_process_makes_shards_as_the_layout_says(
    zero: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, framework: Framework
) -> None:
    utils = framework("accelerate.utils")
    layout: dict[str, Any] = {**FULL["layout"], "zero": zero}
    path = tmp_path / "accelerate.yaml"
    path.write_text(yaml_of(scenario_from({**FULL, "gpus": 8, "layout": layout})), encoding="utf-8")
    for name, value in environment(path, framework).items():
        if name.startswith(("FSDP_", "PARALLELISM_CONFIG_")):
            monkeypatch.setenv(name, value)
    plugin = utils.FullyShardedDataParallelPlugin()
    assert plugin.fsdp_version == 2 and plugin.reshard_after_forward is (zero == 3)
    assert plugin.activation_checkpointing and plugin.state_dict_type.name == "SHARDED_STATE_DICT"
    mesh = framework("accelerate.parallelism_config").ParallelismConfig()
    assert (mesh.tp_size, mesh.cp_size, mesh.dp_shard_size, mesh.dp_replicate_size) == (1, 2, 4, 1)
