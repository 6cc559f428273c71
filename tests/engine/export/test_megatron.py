"""Exports for Megatron-LM against Megatron's own names, parser and configurations, and torchrun's own parser."""

import argparse
import importlib.util
import re
import shlex
import subprocess
from collections.abc import Iterable
from dataclasses import fields
from importlib import metadata
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import given, settings

from engine.export import export
from engine.layout.stages import split_layers
from engine.scenario import Scenario, scenario_from
from tests.conftest import Framework
from tests.engine.export.cases import SCENARIOS, usual

TABLE = Path(__file__).parent / "megatron_arguments.tsv"
ROOT = Path(__file__).parents[3]
OF_TORCHRUN = {"--nnodes", "--nproc-per-node", "--standalone"}
RENAMED = {"--use-custom-fsdp"}  # in older releases, now --use-megatron-fsdp
KINDS = {"int": int, "float": float, "text": str}
USUAL = usual()


def rows() -> list[list[str]]:
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


class _Strict(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ValueError(message)


def parser_of(table: Iterable[list[str]]) -> argparse.ArgumentParser:
    """A parser with the options of the table, as strict as Megatron's."""
    parser = _Strict(allow_abbrev=False)
    for name, kind, words, dest, choices in table:
        if kind == "flag":
            parser.add_argument(name, dest=dest, action="store_const", const=not dest.startswith("add_"))
        else:
            parser.add_argument(
                name,
                dest=dest,
                type=KINDS[kind],
                choices=choices.split(",") if choices else None,
                nargs=words if words in "*+" else None,
            )
    return parser


def words_of(scenario: Scenario) -> list[str]:
    """The words of the exported line, split by the standard library instead of by what reads it back."""
    text = export(scenario, "megatron").files[0].text.replace("\\\n", " ")
    return [word for word in shlex.split(text, comments=True) if not re.match(r"[A-Z_]+=", word)]


def arguments_of(scenario: Scenario) -> list[str]:
    words = words_of(scenario)
    return words[words.index("pretrain_gpt.py") + 1 :]


@pytest.mark.parametrize("name", USUAL)
def test_every_argument_is_one_of_megatrons(name: str) -> None:
    found = parser_of(rows()).parse_args(arguments_of(USUAL[name]))
    assert found.num_layers == USUAL[name].model.layers
    assert found.global_batch_size == USUAL[name].layout.global_batch


@settings(max_examples=200)
@given(scenario=SCENARIOS)
def test_every_layouts_arguments_are_megatrons(scenario: Scenario) -> None:
    parser_of(rows()).parse_args(arguments_of(scenario))


def test_a_wrong_name_would_be_found() -> None:
    with pytest.raises(ValueError, match="unrecognized"):
        parser_of(rows()).parse_args([*arguments_of(USUAL["70B on 1,024"]), "--tensor-parallel-size", "8"])
    with pytest.raises(ValueError, match="invalid choice"):
        parser_of(rows()).parse_args(["--recompute-granularity", "all"])


def test_every_name_that_is_asked_for_stands_in_the_table() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "engine" / "export").glob("megatron*.py"))
    assert (
        set(re.findall(r"\"(--[a-z][a-z0-9-]+)\"", source))
        - OF_TORCHRUN
        - RENAMED
        - {row[0] for row in rows()}
        - {"--rdzv-backend"}
        == set()
    )


def test_the_table_is_megatrons_own_parser(framework: Framework) -> None:
    if not importlib.util.find_spec("megatron") or tuple(map(int, metadata.version("megatron-core").split(".")[:2])) < (
        0,
        19,
    ):
        pytest.skip("megatron-core brings the parser along from 0.19 on, which needs Python 3.12")
    arguments = framework("megatron.training.arguments")
    real = argparse.ArgumentParser(allow_abbrev=False)
    arguments.add_megatron_arguments(real)
    by_name = {name: action for action in real._actions for name in action.option_strings}
    for name, kind, _, dest, choices in rows():
        action = by_name[name]
        assert action.dest == dest and (action.nargs == 0) == (kind == "flag"), name
        assert kind not in ("int", "float") or action.type is KINDS[kind], name
        assert set(choices.split(",") if choices else []) <= {str(choice) for choice in action.choices or []}, name
    for scenario in USUAL.values():
        real.parse_args(arguments_of(scenario))


def named(configuration: Any, values: dict[str, Any]) -> dict[str, Any]:
    known = {field.name for field in fields(configuration)}
    return {name: value for name, value in values.items() if name in known and value is not None}


def configured(scenario: Scenario, framework: Framework) -> Any:
    """Megatron's own configuration of the model, which checks that heads, stages, experts and recomputation fit."""
    torch, config = framework("torch"), framework("megatron.core.transformer.transformer_config")
    values = vars(parser_of(rows()).parse_args(arguments_of(scenario)))
    values |= {
        "num_moe_experts": values.pop("num_experts"),
        "gated_linear_unit": bool(values.pop("swiglu")),
        "pipeline_dtype": torch.bfloat16,
    }
    values["virtual_pipeline_model_parallel_size"] = values.pop("num_virtual_stages_per_pipeline_rank")
    values["add_bias_linear"] = values["add_bias_linear"] is None and not values["num_moe_experts"]
    values |= {
        "bf16": bool(values["bf16"]),
        "fp8": None,
        "fp8_recipe": None,
    }  # FP8 asks Transformer Engine, which needs a GPU
    if freq := values.pop("moe_layer_freq"):
        found = re.fullmatch(r"\(\[0\]\*(\d+)\+\[1\]\*(\d+)\)", freq)
        assert found
        zeros, ones = map(int, found.groups())
        values["moe_layer_freq"] = [0] * zeros + [1] * ones
    kind = config.MLATransformerConfig if values["multi_latent_attention"] else config.TransformerConfig
    return kind(**named(kind, values))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", USUAL)
def test_megatrons_configuration_takes_the_model_and_the_layout(name: str, framework: Framework) -> None:
    scenario = USUAL[name]
    made, model = configured(scenario, framework), scenario.model
    assert (made.num_layers, made.num_attention_heads, made.ffn_hidden_size) == (model.layers, model.heads, model.ffn)
    assert made.num_query_groups == model.kv_heads or model.latent
    assert (made.num_moe_experts or 0) == model.experts
    assert (made.tensor_model_parallel_size, made.pipeline_model_parallel_size) == (
        scenario.layout.tp,
        scenario.layout.pp,
    )


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=100)
@given(scenario=SCENARIOS.filter(lambda scenario: scenario.precision in ("bf16", "fp16")))
def test_megatrons_configuration_takes_every_layout(framework: Framework, scenario: Scenario) -> None:
    configured(scenario, framework)


@pytest.mark.parametrize(("model", "pp"), [("deepseek-v3", 4), ("llama-3-8b", 3), ("qwen3-235b-a22b", 8)])
def test_megatron_deals_layers_as_the_board_does(model: str, pp: int, framework: Framework) -> None:
    layouts = framework("megatron.core.transformer.pipeline_parallel_layer_layout")
    scenario = scenario_from({"model": model, "cluster": "hgx-h100", "gpus": 8 * pp, "layout": {"tp": 4, "pp": pp}})
    given_words = arguments_of(scenario)
    sizes = split_layers(scenario.model.layers, pp)
    if "--pipeline-model-parallel-layout" in given_words:
        text = given_words[given_words.index("--pipeline-model-parallel-layout") + 1]
        dealt = layouts.PipelineParallelLayerLayout.parse_str_to_list(text)
        assert [[kind.name for kind in stage].count("decoder") for stage in dealt] == sizes
        assert dealt[0][0].name == "embedding" and dealt[-1][-1].name == "loss"
    else:
        assert ("--account-for-loss-in-pipeline-split" in given_words) == ((scenario.model.layers + 2) % pp == 0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("zero", "strategy"), [(0, "no_shard"), (1, "no_shard"), (2, "optim_grads"), (3, "optim_grads_params")]
)
def test_megatrons_data_parallelism_takes_the_sharding(zero: int, strategy: str, framework: Framework) -> None:
    distributed = framework("megatron.core.distributed")
    layout = {"tp": 8, "zero": zero, **({"hsdp_shard": 8} if zero == 3 else {})}
    scenario = scenario_from({"model": "llama-3-70b", "cluster": "hgx-h100", "gpus": 1024, "layout": layout})
    values = vars(parser_of(rows()).parse_args(arguments_of(scenario)))
    made = distributed.DistributedDataParallelConfig(**named(distributed.DistributedDataParallelConfig, values))
    assert bool(made.use_distributed_optimizer) == (zero > 0) and made.data_parallel_sharding_strategy == strategy
    assert made.num_distributed_optimizer_instances == (4 if zero == 3 else 1)


@pytest.mark.parametrize("name", USUAL)
def test_torchrun_starts_as_many_processes_as_there_are_gpus(name: str, framework: Framework) -> None:
    run = framework("torch.distributed.run")
    found = run.get_args_parser().parse_args(words_of(USUAL[name])[1:])
    nodes = 1 if found.standalone else int(found.nnodes)
    assert nodes * int(found.nproc_per_node) == USUAL[name].gpus and found.training_script == "pretrain_gpt.py"


@pytest.mark.parametrize("target", ["megatron", "torchtitan", "deepspeed", "fsdp2"])
def test_every_script_is_bash_and_its_slurm_job_asks_for_the_nodes(target: str) -> None:
    for scenario in (USUAL["70B on 1,024"], USUAL["8B on 8 GPUs"]):
        files = {file.name: file for file in export(scenario, target).files if file.language == "bash"}
        for file in files.values():
            subprocess.run(["bash", "-n"], input=file.text, text=True, check=True)
        job = dict(re.findall(r"#SBATCH --([a-z-]+)=(\S+)", files["train.sbatch"].text))
        assert int(job["nodes"]) * int(job["gpus-per-node"]) == scenario.gpus and job["ntasks-per-node"] == "1"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"gpus": 12, "layout": {"tp": 2, "pp": 2}},
            "gpus = 12: they do not fill nodes of 8, so 2 nodes run 6 processes each",
        ),
        (
            {"cluster": "gb200-nvl72", "gpus": 144, "layout": {"tp": 8, "pp": 2}},
            "cluster = gb200-nvl72: an NVLink domain of 72 GPUs",
        ),
        ({"layout": {"schedule": "zb-h1"}}, "layout.schedule = zb-h1: Megatron-LM runs 1F1B"),
        ({"layout": {"rank_order": "dp-tp-cp-ep-pp"}}, "layout.rank_order = dp-tp-cp-ep-pp"),
    ],
)
def test_what_a_command_cannot_say_is_said(changes: dict[str, Any], said: str) -> None:
    scenario = scenario_from({"model": "llama-3-70b", "cluster": "hgx-h100", "gpus": 1024, **changes})
    assert any(sentence.startswith(said) for sentence in export(scenario, "megatron").left_out)
