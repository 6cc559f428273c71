"""DeepSpeed: a pasted configuration as a scenario document. It says the batch and what is sharded, but no model."""

from engine.export.deepspeed import NAME, TITLE
from engine.importing.files import Translated
from engine.importing.imported import Imported, Remarks
from engine.importing.kinds import Kinds
from engine.importing.source import Source, has
from engine.importing.tables import tables_of_json

ACTS = {
    "train_batch_size": "--global-batch-size",
    "train_micro_batch_size_per_gpu": "--micro-batch-size",
    "gradient_accumulation_steps": "--gradient-accumulation-steps",
    "zero_optimization.stage": "--zero-stage",
    "tensor_parallel.autotp_size": "--tensor-model-parallel-size",
    "sequence_parallel_size": "--context-parallel-size",
    "expert_parallel.autoep_size": "--expert-model-parallel-size",
}
PLACES = {
    "train_batch_size": "layout.micro_batches",
    "train_micro_batch_size_per_gpu": "layout.micro_batch",
    "gradient_accumulation_steps": "layout.micro_batches",
    "zero_optimization.stage": "layout.zero",
    "tensor_parallel.autotp_size": "layout.tp",
    "sequence_parallel_size": "layout.cp",
    "expert_parallel.autoep_size": "layout.ep",
    "bf16.enabled": "precision",
    "fp16.enabled": "precision",
    "data_types.grad_accum_dtype": "layout.gradient_bytes",
}
OFFLOAD = "stands in host memory or on disk: less memory, a longer step"
WARNED = {
    "zero_optimization.offload_optimizer.device": f"optimizer state {OFFLOAD}",
    "zero_optimization.offload_param.device": f"weights: what is not in use {OFFLOAD}",
    "zero_optimization.cpu_offload": f"optimizer state {OFFLOAD}",
    "zero_optimization.zero_hpz_partition_size": "a second copy of the weights in each node: more memory, less traffic",
    "zero_optimization.zero_quantized_weights": "weights are gathered in fewer bits: less traffic",
    "zero_optimization.zero_quantized_gradients": "gradients are reduced in fewer bits: less traffic",
    "zero_optimization.mics_shard_size": "groups of so many ranks shard, and replicate across",
    "activation_checkpointing.partition_activations": "kept inputs of layers are cut over tensor-parallel ranks: less memory",
    "activation_checkpointing.cpu_checkpointing": "kept inputs of layers go to host memory: less memory",
    "optimizer.type": "another optimizer has other state; Adam's is counted",
    "compression_training": "weights are trained in fewer bits",
}
HARMLESS = (
    r"optimizer\..*|scheduler\..*|zero_optimization\..*|fp16\..*|bf16\..*|steps_per_print|wall_clock_breakdown|gradient_clipping|amp\..*",
    r"communication_data_type|prescale_gradients|gradient_predivide_factor|zero_allow_untrained_optimizer|zero_force_ds_cpu_optimizer",
    r"flops_profiler\..*|tensorboard\..*|wandb\..*|csv_monitor\..*|comms_logger\..*|activation_checkpointing\..*|data_types\..*|dump_state",
    r"aio\..*|elasticity\..*|autotuning\..*|curriculum_learning\..*|data_efficiency\..*|checkpoint\..*|disable_allgather|seed|shardboard\..*",
    r"tensor_parallel\..*|expert_parallel\..*|memory_breakdown|sparse_gradients|fp32_allreduce|zero_allow_.*|compile\..*|load_universal_.*",
)
OFF = {"optimizer.type": "AdamW"}
KINDS = Kinds(PLACES, WARNED, HARMLESS, off=OFF)
KEYS = ("train_batch_size", "train_micro_batch_size_per_gpu", "zero_optimization", "gradient_accumulation_steps")


def read(text: str) -> Imported:
    """The scenario document of a DeepSpeed configuration.

    >>> read('{"train_batch_size": 64, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 2}').document["gpus"]
    8
    """
    file, remarks = Translated(tables_of_json(text)), Remarks()
    file.rename(ACTS)
    file.flags({"bf16.enabled": "--bf16", "fp16.enabled": "--fp16"})
    kept = file.value("data_types.grad_accum_dtype")
    if kept in ("fp32", "float32"):
        file.put("--accumulate-allreduce-grads-in-fp32", "data_types.grad_accum_dtype")
    elif kept in ("bf16", "bfloat16"):
        file.put("--grad-reduce-in-bf16", "data_types.grad_accum_dtype")
    if (file.whole("sequence_parallel_size") or 1) > 1:
        remarks.warned.append(
            "sequence_parallel_size: DeepSpeed cuts sequences by exchanging heads, where this board passes keys and values in "
            "a ring, so traffic differs"
        )
    return file.read(NAME, KINDS, remarks, "megatron-deepspeed", {"sequence_parallel": False})


SOURCE = Source(
    NAME,
    TITLE,
    "a DeepSpeed JSON",
    lambda kind, text: kind == "json" and has(*KEYS)(text),
    read,
    KINDS,
)
