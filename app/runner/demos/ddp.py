"""DDP: every rank holds the whole model; gradients are all-reduced in buckets while the backward pass goes on."""

from app.runner import rules
from app.runner.description import Demo, Params
from app.runner.knobs import MODEL, ranks_knob
from app.runner.predict import FP32_BYTES, Calls, Measurable, Prediction, held_everywhere, small_gpt
from engine.language.inputs import Choice
from engine.language.units import KIB, MB
from engine.lens.demo_model import TinyGpt, gradient_buckets
from engine.network.collectives import send_s

INDEX_BYTES = 4
BUCKET = Choice(
    "bucket_kib", "bucket cap", 1024, {256: "256 KiB", 1024: "1 MiB", 4096: "4 MiB", 25600: "25 MiB, PyTorch's own"}
)
LINK = Choice("link_mb_per_s", "virtual link", 0, {0: "none", 20: "20 MB/s", 80: "80 MB/s", 320: "320 MB/s"})
ONE_AT_FIRST = "in its first step DDP uses one bucket: only then does it know in which order gradients become ready"
REBUILT = "after the first step DDP lays its buckets anew, last layers first"
TOLD = "before its second step rank 0 tells all others how it laid the buckets"
STARTED = "before the first step rank 0's parameters are broadcast to all others, once"


def gradient_calls(model: TinyGpt, ranks: int, bucket_kib: int) -> tuple[Calls, ...]:
    """What DDP's reducer issues."""
    whole = round(FP32_BYTES * model.parameters.value)
    buckets = gradient_buckets([FP32_BYTES * size for size in model.ready_order], bucket_kib * KIB)
    layout = INDEX_BYTES * (len(model.tensors) + 1 + len(buckets))  # an index for each gradient, a size for each bucket
    return (
        Calls("dp", "all_reduce", 1, whole, ranks, "first", why=ONE_AT_FIRST),
        Calls("dp", "all_reduce", len(buckets), whole, ranks, "later", why=REBUILT),
        Calls("dp", "broadcast", 2, layout, ranks, "second", why=TOLD),
    )


def predict(params: Params) -> Prediction:
    """Everything on every rank, and a sum of all gradients."""
    model, link = small_gpt(params), int(params["link_mb_per_s"])
    return Prediction(
        held=held_everywhere(model),
        calls=gradient_calls(model, int(params["ranks"]), int(params["bucket_kib"])),
        more=(_slow_link(model, link),) if link else (),
        notes=(ONE_AT_FIRST, STARTED),
    )


def _slow_link(model: TinyGpt, mb_per_s: int) -> Measurable:
    """All gradients pass the virtual link one after the other, however they are cut into buckets."""
    least = send_s.explain("on the link", S=FP32_BYTES * model.parameters.value, B=mb_per_s * MB, a=0)
    return Measurable(
        "link",
        "last step's gradients on the virtual link, at least",
        least.value,
        "s",
        tolerance=1e-4,
        at_least=True,
        why="buckets only change when it starts, so how much of it hides behind the backward pass",
    )


DEMO = Demo(
    name="ddp",
    title="Data parallel (DDP)",
    idea="Every rank holds the whole model and takes a slice of the batch; gradients are summed bucket by bucket while the "
    "backward pass goes on.",
    axes=("dp",),
    knobs=(ranks_knob(4, 16), *MODEL, BUCKET, LINK),
    rules=(rules.batch_divides("ranks"),),
    predict=predict,
)
