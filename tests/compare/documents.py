"""Scenario documents drawn by lot over everything a scenario can say: plain JSON, from names the API describes."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.compare.api import names_in

ROUNDS = 3  # of each model on each cluster
ORDERS = (
    "tp-cp-ep-dp-pp",
    "tp-cp-ep-dp-pp",
    "tp-ep-cp-dp-pp",
    "cp-tp-ep-dp-pp",
    "tp-dp-cp-ep-pp",
    "tp-cp-ep-pp-dp",
    "pp-tp-cp-ep-dp",
    "dp-cp-ep-tp-pp",
    "tp-cp-dp-pp",
    "tp-tp-cp-ep-dp-pp",
)
SHAPES: tuple[Mapping[str, Any], ...] = (
    {"layers": 24, "hidden": 2048, "heads": 16, "vocab": 50304, "tied": True, "positions": 2048},
    {"layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 8, "ffn": 14336, "vocab": 128256, "gated": True},
    {
        "layers": 16,
        "hidden": 2048,
        "heads": 16,
        "vocab": 50304,
        "ffn": 8192,
        "experts": 64,
        "top_k": 8,
        "moe_ffn": 1024,
        "gated": True,
    },
    {
        "hf_config": {
            "model_type": "llama",
            "num_hidden_layers": 28,
            "hidden_size": 3072,
            "num_attention_heads": 24,
            "num_key_value_heads": 8,
            "intermediate_size": 8192,
            "vocab_size": 128256,
            "tie_word_embeddings": True,
        }
    },
    {"hf_config": {"model_type": "unheard-of", "num_hidden_layers": 2}},
)
ATTEMPTS = 4
PLAIN: Mapping[str, Mapping[str, Any]] = {  # what is changed of a layout whose field is refused
    "vp": {"vp": 1},
    "ep": {"ep": 1},
    "cp": {"cp": 1},
    "hsdp_shard": {"hsdp_shard": None},
    "rank_order": {"rank_order": ORDERS[0]},
    "pp": {"pp": 2, "vp": 1, "schedule": "1f1b"},
    "tp": {"tp": 1},
    "dp": {},
    "micro_batches": {"micro_batches": 64},
}


@dataclass(frozen=True)
class Lot:
    """Choices by a digest of what is chosen and for what: one more name in a family changes few of them.

    >>> Lot("a").of("tp", (1, 2, 4)) == Lot("a").of("tp", (1, 2, 4))
    True
    """

    seed: str

    def of(self, field: str, options: Sequence[Any]) -> Any:
        """One of them; an option that stands there twice has two tickets."""
        tickets = [
            (option, f"{field} {option} {options[:place].count(option)}") for place, option in enumerate(options)
        ]
        return max(tickets, key=lambda ticket: self._digest(ticket[1]))[0]

    def once_in(self, field: str, times: int) -> bool:
        return self._digest(field)[0] * times < 256

    def _digest(self, text: str) -> bytes:
        return hashlib.sha256(f"{self.seed} {text}".encode()).digest()


def documents(schema: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(name, document): every model on every cluster, then shapes and changed clusters."""
    fields = schema["properties"]
    models, clusters = names_in(fields["model"]), names_in(fields["cluster"])
    for model in models:
        for cluster in clusters:
            for number in range(ROUNDS):
                lot = Lot(f"{model} {cluster} {number}")
                yield lot.seed, document(lot, model, cluster, fields)
    for place, shape in enumerate(SHAPES):
        for cluster in clusters:
            lot = Lot(f"shape {place} {cluster}")
            changed = {
                "base": cluster,
                "oversubscription": lot.of("oversubscription", (1, 1.5, 3, 7)),
                "gpus_per_node": lot.of("gpus_per_node", (4, 8, 16)),
            }
            yield lot.seed, document(lot, dict(shape), changed, fields)


def document(lot: Lot, model: Any, cluster: Any, fields: Mapping[str, Any]) -> dict[str, Any]:
    """One scenario: its degrees multiply to its GPUs; whether it has a meaning is for the program to say."""
    layout = fields["layout"]["properties"]
    degrees = {
        "tp": lot.of("tp", (1, 2, 4, 8, 8)),
        "pp": lot.of("pp", (1, 2, 4, 8, 16)),
        "dp": lot.of("dp", (1, 2, 4, 8, 16, 64)),
        "cp": lot.of("cp", (2, 4)) if lot.once_in("long", 4) else 1,
    }
    schedule = lot.of("schedule", names_in(layout["schedule"]))
    cut: dict[str, Any] = {
        **degrees,
        "ep": lot.of("ep", (2, 4, 8, 16, 64)) if lot.once_in("experts", 3) else 1,
        "schedule": schedule,
        "vp": lot.of("vp", (2, 3, 4, 5)) if schedule == "interleaved" or lot.once_in("chunks", 20) else 1,
        "micro_batch": lot.of("micro_batch", (1, 1, 2, 4)),
        "micro_batches": degrees["pp"] * lot.of("micro_batches", (1, 2, 4, 16)),
        "zero": lot.of("zero", (0, 1, 2, 3)),
        "recompute": lot.of("recompute", names_in(layout["recompute"])),
        "gradient_bytes": lot.of("gradient_bytes", names_in(layout["gradient_bytes"])),
        "sequence_parallel": not lot.once_in("whole norms", 4),
        "rank_order": lot.of("rank_order", ORDERS),
    }
    if lot.once_in("groups", 5):
        cut["hsdp_shard"] = max(1, degrees["dp"] * degrees["cp"] // 2)
    gpus = degrees["tp"] * degrees["pp"] * degrees["dp"] * degrees["cp"]
    made = {
        "model": model,
        "cluster": cluster,
        "gpus": gpus + lot.once_in("one too many", 25),
        "layout": cut,
        "sequence_tokens": lot.of("sequence", (2048, 4096, 8192, 8192, 32768, 8190)),
        "precision": lot.of("precision", names_in(fields["precision"])),
    }
    if lot.once_in("stack", 2):
        made["stack"] = lot.of("stack", names_in(fields["stack"]))
    if lot.once_in("run", 3):
        made["training"] = {
            "tokens": lot.of("tokens", (1e11, 2e12, 15e12)),
            "usd_per_gpu_hour": lot.of("price", (0, 2.5, 9.99)),
            "mfu": lot.of("mfu", (None, 0.4, 1)),
        }
    return made


def mended(refused: Mapping[str, Any], fields: list[str]) -> dict[str, Any] | None:
    """The scenario with the fields that were refused made plain; None where that is not known here."""
    made, cut = dict(refused), dict(refused["layout"])
    for field in fields:
        name = field.removeprefix("layout.")
        if name in PLAIN:
            cut |= PLAIN[name]
        elif field in ("precision", "sequence_tokens"):
            made[field] = "bf16" if field == "precision" else 8192
        elif field != "gpus":
            return None
    return {**made, "layout": cut, "gpus": cut["tp"] * cut["pp"] * cut["dp"] * cut["cp"]}
