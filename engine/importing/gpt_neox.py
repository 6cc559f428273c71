"""GPT-NeoX: a pasted YAML as a scenario document. It is read as the Megatron-LM that it grew from, run by DeepSpeed."""

from engine.importing.files import Translated, leaves
from engine.importing.imported import Imported, Remarks, Taken
from engine.importing.kinds import Kinds
from engine.importing.source import Source, has
from engine.importing.tables import tables_of_yaml

NAMES = {
    "num_layers": "--num-layers",
    "hidden_size": "--hidden-size",
    "num_attention_heads": "--num-attention-heads",
    "num_kv_heads": "--num-query-groups",
    "intermediate_size": "--ffn-hidden-size",
    "seq_length": "--seq-length",
    "max_position_embeddings": "--max-position-embeddings",
    "pipe_parallel_size": "--pipeline-model-parallel-size",
    "model_parallel_size": "--tensor-model-parallel-size",
    "context_parallel_size": "--context-parallel-size",
    "zero_stage": "--zero-stage",
    "train_micro_batch_size_per_gpu": "--micro-batch-size",
    "gradient_accumulation_steps": "--gradient-accumulation-steps",
    "train_batch_size": "--global-batch-size",
    "train_iters": "--train-iters",
    "checkpoint_num_layers": "--checkpoint-num-layers",
    "moe_num_experts": "--num-experts",
    "moe_top_k": "--moe-router-topk",
    "moe_expert_parallel_size": "--expert-model-parallel-size",
}
FLAGS = {
    "no_weight_tying": "--untie-embeddings-and-output-weights",
    "checkpoint_activations": "--checkpoint-activations",
    "sequence_parallel": "--sequence-parallel",
    "fp16_enabled": "--fp16",
    "bf16_enabled": "--bf16",
}
# last parts of names that mean something else where they are nested
NESTED = {
    "zero_optimization.stage": "zero_stage",
    "fp16.enabled": "fp16_enabled",
    "bf16.enabled": "bf16_enabled",
    "deepspeed_extra_args.bf16.enabled": "bf16_enabled",
    "optimizer.type": "optimizer.type",
}
WHOLE = (
    "zero_optimization.",
    "optimizer.",
    "scheduler.",
    "fp16.",
    "bf16.",
    "data_types.",
    "attention_config",
    "flops_profiler.",
)
POSITIONS = {
    "rotary": "rope",
    "learned": "learned_absolute",
    "sinusoidal": "none",
    "alibi": "none",
    "rpe": "none",
    "none": "none",
}
PLACES = {
    **dict.fromkeys((*NAMES, *FLAGS), "model and layout"),
    **dict.fromkeys(("pos_emb", "activation", "mlp_type"), "model"),
    "precision": "precision",
    "num_gpus": "gpus",
    "num_nodes": "gpus",
}
WARNED = {
    "partition_activations": "kept inputs of layers are cut over tensor-parallel ranks: less memory, an all-gather a layer",
    "checkpoint_in_cpu": "kept inputs of layers go to host memory: less memory",
    "contiguous_checkpointing": "kept inputs of layers stand in one buffer",
    "zero_optimization.cpu_offload": "optimizer state stands in host memory: less memory, a longer step",
    "zero_optimization.offload_optimizer.device": "optimizer state stands in host memory: less memory, a longer step",
    "zero_optimization.offload_param.device": "weights that are not in use stand in host memory: less memory, a longer step",
    "make_vocab_size_divisible_by": "the vocabulary is rounded up to a multiple of this times tp: more parameters",
    "attention_config": "some layers attend otherwise: less work",
    "optimizer.type": "another optimizer has other state; Adam's is counted",
    "hidden_dropout": "dropout keeps its masks: more memory unless it is 0",
    "attention_dropout": "dropout keeps its masks: more memory unless it is 0",
    "expert_interval": "only every so many layers have experts",
    "curriculum_learning.enabled": "the first steps have shorter sequences; the plan is of the full length",
}
HARMLESS = (
    r"optimizer\..*|scheduler\..*|zero_optimization\..*|fp16\..*|bf16\..*|data_types\..*|flops_profiler\..*|curriculum_.*|.*_path|.*_paths",
    r"data_impl|split|norm|.*norm_eps.*|rotary_.*|gpt_j_.*|output_layer_.*|init_method.*|.*fusion|lr.*|min_lr|warmup|weight_decay|gradient_clipping",
    r"save.*|load|eval_.*|log_.*|steps_per_print|wall_clock_breakdown|tensorboard_.*|use_wandb|wandb_.*|distributed_backend|launcher|deepspeed.*",
    r"tokenizer_type|vocab_file|merge_file|keep_last_.*|checkpoint_factor|checkpoint_scale|synchronize_each_layer|scaled_.*|use_bias_.*|master_port",
    r"do_.*|.*_dir|hostfile|include|seed|num_workers|finetune|attention_softmax.*|make_.*|extra_save.*|use_qk_.*|rms_norm.*|layernorm.*|moe_.*|s3_.*",
)
KINDS = Kinds(PLACES, WARNED, HARMLESS, off={"optimizer.type": "Adam"})
GATED = ("swiglu", "geglu", "reglu")


def read(text: str) -> Imported:
    """The scenario document of a GPT-NeoX YAML.

    >>> read("{'pipe-parallel-size': 4, 'model-parallel-size': 2, 'num_gpus': 96, 'precision': 'fp16'}").document["layout"]["dp"]
    12
    """
    file, remarks = Translated(leaves(tables_of_yaml(text), NESTED, WHOLE)), Remarks()
    if file.value("pipe_parallel_size") == 0:  # NeoX says 0 where there is no pipeline
        file.tables.given["pipe_parallel_size"] = 1
    file.rename(NAMES)
    file.flags(FLAGS)
    if file.value("num_kv_heads") is not None:
        file.put("--group-query-attention", "num_kv_heads")
    kind = POSITIONS.get(str(file.value("pos_emb") or "learned"), "none")
    file.put("--position-embedding-type", "pos_emb", kind)
    if str(file.value("activation")) in GATED or file.value("mlp_type") == "llama":
        file.put("--swiglu", "activation" if "activation" in file.tables else "mlp_type")
    named = str(file.value("precision"))
    if named in ("bfloat16", "fp16") and not {"--bf16", "--fp16"} & file.options.given.keys():
        file.put("--bf16" if named == "bfloat16" else "--fp16", "precision")
    if (world := file.whole("num_gpus")) is not None:
        file.launched.world = world
        file.launched.taken.append(Taken(file.tables.lines.get("num_gpus", 1), file.tables.said("num_gpus"), "gpus"))
    return file.read("gpt-neox", KINDS, remarks, "megatron-deepspeed")


SOURCE = Source(
    "gpt-neox",
    "GPT-NeoX",
    "a GPT-NeoX YAML",
    lambda kind, text: (
        kind in ("yaml", "json")
        and has("pipe-parallel-size", "pipe_parallel_size", "model-parallel-size", "model_parallel_size")(text)
        and not has("trainer")(text)
    ),
    read,
    KINDS,
)
