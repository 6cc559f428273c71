"""HSDP: one copy of the model is cut over a group of ranks; each group holds another copy."""

from app.runner import rules
from app.runner.demos.fsdp2 import ROOT_KEPT, shard_calls, shard_held
from app.runner.description import Demo, Params
from app.runner.knobs import MODEL
from app.runner.predict import FP32_BYTES, GLOO_REDUCE_SCATTER, Calls, Prediction, small_gpt
from engine.language.inputs import Amount
from engine.lens.demo_model import TinyGpt
from engine.lens.demo_traffic import fsdp_scatters

MOST_RANKS = 8
COPIES, SHARDS = "dp_replicate", "dp_shard"
ACROSS = "after the scatter inside a group, each rank sums its share with its peers in the other groups"


def ranks(params: Params) -> int:
    return int(params[COPIES]) * int(params[SHARDS])


def predict(params: Params) -> Prediction:
    """As FSDP2 inside a group, and a sum of each share across groups."""
    model, copies, shards = small_gpt(params), int(params[COPIES]), int(params[SHARDS])
    one_copy = shard_held(model, shards)
    return Prediction(
        held=tuple(type(h)(h.part, h.term, h.per_rank and h.per_rank * copies, h.why) for h in one_copy),
        calls=(*shard_calls(model, shards, SHARDS, "blocks", FP32_BYTES), _across(model, shards, copies)),
        notes=(ACROSS, ROOT_KEPT, GLOO_REDUCE_SCATTER),
    )


def _across(model: TinyGpt, shards: int, copies: int) -> Calls:
    share = FP32_BYTES * model.padded_numbers(shards) // shards
    return Calls(COPIES, "all_reduce", fsdp_scatters(model.layers), share, copies, why=ACROSS)


DEMO = Demo(
    name="hsdp",
    title="Sharded inside, copied across (HSDP)",
    idea="Tensors are cut over the ranks of a group, as if it were one node, and each group holds a copy; only shares cross "
    "between groups.",
    axes=(COPIES, SHARDS),
    knobs=(Amount(COPIES, "copies", 2, 2, 4), Amount(SHARDS, "shards", 2, 2, 4), *MODEL),
    rules=(rules.product_at_most((COPIES, SHARDS), MOST_RANKS), rules.batch_divides_product((COPIES, SHARDS))),
    predict=predict,
    ranks=ranks,
)
