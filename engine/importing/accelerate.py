"""accelerate: a pasted YAML of `accelerate launch` as a scenario document. It says GPUs and what is sharded, but no model."""

from typing import Any

from engine.export.fsdp2 import EIGHT_BITS, NAME, TITLE, WRITTEN
from engine.importing.files import Translated
from engine.importing.imported import Imported, Remarks, Taken
from engine.importing.kinds import Kinds
from engine.importing.source import Source, has
from engine.importing.tables import tables_of_yaml
from engine.language.choice import one_of
from engine.language.refusal import Refusal

FSDP, SIZES = "fsdp_config.fsdp_", "parallelism_config.parallelism_config_"
MEGATRON = "megatron_lm_config.megatron_lm_"
NAMES = {
    f"{SIZES}tp_size": "--tensor-model-parallel-size",
    f"{SIZES}cp_size": "--context-parallel-size",
    f"{MEGATRON}tp_degree": "--tensor-model-parallel-size",
    f"{MEGATRON}pp_degree": "--pipeline-model-parallel-size",
    f"{MEGATRON}num_micro_batches": "--gradient-accumulation-steps",
    "deepspeed_config.zero_stage": "--zero-stage",
    "deepspeed_config.gradient_accumulation_steps": "--gradient-accumulation-steps",
    "gradient_accumulation_steps": "--gradient-accumulation-steps",
}
FLAGS = {
    f"{FSDP}activation_checkpointing": "--checkpoint-activations",
    f"{MEGATRON}recompute_activations": "--recompute-activations",
    f"{MEGATRON}sequence_parallelism": "--sequence-parallel",
    f"{MEGATRON}use_distributed_optimizer": "--use-distributed-optimizer",
}
STRATEGIES = {
    "FULL_SHARD": 3,
    "SHARD_GRAD_OP": 2,
    "NO_SHARD": 0,
    "HYBRID_SHARD": 3,
    "HYBRID_SHARD_ZERO2": 2,
    "1": 3,
    "2": 2,
    "3": 0,
    "4": 3,
    "5": 2,
}
HYBRID = ("HYBRID_SHARD", "HYBRID_SHARD_ZERO2", "4", "5")
PLACES = {
    **dict.fromkeys((*NAMES, *FLAGS), "layout"),
    **dict.fromkeys((f"{FSDP}sharding_strategy", f"{FSDP}reshard_after_forward", "distributed_type"), "layout.zero"),
    f"{SIZES}dp_replicate_size": "layout.hsdp_shard",
    f"{SIZES}dp_shard_size": "layout.hsdp_shard",
    "num_processes": "gpus",
    "num_machines": "gpus",
    "mixed_precision": "precision",
}
WARNED = {
    f"{FSDP}offload_params": "weights, gradients and optimizer state stand in host memory: less memory, a longer step",
    "deepspeed_config.offload_optimizer_device": "optimizer state stands in host memory: less memory, a longer step",
    "deepspeed_config.offload_param_device": "weights that are not in use stand in host memory: less memory, a longer step",
    "deepspeed_config.deepspeed_config_file": "its settings stand in another file; paste that instead",
    f"{SIZES}sp_size": "sequences are cut by exchanging heads, which has no place beside the ring of context parallelism",
    "use_cpu": "nothing runs on GPUs",
    "dynamo_config.dynamo_backend": "the model is compiled: a shorter step; choose the compiled stack on the page",
}
HARMLESS = (
    r"compute_environment|debug|downcast_bf16|enable_cpu_affinity|machine_rank|main_.*|rdzv_.*|same_network|tpu_.*|gpu_ids|commands|command_file",
    r"fsdp_config\..*|deepspeed_config\..*|megatron_lm_config\..*|parallelism_config\..*|dynamo_config.*|fp8_config\..*|use_parallelism_config",
    r"num_cpu_threads_per_process|mpirun_config.*|ipex_config.*|aws_.*|.*_file|fsdp_config|deepspeed_config|tracking|logging_dir|monitor_interval",
)
KINDS = Kinds(PLACES, WARNED, HARMLESS, off={"dynamo_config.dynamo_backend": "NO"})
PRECISIONS = {**{name: f"--{name}" for name in WRITTEN}, "no": "", EIGHT_BITS: f"--{WRITTEN[0]}"}


def read(text: str) -> Imported:
    """The scenario document of an accelerate YAML.

    >>> read("distributed_type: FSDP\\nnum_processes: 16\\nfsdp_config:\\n  fsdp_sharding_strategy: FULL_SHARD").document["layout"]["zero"]
    3
    """
    file, remarks = Translated(tables_of_yaml(text)), Remarks()
    file.rename(NAMES)
    file.flags(FLAGS)
    world = file.whole("num_processes")
    file.tables.asked.add("num_machines")
    if world:
        file.launched.world = world
        file.launched.taken.append(Taken(file.tables.lines["num_processes"], file.tables.said("num_processes"), "gpus"))
    if (named := file.value("mixed_precision")) is not None:
        kind = one_of("mixed_precision", "no" if named is False else str(named), PRECISIONS)
        if option := PRECISIONS[kind]:
            file.put(option, "mixed_precision")
        if kind == EIGHT_BITS:
            file.put("--fp8-format", "mixed_precision", "hybrid")
    kind = file.value("distributed_type")
    stack = {"DEEPSPEED": "megatron-deepspeed", "MEGATRON_LM": "megatron"}.get(str(kind), "fsdp2")
    changes = _sharding(file, world) if stack == "fsdp2" else {}
    return file.read(NAME, KINDS, remarks, stack, changes)


def _sharding(file: Translated, world: int | None) -> dict[str, Any]:
    """ZeRO stage, and ranks that shard where groups replicate."""
    if str(file.value("distributed_type")) != "FSDP":
        return {"zero": 0}
    strategy, kept = file.value(f"{FSDP}sharding_strategy"), file.value(f"{FSDP}reshard_after_forward")
    name = next((str(each) for each in (strategy, kept) if str(each) in STRATEGIES), None)
    if name is None and strategy is not None:
        one_of(f"{FSDP}sharding_strategy", strategy, STRATEGIES)
    zero = STRATEGIES[name] if name else 2 if kept is False else 3
    copies, shard = file.whole(f"{SIZES}dp_replicate_size") or 1, file.whole(f"{SIZES}dp_shard_size")
    cp, tp = (file.whole(f"{SIZES}{axis}_size") or 1 for axis in ("cp", "tp"))
    if copies > 1 or name in HYBRID:
        width = shard * cp if shard and shard > 1 else (8 if name in HYBRID and copies == 1 else None)
        if width is None and world:
            width = world // (copies * tp)
        return {"zero": 3, "hsdp_shard": width}
    if world and shard and shard * copies * cp * tp != world:
        raise Refusal("num_processes", world, f"must be what the sizes below make, {shard * copies * cp * tp}")
    return {"zero": zero}


SOURCE = Source(
    NAME,
    TITLE,
    "an accelerate YAML",
    lambda kind, text: (
        kind == "yaml"
        and has("compute_environment", "distributed_type", "fsdp_config", "num_processes", "parallelism_config")(text)
    ),
    read,
    KINDS,
)
