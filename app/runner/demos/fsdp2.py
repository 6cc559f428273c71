"""FSDP2 (ZeRO-3): weights, gradients and optimizer state are all cut; a block's weights are gathered just before use."""

from app.runner import rules
from app.runner.description import Demo, Params
from app.runner.knobs import MODEL, ranks_knob
from app.runner.predict import (
    BF16_BYTES,
    BF16_LOSS,
    BYTES_OF,
    FP32_BYTES,
    FP32_LOSS,
    GLOO_REDUCE_SCATTER,
    Calls,
    Held,
    Prediction,
    held,
    small_gpt,
)
from engine.language.inputs import Choice
from engine.lens.demo_model import TinyGpt
from engine.lens.demo_traffic import fsdp_gathered_bytes, fsdp_gathers, fsdp_scatters

RESHARD = Choice(
    "reshard",
    "after the forward pass",
    "blocks",
    {"blocks": "free the blocks (ZeRO-3)", "all": "free the root as well", "none": "keep everything (as ZeRO-2)"},
)
PRECISION = Choice("precision", "precision", "fp32", {"fp32": "FP32", "bf16": "BF16 weights, FP32 sums"})
FREED = {"none": 0, "blocks": 1, "all": 2}
ROOT_KEPT = "PyTorch keeps the root's weights after the forward pass, since the backward pass needs them first: 2L+1 gathers, not 2(L+1)"
UNEVEN = "rows that do not divide are dealt as torch.chunk deals them; on the wire they are filled up"
HALF = "BF16 halves only the all-gathers: gradients are summed, and state is kept, in FP32"


def shard_held(model: TinyGpt, ranks: int) -> tuple[Held, ...]:
    """Every part of the state cut over so many ranks."""
    numbers = model.row_shard_numbers(ranks)
    even = len(set(numbers)) == 1
    return tuple(
        Held(
            part,
            held(b, model.parameters, ranks, part),
            None if even else tuple(b * n for n in numbers),
            "" if even else UNEVEN,
        )
        for part, b in BYTES_OF.items()
    )


def shard_calls(model: TinyGpt, ranks: int, axis: str, reshard: str, wire_bytes: int) -> tuple[Calls, ...]:
    """Gathers of weights and scatters of gradients inside a group that holds one copy.

    wire_bytes   of a gathered parameter   [bytes]
    """
    padded, block = model.padded_numbers(ranks), model.padded_numbers(ranks, block=True)
    gathered = fsdp_gathered_bytes(wire_bytes, padded, block, model.layers, FREED[reshard])
    gathers = fsdp_gathers(model.layers, FREED[reshard])
    why = ROOT_KEPT if reshard == "blocks" else ""
    return (
        Calls(axis, "all_gather", gathers, gathered, ranks, why=why),
        Calls(axis, "reduce_scatter", fsdp_scatters(model.layers), FP32_BYTES * padded, ranks, why=GLOO_REDUCE_SCATTER),
    )


def bf16_tolerance(steps: int) -> float:
    """Largest difference of a loss after so many steps: roundings of the weights add up as the two trainings part."""
    return BF16_LOSS * max(1.0, steps / 5)


def predict(params: Params) -> Prediction:
    """A share of everything on each rank; weights gathered once or twice, gradients scattered once."""
    model, ranks, half = small_gpt(params), int(params["ranks"]), params["precision"] == "bf16"
    reshard = str(params["reshard"])
    return Prediction(
        loss_tolerance=bf16_tolerance(int(params["steps"])) if half else FP32_LOSS,
        held=shard_held(model, ranks),
        calls=shard_calls(model, ranks, "dp", reshard, BF16_BYTES if half else FP32_BYTES),
        terms=(fsdp_gathers.explain("all-gathers", L=model.layers, reshard=FREED[reshard]),),
        notes=(ROOT_KEPT, GLOO_REDUCE_SCATTER, *((HALF,) if half else ())),
    )


DEMO = Demo(
    name="fsdp2",
    title="Fully sharded (FSDP2, ZeRO-3)",
    idea="Each rank stores a share of every tensor; a block's weights are gathered just before it computes and freed after.",
    axes=("dp",),
    knobs=(ranks_knob(), *MODEL, RESHARD, PRECISION),
    rules=(rules.batch_divides("ranks"),),
    predict=predict,
)
