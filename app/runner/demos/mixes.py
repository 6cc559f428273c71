"""Several parallel dimensions at once, on one mesh: the mixes that real trainings use."""

from collections.abc import Mapping

from app.runner import rules
from app.runner.demos.pp import SHAPES_FIRST
from app.runner.description import Demo, Params
from app.runner.knobs import BATCH, HEADS, HIDDEN, MODEL, SEQUENCE, Value
from app.runner.mixed_shapes import Mesh
from app.runner.predict import BYTES_OF, GLOO_REDUCE_SCATTER, Held, Prediction, held, small_gpt
from engine.language.inputs import Amount, Choice
from engine.language.refusal import Refusal

MOST_RANKS = 8
LAYERS = Amount("layers", "layers", 4, 1, 8)
MICRO_BATCHES = Amount("micro_batches", "micro-batches", 4, 1, 32)
STEPS = Amount("steps", "steps", 3, 2, 20)
DEGREES = {
    "pp": Amount("pp", "pipeline stages", 2, 2, 4),
    "dp": Amount("dp", "data-parallel ranks (FSDP2)", 2, 2, 4),
    "tp": Amount("tp", "tensor-parallel ranks", 2, 2, 4),
}
ONLY_TWO = {axis: Choice(axis, knob.label, 2, {2: "2"}) for axis, knob in DEGREES.items()}  # 3D on eight ranks
SHARES = {
    "pp": "a stage holds whole layers; the first also the embeddings, the last also the norm and the head",
    "dp": "FSDP deals the rows of every tensor over its ranks",
    "tp": "tensor parallelism cuts matrices and leaves embeddings and norms whole",
}
KEPT = "beside a pipeline, weights stay gathered: freed, each of four micro-batches would gather them anew, five times the bytes"
ONCE = "the schedule sums gradients over micro-batches first: they are scattered once a step"
COPIES = "each tensor-parallel rank sends the whole stream to its peer of the next stage"
NO_DDP = "PyTorch's DDP cannot take matrices that are cut (it mixes torch.Tensor and DTensor): FSDP2 can"


def mesh_of(params: Params) -> Mesh:
    """The mesh that these knobs ask for; an axis that the mix lacks has one rank."""
    degrees = {axis: int(params.get(axis, 1)) for axis in DEGREES}
    micro_batches = int(params.get("micro_batches", 1))
    return Mesh(small_gpt(params), **degrees, batch=int(params["batch"]), micro_batches=micro_batches)


def ranks(params: Params) -> int:
    return mesh_of(params).ranks


def predict(params: Params) -> Prediction:
    """State of each rank, and collectives axis by axis."""
    mesh = mesh_of(params)
    axes = [axis for axis in DEGREES if axis in params]
    whose, piped = "; ".join(SHARES[axis] for axis in axes), mesh.pp > 1
    why = {
        ("dp", "reduce_scatter"): f"{ONCE}; {GLOO_REDUCE_SCATTER}" if piped else GLOO_REDUCE_SCATTER,
        ("dp", "all_gather"): KEPT if piped else "",
        ("pp", "send"): COPIES if mesh.tp > 1 else "",
    }
    notes = [SHAPES_FIRST] if piped else []
    notes += [KEPT, ONCE] if piped and mesh.dp > 1 else []
    notes += [NO_DDP] if mesh.dp > 1 and mesh.tp > 1 else []
    return Prediction(
        held=tuple(
            Held(part, held(b, mesh.model.parameters, mesh.ranks, part), tuple(b * n for n in mesh.held_numbers), whose)
            for part, b in BYTES_OF.items()
        ),
        calls=mesh.calls(why),
        notes=tuple(notes),
    )


def _whole_micro_batches(params: Mapping[str, Value]) -> Refusal | None:
    """Slices of the batch, cut once more."""
    dp, m, batch = int(params.get("dp", 1)), int(params["micro_batches"]), int(params["batch"])
    if batch % (dp * m) == 0:
        return None
    near = " or ".join(str(n * dp * m) for n in (batch // (dp * m), batch // (dp * m) + 1) if n)
    rule = (
        f"dp = {dp} slices of micro_batches = {m} each must divide it, or ranks train on unequal parts: torch accepts unequal "
        "slices in silence, and unequal micro-batches fail on the last stage only"
    )
    return Refusal("batch", batch, rule, near, "divides")


A_LAYER_EACH = rules.at_least("layers", "pp", "a stage without a layer leaves its optimizer an empty list")
ENOUGH = rules.at_least("micro_batches", "pp", "1F1B in PyTorch needs as many micro-batches as stages")


def _mix(name: str, title: str, idea: str, *axes: str) -> Demo:
    """A mix of these axes."""
    piped = "pp" in axes
    own = [rules.product_at_most(axes, MOST_RANKS)]
    own += [rules.heads_divide("tp")] if "tp" in axes else []
    own += [A_LAYER_EACH, ENOUGH, _whole_micro_batches] if piped else [rules.batch_divides("dp")]
    knobs = (MICRO_BATCHES, HIDDEN, LAYERS, HEADS, SEQUENCE, BATCH, STEPS) if piped else MODEL
    degrees = [DEGREES[axis] if len(axes) < len(DEGREES) else ONLY_TWO[axis] for axis in axes]
    return Demo(name, title, idea, axes, (*degrees, *knobs), tuple(own), predict, ranks, strategy="mixed")


DEMOS = (
    _mix("tp-fsdp", "TP inside, FSDP across", "Each matrix is cut over tensor-parallel ranks, and what each of them holds is "
         "dealt over data-parallel ranks.", "dp", "tp"),
    _mix("pp-fsdp", "Pipeline of FSDP stages", "Every stage is sharded over data-parallel ranks; gradients are scattered once, "
         "after the last micro-batch.", "pp", "dp"),
    _mix("pp-tp", "Pipeline of TP stages", "Inside a stage matrices are cut; between stages each rank sends to its own peer.",
         "pp", "tp"),
    _mix("3d", "3D: PP x DP x TP", "Eight ranks, three dimensions: stages of layers, slices of the batch, cuts of matrices.",
         "pp", "dp", "tp"),
)  # fmt: skip
