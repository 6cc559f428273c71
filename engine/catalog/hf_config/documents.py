"""Other files that lie beside a config.json: named, so that nobody looks for what is wrong with theirs."""

from collections.abc import Mapping
from typing import Any

# a key that tells, and what such a file is
SIGNS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("peft_type",), "an adapter's adapter_config.json: the shape is in the config.json of its base model"),
    (("base_model_name_or_path", "r"), "an adapter's settings: the shape is in the config.json of its base model"),
    (("weight_map",), "the index of a model's weight files: the shape is in the config.json beside it"),
    (("added_tokens_decoder",), "a tokenizer_config.json: the shape is in the config.json beside it"),
    (("chat_template",), "a tokenizer's settings: the shape is in the config.json beside it"),
    (("added_tokens", "model"), "a tokenizer.json: the shape is in the config.json beside it"),
    (("image_processor_type",), "an image processor's settings: the shape is in the config.json beside it"),
    (("feature_extractor_type",), "a feature extractor's settings: the shape is in the config.json beside it"),
    (("processor_class",), "a processor's settings: the shape is in the config.json beside it"),
    (("log_history",), "a trainer_state.json: the shape is in the config.json beside it"),
    (("_diffusers_version",), "a diffusion pipeline's file, which has no decoder's shape"),
    (("zero_optimization",), "DeepSpeed's JSON, which holds no shape; give the model's own config.json"),
    (("train_micro_batch_size_per_gpu",), "DeepSpeed's JSON, which holds no shape; give the model's own config.json"),
    (("dim", "n_layers", "n_heads"), "Meta's params.json: give the config.json of the same model, or a shape"),
    (("bits", "group_size"), "a quantization's settings: the shape is in the config.json beside it"),
)
SAMPLING = ("temperature", "top_p", "top_k", "do_sample", "max_new_tokens", "_from_model_config", "max_length")
SHAPED = ("hidden_size", "n_embd", "d_model", "num_hidden_layers", "n_layer", "n_layers", "text_config", "model_type")


def other_file(config: Mapping[str, Any]) -> str | None:
    """What this file is, where it is no config.json.

    >>> other_file({"weight_map": {}})
    "the index of a model's weight files: the shape is in the config.json beside it"
    """
    if "model_type" in config and any(key in config for key in SHAPED[:-1]):
        return None
    for keys, what in SIGNS:
        if all(key in config for key in keys):
            return what
    if not any(key in config for key in SHAPED) and any(key in config for key in SAMPLING):
        return "a generation_config.json: the shape is in the config.json beside it"
    if not any(key in config for key in SHAPED) and "tokenizer_class" in config:
        return "a tokenizer_config.json: the shape is in the config.json beside it"
    return None
