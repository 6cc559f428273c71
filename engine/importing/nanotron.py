"""nanotron: a pasted YAML as a scenario document."""

from typing import Any

from engine.importing.files import Translated
from engine.importing.imported import Imported, Remarks, Taken
from engine.importing.kinds import Kinds
from engine.importing.source import Source, has
from engine.importing.tables import tables_of_yaml
from engine.language.choice import one_of

CONFIG = "model.model_config."
NAMES = {
    f"{CONFIG}num_hidden_layers": "--num-layers",
    f"{CONFIG}hidden_size": "--hidden-size",
    f"{CONFIG}num_attention_heads": "--num-attention-heads",
    f"{CONFIG}num_key_value_heads": "--num-query-groups",
    f"{CONFIG}intermediate_size": "--ffn-hidden-size",
    f"{CONFIG}vocab_size": "--vocab-size",
    f"{CONFIG}moe_config.num_experts": "--num-experts",
    f"{CONFIG}moe_config.top_k": "--moe-router-topk",
    f"{CONFIG}moe_config.moe_intermediate_size": "--moe-ffn-hidden-size",
    "parallelism.tp": "--tensor-model-parallel-size",
    "parallelism.pp": "--pipeline-model-parallel-size",
    "parallelism.context_parallel_size": "--context-parallel-size",
    "parallelism.expert_parallel_size": "--expert-model-parallel-size",
    "tokens.micro_batch_size": "--micro-batch-size",
    "tokens.batch_accumulation_per_replica": "--gradient-accumulation-steps",
    "tokens.sequence_length": "--seq-length",
    "tokens.train_steps": "--train-iters",
    "optimizer.zero_stage": "--zero-stage",
}
PLACES = {
    **dict.fromkeys(NAMES, "model and layout"),
    f"{CONFIG}tie_word_embeddings": "model.tied",
    "parallelism.dp": "layout.dp",
    "parallelism.tp_mode": "layout.sequence_parallel",
    "parallelism.pp_engine": "layout.schedule",
    "parallelism.recompute_layer": "layout.recompute",
    "optimizer.accumulate_grad_in_fp32": "layout.gradient_bytes",
    "model.dtype": "precision",
}
WARNED = {
    "parallelism.tp_recompute_allgather": "gathered inputs are gathered again in the backward pass: less memory, more traffic",
    "parallelism.domino": "tensor-parallel traffic runs beside products: a shorter step",
    f"{CONFIG}sliding_window_size": "attention looks back a window only: less work",
    f"{CONFIG}no_rope_layer": "some layers have no positions",
}
HARMLESS = (
    r"checkpoints\..*|data_stages|general\..*|lighteval.*|logging\..*|profiler.*|tokenizer\..*|optimizer\..*|s3_upload.*|metrics_logging.*",
    r"model\.(ddp_bucket_cap_mb|init_method\..*|make_vocab_size_divisible_by)|model\.model_config\..*|data\..*|experiment_logger.*",
    r"parallelism\.(tp_linear_async_communication|moe_layer_recompute)|tokens\.(limit_.*|val_check_interval)",
)
ENGINES = {"1f1b": "1f1b", "afab": "gpipe"}
KINDS = Kinds(PLACES, WARNED, HARMLESS)


def read(text: str) -> Imported:
    """The scenario document of a nanotron YAML.

    >>> read("parallelism: {dp: 2, tp: 4, pp: 1}\\ntokens: {micro_batch_size: 1, sequence_length: 2048}").document["gpus"]
    8
    """
    file, remarks = Translated(tables_of_yaml(text)), Remarks()
    file.rename(NAMES)
    if file.value(f"{CONFIG}num_hidden_layers") is not None:
        file.put("--swiglu", f"{CONFIG}num_hidden_layers")
        file.put("--position-embedding-type", f"{CONFIG}num_hidden_layers", "rope")
    if file.value(f"{CONFIG}num_key_value_heads") is not None:
        file.put("--group-query-attention", f"{CONFIG}num_key_value_heads")
    file.flags({f"{CONFIG}tie_word_embeddings": "--untie-embeddings-and-output-weights"}, when=False)
    file.flags({"parallelism.recompute_layer": "--checkpoint-activations"})
    file.flags({"optimizer.accumulate_grad_in_fp32": "--grad-reduce-in-bf16"}, when=False)
    if (kind := file.value("model.dtype")) in ("bfloat16", "float16"):
        file.put("--bf16" if kind == "bfloat16" else "--fp16", "model.dtype")
    if str(file.value("parallelism.tp_mode")).upper() == "REDUCE_SCATTER":
        file.put("--sequence-parallel", "parallelism.tp_mode")
    if (dp := file.whole("parallelism.dp")) is not None:
        others = [file.whole(f"parallelism.{axis}") or 1 for axis in ("tp", "pp", "context_parallel_size")]
        file.launched.world = dp * others[0] * others[1] * others[2]
        file.launched.taken.append(
            Taken(file.tables.lines.get("parallelism.dp", 1), f"parallelism.dp = {dp}", "layout.dp")
        )
    return file.read("nanotron", KINDS, remarks, "megatron", _schedule(file))


def _schedule(file: Translated) -> dict[str, Any]:
    engine = file.value("parallelism.pp_engine")
    return {} if engine is None else {"schedule": ENGINES[one_of("parallelism.pp_engine", engine, ENGINES)]}


SOURCE = Source(
    "nanotron",
    "nanotron",
    "a nanotron YAML",
    lambda kind, text: kind == "yaml" and has("parallelism")(text) and has("tokens")(text),
    read,
    KINDS,
)
