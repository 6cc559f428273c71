"""NeMo: a pasted YAML as a scenario document. Its names are Megatron-LM's with underscores, nested this way or that."""

from engine.importing.files import Translated, interpolated, leaves
from engine.importing.imported import Imported, Remarks
from engine.importing.kinds import Kinds
from engine.importing.source import Source, has
from engine.importing.tables import tables_of_yaml
from engine.language.choice import one_of

NAMES = {
    "num_layers": "--num-layers",
    "hidden_size": "--hidden-size",
    "ffn_hidden_size": "--ffn-hidden-size",
    "num_attention_heads": "--num-attention-heads",
    "num_query_groups": "--num-query-groups",
    "kv_channels": "--kv-channels",
    "vocab_size": "--vocab-size",
    "max_position_embeddings": "--max-position-embeddings",
    "num_moe_experts": "--num-experts",
    "moe_router_topk": "--moe-router-topk",
    "moe_ffn_hidden_size": "--moe-ffn-hidden-size",
    "tensor_model_parallel_size": "--tensor-model-parallel-size",
    "pipeline_model_parallel_size": "--pipeline-model-parallel-size",
    "virtual_pipeline_model_parallel_size": "--num-virtual-stages-per-pipeline-rank",
    "context_parallel_size": "--context-parallel-size",
    "expert_model_parallel_size": "--expert-model-parallel-size",
    "expert_tensor_parallel_size": "--expert-tensor-parallel-size",
    "micro_batch_size": "--micro-batch-size",
    "global_batch_size": "--global-batch-size",
    "activations_checkpoint_granularity": "--recompute-granularity",
    "activations_checkpoint_method": "--recompute-method",
    "activations_checkpoint_num_layers": "--recompute-num-layers",
    "recompute_granularity": "--recompute-granularity",
    "recompute_method": "--recompute-method",
    "recompute_num_layers": "--recompute-num-layers",
    "max_steps": "--train-iters",
}
FLAGS = {
    "sequence_parallel": "--sequence-parallel",
    "use_distributed_optimizer": "--use-distributed-optimizer",
    "account_for_embedding_in_pipeline_split": "--account-for-embedding-in-pipeline-split",
    "account_for_loss_in_pipeline_split": "--account-for-loss-in-pipeline-split",
}
SEQUENCES = ("encoder_seq_length", "seq_length", "sequence_length")
PRECISIONS = {"16": "--fp16", "fp16": "--fp16", "bf16": "--bf16"}
POSITIONS = ("learned_absolute", "rope", "alibi", "kerple", "xpos", "sandwich", "none")
OPTIMIZERS = ("distributed_fused_adam", "mcore_distributed_optim")
NESTED = {"optim.name": "optim.name", "model.optim.name": "optim.name", "tokenizer.vocab_size": "vocab_size"}
PLACES = {
    **dict.fromkeys((*NAMES, *FLAGS), "model and layout"),
    **dict.fromkeys(SEQUENCES, "sequence_tokens"),
    **dict.fromkeys(("devices", "num_nodes", "num_gpus_per_node"), "gpus"),
    **dict.fromkeys(("precision", "fp8", "fp8_hybrid", "fp8_e4m3"), "precision"),
    **dict.fromkeys(("activation", "position_embedding_type", "share_embeddings_and_output_weights"), "model"),
    "optim.name": "layout.zero",
    "fsdp": "layout.zero",
    "grad_reduce_in_fp32": "layout.gradient_bytes",
}
WARNED = {
    "cpu_offloading": "activations go to host memory and back: less memory, more traffic to the host",
    "fp8_params": "weights are kept and gathered in FP8: half the bytes of the gather, and less memory",
    "first_last_layers_bf16": "the first and last layers compute in BF16: a longer step",
    "ub_tp_comm_overlap": "tensor-parallel traffic runs beside products: a shorter step",
    "tp_comm_overlap": "tensor-parallel traffic runs beside products: a shorter step",
    "defer_embedding_wgrad_compute": "the head's weight gradient fills the bubble: a shorter step",
    "hidden_dropout": "dropout keeps its masks: more memory unless it is 0",
    "attention_dropout": "dropout keeps its masks: more memory unless it is 0",
    "ffn_dropout": "dropout keeps its masks: more memory unless it is 0",
    "window_size": "attention looks back a window only: less work",
    "make_vocab_size_divisible_by": "the vocabulary is rounded up to a multiple of this times tp: more parameters",
    "rampup_batch_size": "the first steps have smaller batches; the plan is of the full batch",
    "pipeline_model_parallel_split_rank": "an encoder stands before the decoder, which is not counted",
    "num_micro_batches_with_partial_activation_checkpoints": "some micro-batches are not computed again: more memory, less work",
    "activations_checkpoint_layers_per_pipeline": "later stages compute less again: memory and time differ",
    "peft.peft_scheme": "only adapters are trained: far less memory and traffic",
}
HARMLESS = (
    r"(model\.)?(exp_manager|tokenizer|data|run|hydra|trainer|log|logger|checkpoint|resume|optim|sched|nsys_profile|hooks|plugins|callbacks)(\..*)?",
    r"name|_target_|restore_from_path|accelerator|logger|enable_.*|max_.*|log_.*|val_.*|limit_.*|accumulate_.*|gradient_.*|benchmark|use_distributed_.*",
    r"init_method_std|use_scaled_.*|layernorm_.*|normalization|do_layer_norm.*|bias.*|.*_fusion|headscale|transformer_block_type|openai_gelu|pre_process",
    r"post_process|persist_layer_norm|apply_.*|rotary_.*|attention_type|native_amp_.*|hysteresis|fp32_.*|fp16_.*|megatron_amp_O2|grad_.*|seed|resume_.*",
    r"use_cpu_.*|onnx_safe|apex_.*|sync_batch_.*|use_emha|fp8_.*|reduce_amax|transformer_engine|mcore_gpt|use_flash_.*|gc_interval|.*_path|.*_paths",
    r"overlap_.*|masked_softmax_.*|normalize_.*|megatron_legacy|precision_.*|nsys.*|inference.*|replace_sampler_ddp|tp_only_.*|use_te_.*|moe_.*",
    r"num_sanity_val_steps|check_val.*|deterministic|devices_.*|strategy|callbacks|profiler|nemo_.*|cross_entropy_.*|batch_p2p_.*|ddp|average_in_.*",
    r"align_.*|ckpt_.*|parallel_save.*|dist_ckpt.*|async_save|encoder_.*|save_.*|variable_.*|seq_len_.*|rope_.*|scale_.*|qk_layernorm|add_.*",
)
KINDS = Kinds(PLACES, WARNED, HARMLESS)


def read(text: str) -> Imported:
    """The scenario document of a NeMo YAML.

    >>> read("trainer:\\n  devices: 8\\n  num_nodes: 2\\nmodel:\\n  tensor_model_parallel_size: 4").document["gpus"]
    16
    """
    tables = leaves(
        interpolated(tables_of_yaml(text)),
        NESTED,
        ("exp_manager", "optim.", "model.optim", "model.tokenizer", "model.data", "tokenizer"),
    )
    file, remarks = Translated(tables), Remarks()
    file.counts("num_nodes", "devices")
    file.counts("num_nodes", "num_gpus_per_node")
    if (length := next((name for name in SEQUENCES if file.value(name) is not None), None)) is not None:
        file.rename({length: "--seq-length"})
    file.rename(NAMES)
    file.flags(FLAGS)
    _model(file)
    _numbers(file)
    if str(file.value("optim.name")) in OPTIMIZERS:
        file.put("--use-distributed-optimizer", "optim.name")
    file.flags({"fsdp": "--use-torch-fsdp2"})
    return file.read("nemo", KINDS, remarks, "megatron")


def _model(file: Translated) -> None:
    if file.value("num_query_groups") is not None:
        file.put("--group-query-attention", "num_query_groups")
    if "swiglu" in str(file.value("activation")) or "geglu" in str(file.value("activation")):
        file.put("--swiglu", "activation")
    file.flags({"share_embeddings_and_output_weights": "--untie-embeddings-and-output-weights"}, when=False)
    if (kind := file.value("position_embedding_type")) is not None:
        known = one_of("position_embedding_type", kind, POSITIONS)
        file.put("--position-embedding-type", "position_embedding_type", known if known in POSITIONS[:2] else "none")


def _numbers(file: Translated) -> None:
    """The precision: 16, bf16, 16-mixed, bf16-mixed; FP8 stands beside it."""
    named = str(file.value("precision")).removesuffix("-mixed").removesuffix("-true")
    if named in PRECISIONS:
        file.put(PRECISIONS[named], "precision")
    if file.value("fp8") is not None and str(file.value("fp8")) not in ("False", "hybrid", "e4m3"):
        file.put("--fp8-format", "fp8", "hybrid")
    elif str(file.value("fp8")) in ("hybrid", "e4m3"):
        file.put("--fp8-format", "fp8", str(file.value("fp8")))
    file.flags({"grad_reduce_in_fp32": "--grad-reduce-in-bf16"}, when=False)


SOURCE = Source(
    "nemo",
    "NeMo",
    "a NeMo YAML",
    lambda kind, text: (
        kind == "yaml"
        and has("tensor_model_parallel_size", "micro_batch_size")(text)
        and has("trainer", "model", "_target_", "strategy", "num_layers")(text)
        and not has("parallelism", "fsdp_config", "distributed_type")(text)
    ),
    read,
    KINDS,
)
