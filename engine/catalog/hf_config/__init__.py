"""A Hugging Face config.json read as a Model: every key is used, refused by its name, or listed as not read.

To add a family: a line in families.yaml. To refuse one with what kind it is: a name in kinds.yaml.
"""

from collections.abc import Mapping
from typing import Any

from engine.catalog.hf_config.family import families, kinds
from engine.catalog.hf_config.reading import Reading, reading_of_config
from engine.catalog.model import Model

__all__ = ["Reading", "families", "kinds", "model_of_config", "reading_of_config", "reduced"]


def model_of_config(config: object) -> Model:
    """The model a config.json describes.

    config   the parsed file: an object with model_type

    >>> model_of_config({"model_type": "llama", "num_hidden_layers": 80, "hidden_size": 8192, "num_attention_heads": 64,
    ...                  "num_key_value_heads": 8, "intermediate_size": 28672, "vocab_size": 128256}).gated
    True

    Breaks down for encoder-decoders, state-space models and hybrids, which are refused by their kind.
    """
    return reading_of_config(config).model


def reduced(config: object) -> Mapping[str, Any]:
    """The file with the keys that are read and no others: about 1 kB, and the same model.

    >>> llama = {"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
    ...          "intermediate_size": 256, "vocab_size": 100}
    >>> reduced({**llama, "use_cache": True, "colour": "red"}) == llama
    True
    """
    return reading_of_config(config).kept
