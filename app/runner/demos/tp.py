"""Tensor parallelism: each matrix is cut, every rank sees all tokens, and partial results are summed after each pair."""

from app.runner import rules
from app.runner.description import Demo, Params
from app.runner.knobs import MODEL, ranks_knob
from app.runner.predict import BYTES_OF, FP32_BYTES, Calls, Held, Prediction, held, small_gpt
from engine.language.inputs import Choice
from engine.lens.demo_model import TinyGpt, cut_parameters
from engine.lens.demo_traffic import stream_bytes, tensor_parallel_sums

INPUTS = Choice("inputs", "queries, keys, values", "shared", {"shared": "share one input", "own": "each its own"})
THREE = "cut one by one, queries, keys and values each sum the gradient of their own input: 6L+1 sums and not Megatron's 4L+1"
ONE_MORE = "the sum beyond 4L is the gradient of the head's input"
LOGITS = "every rank needs all logits for the loss, so they are gathered: larger than any sum of the layers"


def cut_held(model: TinyGpt, ranks: int) -> tuple[Held, ...]:
    """The state of a rank: its cut of each matrix, and embeddings and norms whole."""
    own = cut_parameters.explain("parameters of a rank", N=model.parameters, R=model.uncut_parameters, t=ranks)
    return tuple(Held(part, held(b, own, 1, part)) for part, b in BYTES_OF.items())


def stream(params: Params, channels: int) -> int:
    """Bytes of one number for each token and channel."""
    return stream_bytes(FP32_BYTES, int(params["batch"]), int(params["sequence"]), channels)


def predict(params: Params) -> Prediction:
    """Matrices cut; two sums a layer and pass."""
    model, ranks, shared = small_gpt(params), int(params["ranks"]), params["inputs"] == "shared"
    sums = tensor_parallel_sums.explain("all-reduces", L=model.layers, shared=int(shared))
    count = round(sums.value)
    return Prediction(
        held=cut_held(model, ranks),
        calls=(
            Calls(
                "tp",
                "all_reduce",
                count,
                count * stream(params, model.hidden),
                ranks,
                why=ONE_MORE if shared else THREE,
            ),
            Calls("tp", "all_gather", 1, stream(params, model.vocabulary), ranks, why=LOGITS),
        ),
        terms=(sums,),
        notes=(ONE_MORE if shared else THREE, LOGITS),
    )


DEMO = Demo(
    name="tp",
    title="Tensor parallel (TP)",
    idea="Each matrix is cut over the ranks: columns of the first, rows of the second; one all-reduce puts the pair together.",
    axes=("tp",),
    knobs=(ranks_knob(), *MODEL, INPUTS),
    rules=(rules.heads_divide("ranks"),),
    predict=predict,
)
