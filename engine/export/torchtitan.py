"""torchtitan: a scenario as the TOML of its 0.2 releases, the last that read one."""

import json
from collections.abc import Mapping
from typing import Any

from engine.export.base import Export, File
from engine.export.flavors import flavor_of
from engine.export.launch import nodes_of, remark, script, slurm, torchrun
from engine.export.named import title_of
from engine.export.run_length import steps_of
from engine.export.torchtitan_gaps import CONVERTERS, left_out
from engine.export.torchtitan_layout import degrees, pipeline, sharding
from engine.scenario import Scenario

NAME, TITLE, CONFIG = "torchtitan", "torchtitan", "train.toml"


def write(scenario: Scenario) -> Export:
    """The TOML, a script of one torchrun line, and the Slurm job that runs it."""
    title = title_of(scenario.model)
    lines = [*torchrun(nodes_of(scenario)), ("-m", "torchtitan.train"), ("--job.config_file", CONFIG)]
    files = (
        File(CONFIG, _toml(_tables(scenario)), "toml"),
        script(remark(scenario, f"{TITLE}, {title}"), lines),
        slurm(scenario, title),
    )
    return Export(NAME, TITLE, files, tuple(left_out(scenario)))


def _toml(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """Tables of numbers, texts and lists of texts; JSON writes these as TOML does."""
    parts = [
        "\n".join([f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in table.items())])
        for name, table in tables.items()
    ]
    return "\n\n".join(parts) + "\n"


def _tables(scenario: Scenario) -> dict[str, dict[str, Any]]:
    layout = scenario.layout
    name, flavor, _ = flavor_of(scenario.model)
    eight = {"converters": [CONVERTERS[scenario.precision]]} if scenario.precision in CONVERTERS else {}
    selective = {"selective_ac_option": "op"} if layout.recompute == "selective" else {}
    return {
        "job": {"description": f"{title_of(scenario.model)} on {scenario.gpus} GPUs"},
        "model": {"name": name, "flavor": flavor, "hf_assets_path": f"./assets/hf/{title_of(scenario.model)}", **eight},
        "training": {
            "local_batch_size": layout.micro_batch * (layout.micro_batches if layout.pp > 1 else 1),
            "global_batch_size": layout.global_batch,
            "seq_len": scenario.sequence_tokens,
            "steps": steps_of(scenario),
            "mixed_precision_param": "bfloat16",
            "mixed_precision_reduce": "float32",
        },
        "parallelism": {**sharding(layout), **degrees(layout), **pipeline(scenario)},
        "activation_checkpoint": {"mode": layout.recompute, **selective},
        "compile": {"enable": scenario.stack_name == "fsdp2-compiled"},
    }
