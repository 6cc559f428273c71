"""A model's config.json: the shape alone, which opens the planner with it."""

import json

from engine.catalog.hardware import cluster_named
from engine.catalog.hf_config import families, reading_of_config
from engine.importing.imported import Imported, Remarks, Taken, assumed_cluster, imported
from engine.importing.kinds import Kinds
from engine.importing.source import Source, has
from engine.importing.tables import tables_of_json
from engine.language.document import divisors

KEYS = {key: f"model.{field}" for family in families().values() for field, keys in family.names.items() for key in keys}
KINDS = Kinds(KEYS, harmless=(r".*",))


def read(text: str) -> Imported:
    """The scenario document of a config.json: its model on one node of the usual cluster.

    >>> read('{"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 512, "num_attention_heads": 8, "vocab_size": 1000, "intermediate_size": 1024}').document["gpus"]
    8
    """
    tables, remarks = tables_of_json(text), Remarks()
    config = json.loads(text)
    found = reading_of_config(config)
    model = found.model
    cluster = cluster_named(assumed_cluster())
    gpus = cluster.gpus_per_node
    tp = max(size for size in divisors(gpus) if model.heads % size == 0 and model.kv_heads % size == 0)
    remarks.assumed += [
        f"gpus: a config.json names none, so choose them on the page; until then {gpus} are assumed, tp {tp}",
        f"cluster: the text names no GPUs; {cluster.title} is assumed",
    ]
    remarks.assumed += [
        f"model.{field}: the file is silent, so as usual for {found.family}: {value}"
        for field, value in found.assumed.items()
    ]
    remarks.warned += [sentence.removesuffix(".") for sentence in (*found.acts, *found.left_out)]
    remarks.harmless += found.harmless
    remarks.unknown += [f"{key}: it is not read" for key in found.not_read]
    taken = [
        Taken(tables.lines.get(name, 1), tables.said(name), f"model.{field}")
        for key, field in found.fields.items()
        for name in tables.given
        if name == key or name.endswith(f".{key}")  # inside the text part of a multimodal file
    ]
    document = {
        "model": {"hf_config": dict(found.kept)},
        "cluster": cluster.name,
        "gpus": gpus,
        "layout": {"tp": tp, "pp": 1},
    }
    return imported("config", document, taken, remarks)


SOURCE = Source(
    "config",
    "config.json",
    "a model's config.json",
    lambda kind, text: kind == "json" and has("model_type", "architectures", "hidden_size", "n_embd", "d_model")(text),
    read,
    KINDS,
)
