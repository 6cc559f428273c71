"""Tensor with sequence parallelism: where tensor parallelism repeats work on all tokens, each rank takes a slice of them."""

from app.runner import rules
from app.runner.demos.tp import cut_held, stream
from app.runner.description import Demo, Params
from app.runner.knobs import MODEL, ranks_knob
from app.runner.predict import FP32_BYTES, GLOO_REDUCE_SCATTER, Calls, Prediction, small_gpt
from engine.language.inputs import Choice
from engine.lens.demo_model import TinyGpt
from engine.lens.demo_traffic import partial_norm_sums, sequence_parallel_gathers, sequence_parallel_scatters

LOSS = Choice("loss", "loss", "whole", {"whole": "logits gathered", "parallel": "each rank its part of the vocabulary"})
NORMS = (
    "a rank's norms see only its tokens, so their gradients are partial sums; DTensor adds them up whenever AdamW reads them, "
    "three times"
)
SOFTMAX_SUMS = 3  # the largest logit, the sum of exponentials, the logit of the right token
SPREAD = "the loss over a cut vocabulary takes three small sums in place of a gather of all logits"


def predict(params: Params) -> Prediction:
    """Gathers and scatters in place of the sums of tensor parallelism."""
    model, ranks, spread = small_gpt(params), int(params["ranks"]), params["loss"] == "parallel"
    gathers = sequence_parallel_gathers.explain("all-gathers", L=model.layers, w=int(not spread))
    scatters = sequence_parallel_scatters.explain("reduce-scatters", L=model.layers)
    each = stream(params, model.hidden)
    logits = 0 if spread else stream(params, model.vocabulary)
    gathered = (round(gathers.value) - (not spread)) * each + logits
    return Prediction(
        held=cut_held(model, ranks),
        calls=(
            Calls("tp", "all_gather", round(gathers.value), gathered, ranks),
            Calls(
                "tp",
                "reduce_scatter",
                round(scatters.value),
                round(scatters.value) * each,
                ranks,
                why=GLOO_REDUCE_SCATTER,
            ),
            _sums(model, stream(params, 1) if spread else 0, ranks),
        ),
        terms=(gathers, scatters),
        notes=(NORMS, GLOO_REDUCE_SCATTER, *((SPREAD,) if spread else ())),
    )


def _sums(model: TinyGpt, softmax_bytes: int, ranks: int) -> Calls:
    """The small all-reduces: norms in the optimizer, and the loss where the vocabulary is cut."""
    norms = partial_norm_sums(model.layers)
    count = norms + (SOFTMAX_SUMS if softmax_bytes else 0)
    size = norms * FP32_BYTES * model.hidden + SOFTMAX_SUMS * softmax_bytes
    return Calls("tp", "all_reduce", count, size, ranks, why=f"{NORMS}; {SPREAD}" if softmax_bytes else NORMS)


DEMO = Demo(
    name="tp-sp",
    title="Tensor with sequence parallel (TP + SP)",
    idea="Between the cut matrices each rank keeps only its slice of the tokens, so norms and the stream of activations are cut "
    "as well.",
    axes=("tp",),
    knobs=(ranks_knob(), *MODEL, LOSS),
    rules=(rules.heads_divide("ranks"), rules.sequence_divides_for_tensor("ranks")),
    predict=predict,
)
