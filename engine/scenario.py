"""One question to the engine: a model, on a cluster, cut by a layout, for so many tokens."""

from typing import Annotated, Any

from pydantic import Field, InstanceOf

from engine.catalog.calibration import Calibration, Stack, fitted_calibration, software
from engine.catalog.hardware import Cluster, cluster_from
from engine.catalog.hf_config import model_of_config
from engine.catalog.model import Model, model_named
from engine.catalog.precision import PRECISIONS
from engine.compute.machine import Machine
from engine.language.document import Count, Document, OneOf, Real, Says, Whole, read
from engine.language.refusal import Refusal, together
from engine.layout.layout import Layout
from engine.layout.meaning import meaning_refusals

StackName = Annotated[str, OneOf(software())]
PrecisionName = Annotated[str, OneOf(PRECISIONS)]


MOST_TOKENS = 1e18
MOST_FOLLOWED = 4  # values tried as a way out of one refusal


class Training(Document, frozen=True):
    """The run the step is repeated for."""

    tokens: Real = Says("tokens of the run", "tokens", default=15e12, gt=0, le=MOST_TOKENS)
    usd_per_gpu_hour: Real = Says("price", "USD per GPU-hour", default=2.5, ge=0, le=1e6)
    mfu: Real | None = Says(
        "a share of peak to plan with, instead of the one computed", "share", default=None, ge=1e-4, le=1
    )


class ScenarioDocument(Document, frozen=True):
    """A scenario as it is written: JSON of the CLI and the API. Everything but model, cluster and gpus has a default."""

    model: str | dict[str, Any] = Field(
        description="catalogue name, shape, or {hf_config: config.json}", examples=["llama-3-70b"]
    )
    cluster: str | dict[str, Any] = Field(
        description="catalogue name, or {base: name} with numbers changed", examples=["hgx-h100"]
    )
    gpus: Whole = Count(le=1_048_576, meaning="GPUs of the run")
    sequence_tokens: Whole = Count(8192, ge=1, le=16_777_216, meaning="length of a sequence", unit="tokens")
    precision: PrecisionName = Says("what matrix products are computed in", default="bf16")
    stack: StackName | None = Says(
        "whose software runs it; null picks fsdp2 when zero is 3, megatron otherwise", default=None
    )
    layout: Layout = Says("how the model is cut over the GPUs", default=Layout())
    training: Training = Says("the run the step is repeated for", default=Training())


class Scenario(Document, frozen=True):
    """A scenario whose parts are known to fit together. Only scenario_from makes one."""

    model: Model
    cluster: Cluster
    gpus: int
    sequence_tokens: int
    precision: PrecisionName
    stack_name: StackName
    layout: Layout
    training: Training
    calibration: InstanceOf[Calibration]

    def with_calibration(self, calibration: Calibration) -> "Scenario":
        """The same question to an engine that knows something else of machines.

        >>> usual = scenario_from({"model": "llama-3-70b", "cluster": "hgx-h100", "gpus": 1024})
        >>> usual.with_calibration(usual.calibration.changed(nic_share=0.9)) == usual
        False
        """
        return self.model_copy(update={"calibration": calibration})

    @property
    def stack(self) -> Stack:
        """Preset of the software on this GPU."""
        return self.calibration.stack_for(self.stack_name, self.cluster.gpu.name, self.precision)

    @property
    def machine(self) -> Machine:
        return Machine(self.cluster.gpu, self.precision, self.stack, self.gpus, self.calibration)

    @property
    def fp8(self) -> bool:
        """Whether matrix products take eight-bit numbers."""
        return self.machine.fp8

    @property
    def fused(self) -> bool:
        """Whether the software fuses the loss: others keep FP32 logits as well."""
        return software()[self.stack_name].fused_loss


def model_from(document: object) -> Model:
    """The model of a scenario: a catalogue name, a shape, or {"hf_config": a Hugging Face config.json}.

    >>> model_from({"layers": 2, "hidden": 512, "heads": 8, "vocab": 1000}).ffn
    2048
    """
    if isinstance(document, str):
        return model_named(document)
    if isinstance(document, dict) and "hf_config" in document:
        if len(document) > 1:
            raise Refusal("model", None, "hf_config stands alone: it already holds the whole shape")
        return model_of_config(document["hf_config"])
    if isinstance(document, dict):
        _ask_for_gate(document)
    return read(Model, document, "model")


def _ask_for_gate(shape: dict[str, Any]) -> None:
    """An inner size of one's own means one thing with a gate and another without: neither is guessed."""
    given = next((name for name in ("ffn", "moe_ffn") if shape.get(name)), None)
    if given and shape.get("gated") is None:
        rule = f"is needed beside {given} = {shape[given]}: a gated MLP (SwiGLU) has three matrices of that size, others two"
        raise Refusal("model.gated", None, rule, "true or false")


def scenario_from(document: object, calibration: Calibration | None = None) -> Scenario:
    """The scenario of a document, or one Refusal that carries everything wrong with it.

    calibration   what is known of machines; the catalogue's, unless given

    >>> scenario_from({"model": "llama-3-70b", "cluster": "hgx-h100", "gpus": 1024}).layout.dp
    32
    """
    try:
        return _scenario(document, calibration)
    except Refusal as refusal:
        raise together(
            [_followed(each, document) if each.field.startswith("layout.") else each for each in refusal.all]
        ) from None


def _followed(refusal: Refusal, document: object) -> Refusal:
    """The same refusal with a way out that works: the end of a range may be no value for this model or schedule."""
    near = refusal.nearest
    for _ in range(MOST_FOLLOWED):
        if not near or not near.isdecimal():
            break
        try:
            _scenario(_with(document, refusal.field.split("."), int(near)), None)
        except Refusal as found:
            again = next((each.nearest for each in found.all if each.field == refusal.field), None)
            if again is None or again == near:
                break
            near = again
        else:
            break
    if near == refusal.nearest:
        return refusal
    return Refusal(refusal.field, refusal.value, refusal.rule, near, refusal.code)


def _with(document: Any, path: list[str], value: int) -> Any:
    """A document with one value changed."""
    if not path:
        return value
    inner = document if isinstance(document, dict) else {}
    return {**inner, path[0]: _with(inner.get(path[0]), path[1:], value)}


def _scenario(document: object, calibration: Calibration | None) -> Scenario:
    given = read(ScenarioDocument, document)
    found: list[Refusal] = []
    parts: dict[str, Any] = {}
    for name, make in (("model", model_from), ("cluster", cluster_from)):
        try:
            parts[name] = make(getattr(given, name))
        except Refusal as refusal:
            found.extend(refusal.all)
    if "cluster" in parts:
        try:
            parts["cluster"].gpu.peak(given.precision)
        except Refusal as refusal:
            found.append(refusal)
    found.extend(given.layout.refusals())
    layout = given.layout.on_gpus(given.gpus)
    if "model" in parts:
        found.extend(meaning_refusals(layout, parts["model"], given.gpus, given.sequence_tokens))
    if found:
        raise together(found)
    stack = given.stack or usual_stack(layout.zero)
    return Scenario.model_construct(
        **parts,
        gpus=given.gpus,
        sequence_tokens=given.sequence_tokens,
        precision=given.precision,
        stack_name=stack,
        layout=layout,
        training=given.training,
        calibration=calibration or fitted_calibration(),
    )


def usual_stack(zero: int) -> str:
    """The software of a scenario that names none, by its ZeRO stage.

    >>> usual_stack(2), usual_stack(3)
    ('megatron', 'fsdp2')
    """
    return "fsdp2" if zero == 3 else "megatron"
