"""FSDP2 by accelerate: a scenario as the YAML of `accelerate launch`."""

from collections.abc import Iterator
from typing import Any

import yaml

from engine.export.base import Export, File, gap
from engine.export.launch import PORT, launch_gaps, nodes_of, remark, slurm
from engine.export.named import title_of
from engine.export.train_script import script_gaps
from engine.layout.layout import Layout
from engine.pipeline.schedules import USUAL
from engine.scenario import Scenario

NAME, TITLE, CONFIG = "fsdp2", "FSDP2 (accelerate)", "accelerate.yaml"
WRITTEN = ("bf16", "fp16")
EIGHT_BITS = "fp8"  # accelerate has one word for all of them
ORDER = "tp-cp-ep-dp-pp"


def write(scenario: Scenario) -> Export:
    """The configuration, the accelerate line for each node, and the Slurm job."""
    title = title_of(scenario.model)
    files = (
        File(CONFIG, yaml.safe_dump(_config(scenario), sort_keys=False), "yaml"),
        File("train.sh", _script(scenario), "bash"),
        slurm(scenario, title, run="bash train.sh"),
    )
    return Export(NAME, TITLE, files, tuple(_left_out(scenario)))


def _script(scenario: Scenario) -> str:
    """`accelerate launch` starts torchrun's processes itself; on several nodes it must know the first, and its own number."""
    words = [f"accelerate launch --config_file {CONFIG}"]
    if nodes_of(scenario).count > 1:
        words += [
            '--machine_rank "${SLURM_NODEID:?the number of this node, from 0}"',
            '--main_process_ip "${PET_RDZV_ENDPOINT%%:*}"',
            f"--main_process_port {PORT}",
        ]
    head = f"#!/usr/bin/env bash\n# {remark(scenario, f'{TITLE}, {title_of(scenario.model)}')}\n"
    return head + " \\\n  ".join([*words, "train.py"]) + "\n"


def _config(scenario: Scenario) -> dict[str, Any]:
    nodes, layout = nodes_of(scenario), scenario.layout
    found = {
        "compute_environment": "LOCAL_MACHINE",
        "distributed_type": "MULTI_GPU" if _only_replicas(scenario) else "FSDP",
        "mixed_precision": _precision(scenario),
        "num_machines": nodes.count,
        "num_processes": scenario.gpus,
        "machine_rank": 0,
        "use_cpu": False,
    }
    if _only_replicas(scenario):
        return found
    shard = _shard(scenario)
    return {
        **found,
        "fsdp_config": {
            "fsdp_version": 2,
            "fsdp_reshard_after_forward": layout.zero == 3,
            "fsdp_auto_wrap_policy": "TRANSFORMER_BASED_WRAP",
            "fsdp_state_dict_type": "SHARDED_STATE_DICT",
            "fsdp_activation_checkpointing": layout.recompute == "full",
            "fsdp_offload_params": False,
        },
        "parallelism_config": {
            "parallelism_config_dp_replicate_size": _width(scenario) // shard,
            "parallelism_config_dp_shard_size": shard,
            "parallelism_config_tp_size": layout.tp,
            "parallelism_config_cp_size": layout.cp,
        },
    }


def _precision(scenario: Scenario) -> str:
    return EIGHT_BITS if scenario.fp8 else scenario.precision if scenario.precision in WRITTEN else WRITTEN[0]


def _only_replicas(scenario: Scenario) -> bool:
    """DDP, which accelerate knows beside no other axis."""
    return scenario.layout.zero == 0 and scenario.layout.tp * scenario.layout.cp == 1


def _width(scenario: Scenario) -> int:
    """Data-parallel ranks; those of a pipeline join them, since accelerate trains in no stages."""
    return scenario.layout.data_width * scenario.layout.pp


def _shard(scenario: Scenario) -> int:
    """Ranks that shard, beside those of context parallelism."""
    layout = scenario.layout
    return layout.shard_width // layout.cp if layout.hsdp_shard and _groups_fit(layout) else _width(scenario)


def _groups_fit(layout: Layout) -> bool:
    return layout.pp == 1 and layout.shard_width % layout.cp == 0 and layout.shard_width > layout.cp


def _left_out(scenario: Scenario) -> Iterator[str]:
    layout = scenario.layout
    yield from _axis_gaps(scenario)
    yield from _sharding_gaps(scenario)
    if layout.gradient_bytes == 2:
        yield gap(
            "layout.gradient_bytes", 2, "accelerate keeps FP32 gradients beside FP32 weights under mixed precision"
        )
    if layout.recompute == "selective":
        yield gap("layout.recompute", "selective", "the file knows only whole layers; nothing is computed again")
    if layout.recompute == "full" and _only_replicas(scenario):
        yield gap(
            "layout.recompute",
            "full",
            "without FSDP your script must checkpoint the layers (gradient_checkpointing_enable)",
        )
    if scenario.precision != (word := _precision(scenario)):
        yield gap("precision", scenario.precision, f"the file says {word}; the recipe is set in your script")
    if scenario.stack_name not in ("fsdp2", "fsdp2-compiled"):
        yield gap("stack", scenario.stack_name, "the lines run PyTorch's own FSDP2")
    if scenario.stack_name == "fsdp2-compiled":
        yield gap("stack", scenario.stack_name, "your script must compile the model")
    yield from _script_parts(scenario)
    yield from launch_gaps(scenario)
    yield "Slurm: partition, account and time limit are yours to add to train.sbatch."


def _axis_gaps(scenario: Scenario) -> Iterator[str]:
    layout = scenario.layout
    if layout.pp > 1:
        yield gap(
            "layout.pp",
            layout.pp,
            f"accelerate trains in no pipeline; {_width(scenario)} data-parallel ranks are written instead",
        )
    if layout.vp > 1:
        yield gap("layout.vp", layout.vp, "without a pipeline there are no chunks")
    if layout.schedule != USUAL.name:
        yield gap("layout.schedule", layout.schedule, "without a pipeline there is no schedule")
    if layout.ep > 1:
        yield gap("layout.ep", layout.ep, "accelerate's file spreads no experts; each rank gathers all of them")
    if layout.sequence_parallel and layout.tp > 1:
        yield gap(
            "layout.sequence_parallel",
            True,
            "whether the norms' tokens are cut is in the model's own tensor-parallel plan",
        )
    if layout.rank_order != ORDER:
        yield gap("layout.rank_order", layout.rank_order, f"accelerate's ranks are always dealt as {ORDER}")


def _sharding_gaps(scenario: Scenario) -> Iterator[str]:
    layout = scenario.layout
    if layout.zero == 1 or (layout.zero == 0 and not _only_replicas(scenario)):
        yield gap(
            "layout.zero",
            layout.zero,
            "FSDP2 shards gradients and optimizer together; keeping gathered weights between the "
            "passes, as here, is nearest to ZeRO-2",
        )
    if layout.zero == 2:
        yield "layout.zero = 2: FSDP2 shards the weights too between steps; they stay gathered from the forward pass to the backward pass."
    if layout.hsdp_shard and not _groups_fit(layout):
        yield gap(
            "layout.hsdp_shard",
            layout.hsdp_shard,
            f"groups must shard over more than cp {layout.cp} ranks and have no pipeline; all ranks shard here",
        )


def _script_parts(scenario: Scenario) -> Iterator[str]:
    """What stands in the script that the lines start."""
    layout = scenario.layout
    each = _width(scenario) * layout.micro_batch
    rounds = max(1, layout.global_batch // each)
    yield gap("layout.micro_batch", layout.micro_batch, "the file holds no batch; it is your data loader's batch size")
    yield gap(
        "layout.micro_batches",
        layout.micro_batches,
        f"your script must say Accelerator(gradient_accumulation_steps={rounds})"
        + ("" if rounds * each == layout.global_batch else f", which makes a step of {rounds * each} sequences"),
    )
    yield from script_gaps(scenario)
    yield "train.py: the script, its data, tokenizer and optimizer are yours."
