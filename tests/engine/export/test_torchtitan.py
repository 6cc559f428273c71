"""Exports for torchtitan against torchtitan's own parser, flavors, mesh and way to deal layers."""

import ast
import importlib
import importlib.util
import math
import sys
import tomllib
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from hypothesis import given, settings
from pydantic import TypeAdapter, ValidationError

from engine.catalog.model import model_named
from engine.export import export
from engine.export.flavors import FLAVORS, WITHOUT_STAGES
from engine.export.torchtitan_layout import schedule_here
from engine.layout.stages import split_layers
from engine.scenario import Scenario, scenario_from
from tests.conftest import Framework
from tests.engine.export.cases import SCENARIOS, usual

USUAL = usual()
Parsed = Callable[[str], Any]  # torchtitan's own type, which may not be installed


@pytest.fixture(scope="session")
def titan_folder() -> Path:
    """Where torchtitan is installed."""
    found = importlib.util.find_spec("torchtitan")
    if found is None or not importlib.util.find_spec("torch"):
        pytest.skip("torchtitan needs torch, which DEMOS= leaves out")
    return Path(next(iter(found.submodule_search_locations or [])))


@pytest.fixture(scope="module")
def titan(titan_folder: Path) -> Iterator[Framework]:
    """torchtitan's modules without its __init__, which imports kernels for GPUs (Triton) before anything else."""
    before = set(sys.modules)
    for name in ("torchtitan", "torchtitan.distributed"):
        bare = types.ModuleType(name)
        bare.__path__ = [str(titan_folder.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = bare
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if name.partition(".")[0] == "torchtitan":
            del sys.modules[name]


@pytest.fixture(scope="module")
def parsed(titan: Framework, tmp_path_factory: pytest.TempPathFactory) -> Parsed:
    """Gives torchtitan's own job configuration of a scenario's TOML, each value of the type that is declared for it."""
    path = tmp_path_factory.mktemp("titan") / "train.toml"

    def parse(text: str) -> Any:
        path.write_text(text, encoding="utf-8")
        found = titan("torchtitan.config.manager").ConfigManager().parse_args(["--job.config_file", str(path)])
        for name, table in tomllib.loads(text).items():
            declared = get_type_hints(type(getattr(found, name)))
            for key, value in table.items():
                TypeAdapter(declared[key]).validate_python(value, strict=True)
        return found

    return parse


def toml_of(scenario: Scenario) -> str:
    return export(scenario, "torchtitan").files[0].text


@pytest.mark.parametrize("name", USUAL)
def test_torchtitan_reads_every_setting(name: str, parsed: Parsed) -> None:
    scenario = USUAL[name]
    found, layout = parsed(toml_of(scenario)), scenario.layout
    assert (
        found.training.seq_len == scenario.sequence_tokens and found.training.global_batch_size == layout.global_batch
    )
    assert (
        found.parallelism.tensor_parallel_degree == layout.tp
        and found.parallelism.pipeline_parallel_degree == layout.pp
    )
    assert found.activation_checkpoint.mode == layout.recompute


def test_torchtitan_refuses_a_wrong_name_and_a_wrong_choice(parsed: Parsed) -> None:
    text = toml_of(USUAL["70B on 1,024"])
    with pytest.raises(ValueError, match="Invalid field names"):
        parsed(text.replace("tensor_parallel_degree", "tensor_parallel_size"))
    with pytest.raises(ValidationError, match="none"):
        parsed(text.replace('mode = "none"', 'mode = "all"'))


@settings(max_examples=60)
@given(scenario=SCENARIOS)
def test_every_layout_is_one_that_torchtitans_mesh_and_trainer_take(
    titan: Framework, parsed: Parsed, scenario: Scenario
) -> None:
    config = parsed(toml_of(scenario))
    p, t = config.parallelism, config.training
    dims = titan("torchtitan.distributed.parallel_dims").ParallelDims(
        dp_replicate=p.data_parallel_replicate_degree,
        dp_shard=p.data_parallel_shard_degree,
        cp=p.context_parallel_degree,
        tp=p.tensor_parallel_degree,
        pp=p.pipeline_parallel_degree,
        ep=p.expert_parallel_degree,
        etp=p.expert_tensor_parallel_degree,
        world_size=scenario.gpus,
    )
    ranks = dims.dp_replicate * dims.dp_shard
    assert t.global_batch_size % (t.local_batch_size * ranks) == 0
    rounds = t.global_batch_size // (t.local_batch_size * ranks)
    micro = p.pipeline_parallel_microbatch_size if dims.pp > 1 else t.local_batch_size
    assert (
        rounds * t.local_batch_size // micro == scenario.layout.micro_batches and micro == scenario.layout.micro_batch
    )
    assert dims.fsdp_enabled or dims.dp_replicate in (1, scenario.gpus)  # DDP beside another axis is refused there


@settings(max_examples=150)
@given(scenario=SCENARIOS)
def test_torchtitan_deals_layers_as_the_board_does_or_that_is_said(titan_folder: Path, scenario: Scenario) -> None:
    dealer, layout, layers = layer_dealer(titan_folder), scenario.layout, scenario.model.layers
    settings_of = tomllib.loads(toml_of(scenario))["parallelism"]
    ends = (
        settings_of["pipeline_parallel_first_stage_less_layers"],
        settings_of["pipeline_parallel_last_stage_less_layers"],
    )
    here = schedule_here(layout)
    chunks = here.placement(layout.pp, layout.vp if here.takes_chunks else 1).positions
    if each := settings_of.get("pipeline_parallel_layers_per_stage"):
        assert math.ceil((layers + sum(ends)) / each) == chunks
    said = [sentence for sentence in export(scenario, "torchtitan").left_out if sentence.startswith("layout.pp = ")]
    try:
        dealt = [sum(part.startswith("layers.") for part in stage) for stage in dealer(chunks, layers, *ends)]
    except ValueError:
        assert any("cannot cut" in sentence for sentence in said)
        return
    assert (dealt == split_layers(layers, chunks)) != any("remainder" in sentence for sentence in said)


def layer_dealer(folder: Path) -> Callable[..., Any]:
    """torchtitan's own function, by itself: its module imports kernels for GPUs."""
    source = (folder / "distributed" / "pipeline_parallel.py").read_text(encoding="utf-8")
    name = "generate_llm_fqn_per_model_part"
    function = next(node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef) and node.name == name)
    space: dict[str, Any] = {}
    exec(compile(ast.Module([function], []), name, "exec"), space)
    return space[name]


def shape_in_torchtitan(folder: Path, model: str, flavor: str) -> dict[str, Any]:
    """The arguments of a flavor in torchtitan's own source, those of its experts among them."""
    source = (folder / "models" / model / "__init__.py").read_text(encoding="utf-8")
    tables = [
        node.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)
    ]
    call = next(
        value
        for table in tables
        for key, value in zip(table.keys, table.values, strict=True)
        if isinstance(key, ast.Constant) and key.value == flavor
    )
    assert isinstance(call, ast.Call)
    found: dict[str, Any] = {}
    for keyword in call.keywords:
        parts = keyword.value.keywords if isinstance(keyword.value, ast.Call) else [keyword]
        found |= {part.arg: ast.literal_eval(part.value) for part in parts if part.arg}
    return found


OURS = {
    "dim": "hidden", "n_layers": "layers", "n_heads": "heads", "n_kv_heads": "kv_heads", "vocab_size": "vocab", "hidden_dim": "ffn",
    "inter_dim": "ffn", "moe_inter_dim": "moe_ffn", "head_dim": "head_dim", "num_experts": "experts", "top_k": "top_k",
    "num_shared_experts": "shared_experts", "n_dense_layers": "dense_layers", "q_lora_rank": "q_lora_rank",
    "kv_lora_rank": "kv_lora_rank", "qk_nope_head_dim": "qk_nope_head_dim", "qk_rope_head_dim": "qk_rope_head_dim",
    "v_head_dim": "v_head_dim", "num_limited_groups": "routed_nodes",
}  # fmt: skip


@pytest.mark.parametrize("key", FLAVORS, ids=" ".join)
def test_a_flavor_has_the_shape_of_its_model(key: tuple[str, str], titan_folder: Path) -> None:
    model, theirs = model_named(FLAVORS[key]), shape_in_torchtitan(titan_folder, *key)
    known = {name: value for name, value in theirs.items() if name in OURS}
    assert len(known) >= 4
    assert {name: getattr(model, OURS[name]) for name in known} == known
    if multiple := theirs.get("multiple_of"):  # torchtitan computes Llama's inner size
        inner = int(int(2 * 4 * theirs["dim"] / 3) * theirs["ffn_dim_multiplier"])
        assert model.ffn == multiple * -(-inner // multiple)


@pytest.mark.parametrize("name", ["llama3", "deepseek_v3", "qwen3"])
def test_torchtitan_cuts_some_models_into_stages(name: str, titan_folder: Path) -> None:
    source = (titan_folder / "models" / name / "__init__.py").read_text(encoding="utf-8")
    assert ("pipelining_fn=None" in source) == (name in WITHOUT_STAGES)


def test_every_converter_is_registered_in_torchtitan(titan_folder: Path) -> None:
    source = "".join(
        path.read_text(encoding="utf-8") for path in (titan_folder / "components" / "quantization").glob("*.py")
    )
    for precision in ("fp8", "mxfp8"):
        scenario = scenario_from({"model": "llama-3-8b", "cluster": "hgx-b200", "gpus": 32, "precision": precision})
        (converter,) = tomllib.loads(toml_of(scenario))["model"]["converters"]
        assert f'"{converter}")' in source
