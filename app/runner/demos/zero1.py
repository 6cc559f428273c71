"""ZeRO-1: as DDP, but each rank keeps and updates only its share of the optimizer state."""

from app.runner import rules
from app.runner.demos.ddp import ONE_AT_FIRST, gradient_calls
from app.runner.description import Demo, Params
from app.runner.knobs import MODEL, ranks_knob
from app.runner.predict import ADAM_BYTES, FP32_BYTES, Calls, Held, Prediction, held, held_everywhere, small_gpt
from engine.language.inputs import Choice
from engine.lens.demo_model import whole_tensor_shards

DEFAULT_BUCKET_KIB = 25 * 1024
BROADCASTS = Choice(
    "broadcasts", "broadcasts", "tensor", {"tensor": "one for each tensor", "rank": "one for each rank"}
)
BROADCAST = (
    "ZeroRedundancyOptimizer sums all gradients everywhere, then broadcasts what each rank updated: 1.5 times the bytes of "
    "ZeRO's own reduce-scatter and all-gather"
)
WHOLE_TENSORS = "ZeroRedundancyOptimizer deals whole tensors, the largest first, so shares are only nearly equal"


def predict(params: Params) -> Prediction:
    """Weights and gradients on every rank; the moments cut by whole tensors."""
    model, ranks = small_gpt(params), int(params["ranks"])
    shares = whole_tensor_shards(model.ready_order[::-1], ranks)
    optimizer = Held(
        "optimizer",
        held(ADAM_BYTES, model.parameters, ranks, "optimizer"),
        tuple(ADAM_BYTES * share for share in shares),
        WHOLE_TENSORS,
    )
    messages = len(model.tensors) if params["broadcasts"] == "tensor" else ranks
    return Prediction(
        held=(*held_everywhere(model)[:2], optimizer),
        calls=_calls(
            gradient_calls(model, ranks, DEFAULT_BUCKET_KIB),
            messages,
            round(FP32_BYTES * model.parameters.value),
            ranks,
        ),
        notes=(BROADCAST, WHOLE_TENSORS, ONE_AT_FIRST),
    )


def _calls(gradients: tuple[Calls, ...], messages: int, whole: int, ranks: int) -> tuple[Calls, ...]:
    """DDP's own, and the broadcasts after the step; in the second step those of DDP's buckets come on top."""
    *sums, layout = gradients
    updated = Calls("dp", "broadcast", messages, whole, ranks, "steady", why=BROADCAST)
    second = Calls(
        "dp",
        "broadcast",
        messages + layout.count,
        whole + layout.bytes,
        ranks,
        "second",
        why=f"{BROADCAST}; {layout.why}",
    )
    return (*sums, updated, second)


DEMO = Demo(
    name="zero1",
    title="Sharded optimizer (ZeRO-1)",
    idea="Every rank holds all weights and gradients, but the optimizer state and the update of only its share, which it then "
    "sends to all others.",
    axes=("dp",),
    knobs=(ranks_knob(), *MODEL, BROADCASTS),
    rules=(rules.batch_divides("ranks"),),
    predict=predict,
)
