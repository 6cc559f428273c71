"""DeepSpeed: a scenario as its JSON, and the lines that start a script with it."""

import json
from collections.abc import Iterator
from typing import Any

from engine.export.base import Export, File, gap
from engine.export.launch import by_hand, command, launch_gaps, nodes_of, remark, script, slurm, torchrun
from engine.export.named import title_of
from engine.export.train_script import script_gaps
from engine.layout.layout import Layout
from engine.pipeline.schedules import USUAL
from engine.scenario import Scenario

NAME, TITLE, CONFIG = "deepspeed", "DeepSpeed", "ds_config.json"
TRAIN = ("train.py", "--deepspeed", "--deepspeed_config", CONFIG)
WRITTEN = ("bf16", "fp16")
ORDER = "tp-cp-ep-dp-pp"


def write(scenario: Scenario) -> Export:
    """The configuration, a torchrun line, the line of DeepSpeed's own launcher, and the Slurm job."""
    title, nodes = title_of(scenario.model), nodes_of(scenario)
    own = command(
        [
            ("deepspeed",),
            ("--num_nodes", str(nodes.count)),
            ("--num_gpus", str(nodes.gpus)),
            *_hosts(nodes.count),
            TRAIN,
        ]
    )
    files = (
        File(CONFIG, json.dumps(_config(scenario), indent=2) + "\n", "json"),
        script(remark(scenario, f"{TITLE}, {title}"), [*torchrun(nodes), TRAIN]),
        File(
            "launch.sh", f"#!/usr/bin/env bash\n# The same by DeepSpeed's own launcher, from one node.\n{own}\n", "bash"
        ),
        slurm(scenario, title),
    )
    return Export(NAME, TITLE, files, tuple(_left_out(scenario)))


def _hosts(nodes: int) -> list[tuple[str, ...]]:
    return [("--hostfile", "hostfile")] if nodes > 1 else []


def _config(scenario: Scenario) -> dict[str, Any]:
    layout = scenario.layout
    low = scenario.precision if scenario.precision in WRITTEN else "bf16"
    gradients = low if layout.gradient_bytes == 2 else "fp32"
    return {
        "train_batch_size": layout.global_batch,
        "train_micro_batch_size_per_gpu": layout.micro_batch,
        "gradient_accumulation_steps": layout.micro_batches,
        low: {"enabled": True},
        "zero_optimization": {"stage": layout.zero, **({"overlap_comm": True} if layout.zero else {})},
        "data_types": {"grad_accum_dtype": gradients},
        "communication_data_type": gradients,
        **_axes(layout),
    }


def _axes(layout: Layout) -> dict[str, Any]:
    """The axes that DeepSpeed's file knows."""
    found: dict[str, Any] = {}
    if layout.tp > 1:
        found["tensor_parallel"] = {"autotp_size": layout.tp}
    if layout.cp > 1:
        found["sequence_parallel_size"] = layout.cp
    if layout.ep > 1:
        found["expert_parallel"] = {
            "enabled": True,
            "autoep_size": layout.ep,
            "expert_tensor_parallel_size": layout.expert_tp,
        }
    return found


def _left_out(scenario: Scenario) -> Iterator[str]:
    layout, model = scenario.layout, scenario.model
    yield from _pipeline_gaps(layout)
    if layout.cp > 1:
        yield gap(
            "layout.cp",
            layout.cp,
            "DeepSpeed cuts sequences by Ulysses, which exchanges heads, where this board passes keys and "
            f"values in a ring; {layout.cp} must divide the {model.heads} heads",
        )
    if layout.tp > 1 and layout.sequence_parallel:
        yield gap("layout.sequence_parallel", True, "DeepSpeed's tensor parallelism keeps the norms' tokens whole")
    if layout.hsdp_shard is not None:
        yield gap("layout.hsdp_shard", layout.hsdp_shard, "ZeRO-3 shards over all data-parallel ranks")
    if layout.rank_order != ORDER:
        yield gap("layout.rank_order", layout.rank_order, f"DeepSpeed's ranks are always dealt as {ORDER}")
    if layout.recompute != "none":
        yield gap(
            "layout.recompute",
            layout.recompute,
            "the file cannot switch it on; your script must checkpoint the layers "
            "(gradient_checkpointing_enable, or deepspeed.checkpointing.checkpoint)",
        )
    if scenario.precision not in WRITTEN:
        yield gap(
            "precision",
            scenario.precision,
            "such products come from Transformer Engine layers in your script; the file says BF16",
        )
    if scenario.stack_name != "megatron-deepspeed":
        yield gap("stack", scenario.stack_name, "the lines run DeepSpeed's own software")
    yield from _script_parts(scenario)
    yield from launch_gaps(scenario)
    yield by_hand(scenario)


def _pipeline_gaps(layout: Layout) -> Iterator[str]:
    if layout.pp > 1:
        yield gap(
            "layout.pp",
            layout.pp,
            f"the file has no stages; give your script PipelineModule(num_stages={layout.pp}, topology="
            f"PipeModelDataParallelTopology(num_pp={layout.pp}, num_mp={layout.tp}, num_dp={layout.data_width}))",
        )
        if layout.zero > 1:
            yield gap("layout.zero", layout.zero, "DeepSpeed's pipeline works with ZeRO 0 and 1 only")
    if layout.zero == 3 and layout.tp > 1:
        yield gap(
            "layout.zero",
            3,
            "with autotp_size above 1 DeepSpeed before 0.19.4 stops at the start: it had not validated the two together",
        )
    if layout.vp > 1:
        yield gap("layout.vp", layout.vp, "DeepSpeed's pipeline has one chunk a stage")
    if layout.schedule != USUAL.name:
        yield gap("layout.schedule", layout.schedule, "DeepSpeed's pipeline runs 1F1B")


def _script_parts(scenario: Scenario) -> Iterator[str]:
    """What stands in the script that the lines start."""
    yield from script_gaps(scenario)
    yield "train.py: the script, its data, tokenizer and optimizer are yours; launch.sh needs a hostfile where there are more nodes."
