"""Context parallelism: each sequence is cut over the ranks, and attention finds the other tokens in one of three ways."""

from collections.abc import Mapping, Sequence
from functools import partial

from app.runner import rules
from app.runner.context_strips import heaviest_over_mean
from app.runner.description import Demo, Params
from app.runner.event_kinds import Check, RunEvent
from app.runner.knobs import BATCH, HEADS, HIDDEN, LAYERS, STEPS, Value, ranks_knob
from app.runner.measures import numbers_of
from app.runner.predict import FP32_BYTES, GLOO_REDUCE_SCATTER, Calls, Prediction, held_everywhere, small_gpt
from engine.language.inputs import Amount, Choice
from engine.language.refusal import Refusal
from engine.lens.demo_model import TinyGpt
from engine.lens.ring_attention import causal_worst_over_mean, ring_hop_bytes

FORM = Choice(
    "form",
    "keys and values of other ranks",
    "ring",
    {"gather": "gathered by all", "ring": "passed round a ring", "ulysses": "tokens traded for heads (Ulysses)"},
)
DEALING = Choice(
    "dealing", "tokens of a rank", "zig-zag", {"zig-zag": "a strip from each end", "in-order": "one strip"}
)
SEQUENCE = Amount("sequence", "sequence", 128, 8, 256, "tokens")
OWN_CODE = "PyTorch's context_parallel() does not run on CPUs: this is our own code on its collectives"
WEIGHTS = "the weights are on every rank and saw other tokens on each: their gradients are summed once a step"
HOME = "backward, keys and values travel with their gradients, which make one hop more, to where they belong"
TRADED = "queries, keys and values go out, the output comes back: four exchanges a layer, and four for their gradients"
TOGETHER = "keys and values are gathered together; their gradients are summed and cut again"
COUNTED = "pairs of tokens that the causal mask lets through; plain matrix products compute the others too"


def strip_bytes(params: Params, tensors: int) -> int:
    """Bytes of so many tensors of one rank's tokens in one layer."""
    model, heads = small_gpt(params), int(params["heads"])
    return round(
        ring_hop_bytes(
            tensors,
            FP32_BYTES * int(params["batch"]),
            model.sequence,
            int(params["ranks"]),
            heads,
            model.hidden // heads,
            1,
        )
    )


def attention_calls(params: Params) -> tuple[Calls, ...]:
    """Collectives of all layers, forward and backward, on each rank."""
    layers, n = int(params["layers"]), int(params["ranks"])
    if params["form"] == "gather":
        whole = layers * n * strip_bytes(params, 2)
        kinds = ("all_gather", TOGETHER), ("reduce_scatter", f"{TOGETHER}; {GLOO_REDUCE_SCATTER}")
        return tuple(Calls("cp", op, layers, whole, n, why=why) for op, why in kinds)
    if params["form"] == "ulysses":
        return (Calls("cp", "all_to_all", 8 * layers, layers * strip_bytes(params, 8), n, why=TRADED),)
    hops = layers * (n - 1 + n)
    size = layers * ((n - 1) * (strip_bytes(params, 2) + strip_bytes(params, 4)) + strip_bytes(params, 2))
    return tuple(Calls("cp", op, hops, size, n, why=HOME) for op in ("send", "recv"))


def expected_load(params: Params) -> float:
    """Attention of the busiest rank over the mean."""
    if params["form"] == "ulysses":
        return 1.0
    return heaviest_over_mean(int(params["sequence"]), int(params["ranks"]), str(params["dealing"]))


def load_rows(expected: float, events: Sequence[RunEvent]) -> list[Check]:
    """Causal attention of the busiest rank over the mean of all."""
    pairs = numbers_of(events, "pairs")
    if not pairs:
        return []
    found = max(pairs) * len(pairs) / sum(pairs)
    return [
        Check(
            "load",
            "attention of the busiest rank",
            round(expected, 6),
            round(found, 6),
            "times the mean",
            0,
            round(found, 6) == round(expected, 6),
            COUNTED,
        )
    ]


def predict(params: Params) -> Prediction:
    """The whole state on every rank; keys and values on the way."""
    model, n = small_gpt(params), int(params["ranks"])
    weights = Calls("cp", "all_reduce", 1, _whole_bytes(model), n, why=WEIGHTS)
    in_order = params["dealing"] == "in-order" and params["form"] != "ulysses"
    return Prediction(
        held=held_everywhere(model),
        calls=(*attention_calls(params), weights),
        terms=(causal_worst_over_mean.explain("busiest rank, for long strips", C=n),) if in_order else (),
        notes=(OWN_CODE, WEIGHTS, {"gather": TOGETHER, "ring": HOME, "ulysses": TRADED}[str(params["form"])]),
        judges=(partial(load_rows, expected_load(params)),),
    )


def _whole_bytes(model: TinyGpt) -> int:
    return round(FP32_BYTES * model.parameters.value)


def _whole_strips(params: Mapping[str, Value]) -> Refusal | None:
    """Two strips a rank where one comes from each end."""
    strips = {**params, "strips": int(params["ranks"]) * (2 if params["dealing"] == "zig-zag" else 1)}
    found = rules.sequence_divides_for_context("strips")(strips)
    if found is None:
        return None
    each = "two strips, one from each end" if params["dealing"] == "zig-zag" else "one strip"
    rule = f"{params['ranks']} ranks take {each}, so {found.rule.replace('strips =', 'their number')}"
    return Refusal(found.field, found.value, rule, found.nearest, found.code)


def _whole_heads(params: Mapping[str, Value]) -> Refusal | None:
    return rules.heads_divide("ranks")(params) if params["form"] == "ulysses" else None


DEMO = Demo(
    name="cp",
    title="Context parallel (CP)",
    idea="Every rank holds some tokens of each sequence; only attention looks at others, and fetches their keys and values.",
    axes=("cp",),
    knobs=(ranks_knob(), FORM, DEALING, HIDDEN, LAYERS, HEADS, SEQUENCE, BATCH, STEPS),
    rules=(_whole_strips, _whole_heads),
    predict=predict,
)
