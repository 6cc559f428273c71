"""What a trace on fake ranks is asked for: a dense Llama of the catalogue, its layout, and how deep to trace it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property

from engine.catalog.model import Model, catalogue, model_named
from engine.catalog.scenarios import preset_document
from engine.language.document import beside, divisors
from engine.language.inputs import Amount, Choice, read_all
from engine.language.refusal import Refusal, together
from engine.layout.layout import Layout
from engine.layout.stages import Stage, stages_of
from engine.scenario import Scenario, scenario_from

CLUSTER = "hgx-h100"  # links decide no count and no byte: any cluster would do
FULL = 0
CARD = preset_document()
USUAL = scenario_from(CARD).layout
PASS_S = 0.15  # one layer and micro-batch, there and back: measured 0.1 to 0.2 on one core
MOST_PASSES = 1024  # layers x micro-batches of one role: two and a half minutes


def llamas() -> list[str]:
    """Models of the catalogue with the shape that is traced: dense, gated, untied, whole.

    >>> llamas()
    ['llama-3-8b', 'llama-3-70b', 'llama-3-405b', 'llama-2-70b']
    """
    return [name for name in catalogue() if is_llama(model_named(name))]


def is_llama(model: Model) -> bool:
    """Whether llama.py builds this shape."""
    strange = model.experts or model.latent or model.tied or model.positions or model.round_parameters
    return model.gated and not strange and model.heads * model.head_dim == model.hidden


MODEL = Choice(
    "model",
    "model",
    CARD["model"],
    {name: name for name in llamas()},
    side_by_side=False,
    said="is no dense Llama of the catalogue, and only that shape is traced ({names})",
)
TP = Amount("tp", "tensor · TP", USUAL.tp, 1, 64, reach=(1, 8))
PP = Amount("pp", "pipeline · PP", USUAL.pp, 1, 64, reach=(1, 16))
DP = Amount("dp", "data · DP", USUAL.data_width, 2, 4096, reach=(2, 256))
MICRO_BATCHES = Amount("micro_batches", "micro-batches, 0 for as many as stages", 0, 0, 256, reach=(0, 16))
LAYERS = Amount("layers_per_stage", "layers a stage", 2, 0, 200, reach=(1, 8))  # 0 for the whole model
SEQUENCE = Amount("sequence_tokens", "sequence", 8192, 64, 1_048_576, "tokens", scale="doubling", reach=(512, 131_072))
INPUTS = (MODEL, TP, PP, DP, MICRO_BATCHES, LAYERS, SEQUENCE)
RANKS = Amount("ranks", "ranks", CARD["gpus"], 2, TP.high * PP.high * DP.high)


@dataclass(frozen=True)
class Asked:
    """The request as it is written, each as INPUTS bounds it: JSON of a page, a command line or a test."""

    model: str
    tp: int
    pp: int
    dp: int
    micro_batches: int
    layers_per_stage: int
    sequence_tokens: int


@dataclass(frozen=True)
class FakeRequest:
    """A request whose parts are known to fit together. Only fake_request makes one."""

    asked: Asked
    whole: Scenario
    traced: Scenario

    @property
    def ranks(self) -> int:
        return self.traced.gpus

    @property
    def model(self) -> Model:
        """The model as traced: with fewer layers, unless it is traced whole."""
        return self.traced.model

    @property
    def layout(self) -> Layout:
        return self.traced.layout

    @property
    def sequence_tokens(self) -> int:
        return self.traced.sequence_tokens

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        return stages_of(self.model, self.layout)

    @property
    def role_s(self) -> float:
        """About how long one role takes on one core, torch already imported.   [s]"""
        return 1 + PASS_S * max(stage.whole.layers for stage in self.stages) * self.layout.micro_batches

    def document(self) -> dict[str, int | str]:
        """As an event gives it, and as another process takes it."""
        return asdict(self.asked)


def fake_request(given: Mapping[str, object]) -> FakeRequest:
    """The request of a document, or one Refusal that carries everything wrong with it.

    >>> fake_request({"tp": 8, "pp": 4, "dp": 32}).ranks
    1024
    >>> fake_request({"tp": 16})
    Traceback (most recent call last):
    engine.language.refusal.Refusal: tp = 16: tp must divide the 8 key-value heads: PyTorch cuts matrices and copies no heads; \
the nearest that works: 8
    """
    asked = Asked(**read_all(INPUTS, given, "unknown key; known are {names}"))
    asked = replace(asked, micro_batches=asked.micro_batches or max(2, asked.pp))
    model = model_named(asked.model)
    if found := [*_cut_refusals(asked, model), *_size_refusals(asked, model)]:
        raise together(found)
    shallow = model.model_copy(update={"layers": asked.layers_per_stage * asked.pp or model.layers})
    request = FakeRequest(asked, _scenario(asked, model), _scenario(asked, shallow))
    if len({stage.whole.layers for stage in request.stages[1:-1]}) > 1:
        raise Refusal(
            "pp",
            asked.pp,
            f"deals {model.layers} layers unevenly over the middle stages, which one role stands for",
            beside(asked.pp, [p for p in divisors(model.layers) if p <= 64]),
        )
    return request


def dp_of(ranks: int, asked: Mapping[str, object]) -> int:
    """Data-parallel width that so many ranks leave, or a Refusal.

    >>> dp_of(1024, {"tp": 8, "pp": 4})
    32
    """
    degrees = read_all((TP, PP), {name: value for name, value in asked.items() if name in ("tp", "pp")}, "")
    tp, pp = degrees["tp"], degrees["pp"]
    if ranks < 1 or ranks % (tp * pp):
        near = str(max(1, round(ranks / (tp * pp))) * tp * pp)
        raise Refusal("ranks", ranks, f"must be a multiple of tp {tp} x pp {pp}", near, "degrees-do-not-multiply")
    return ranks // (tp * pp)


def _cut_refusals(asked: Asked, model: Model) -> list[Refusal]:
    tp, reasons = (
        asked.tp,
        (
            (model.kv_heads, f"the {model.kv_heads} key-value heads: PyTorch cuts matrices and copies no heads"),
            (model.vocab, f"the vocabulary of {model.vocab}: each rank holds as many rows"),
            (model.ffn, f"the MLP's inner size {model.ffn}"),
        ),
    )
    works = [t for t in divisors(model.kv_heads) if model.vocab % t == 0 and model.ffn % t == 0]
    return [
        Refusal("tp", tp, f"tp must divide {whole}", beside(tp, works), "does-not-divide")
        for number, whole in reasons
        if number % tp
    ][:1]


def _size_refusals(asked: Asked, model: Model) -> list[Refusal]:
    layers = asked.layers_per_stage or -(-model.layers // asked.pp)
    found = []
    if asked.micro_batches < (least := max(2, asked.pp)):
        rule = f"PyTorch's 1F1B fills all {asked.pp} stages, and one micro-batch cannot show what a second one adds"
        found.append(Refusal("micro_batches", asked.micro_batches, rule, str(least)))
    if layers * asked.pp > 10_000:
        found.append(
            Refusal("layers_per_stage", layers, "gives the model more than 10,000 layers", str(10_000 // asked.pp))
        )
    if (passes := layers * asked.micro_batches) > MOST_PASSES:
        rule = f"{layers} layers x {asked.micro_batches} micro-batches are {passes} passes; {MOST_PASSES} are traced at most"
        found.append(Refusal("micro_batches", asked.micro_batches, rule, str(max(2, MOST_PASSES // layers))))
    return found


def _scenario(asked: Asked, model: Model) -> Scenario:
    """The same question to the engine. FSDP2 that keeps its weights gathered between the passes is ZeRO-1 to it."""
    layout = {"tp": asked.tp, "pp": asked.pp, "dp": asked.dp, "micro_batches": asked.micro_batches, "zero": 1}
    document = {
        "model": model.model_dump(),
        "cluster": CLUSTER,
        "gpus": asked.tp * asked.pp * asked.dp,
        "sequence_tokens": asked.sequence_tokens,
        "layout": layout,
    }
    try:
        return scenario_from(document)
    except Refusal as refusal:
        raise together([_in_our_words(each) for each in refusal.all]) from None


def _in_our_words(refusal: Refusal) -> Refusal:
    """The engine's refusal with our name of the field."""
    field = refusal.field.removeprefix("layout.")
    return Refusal(field, refusal.value, refusal.rule, refusal.nearest, refusal.code)
