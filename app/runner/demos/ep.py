"""Expert parallelism: experts are spread over the ranks, and each token travels to the two that it visits."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial

from app.runner import rules
from app.runner.description import Demo, Params
from app.runner.event_kinds import Check, RunEvent
from app.runner.expert_routing import BUSIEST, TOP_K, RankedRouting, ranked_routing
from app.runner.knobs import BATCH, HEADS, HIDDEN, SEQUENCE, STEPS, Value, ranks_knob
from app.runner.measures import lists_of
from app.runner.predict import BYTES_OF, FP32_BYTES, Calls, Held, Prediction, small_gpt
from engine.language.inputs import Amount, Choice
from engine.language.refusal import Refusal
from engine.lens.demo_model import TinyGpt
from engine.lens.routing import busiest_gpu_load
from engine.memory.state import held_with_experts_bytes

LAYERS = Amount("layers", "layers", 2, 1, 8)
EXPERTS = Choice("experts", "experts", 8, {4: "4", 8: "8"})
SKEW = Choice(
    "skew",
    "tokens of the busiest expert",
    200,
    {100: "its share", 150: "1.5 times its share", 200: "twice", 300: "three times", 400: "four times: every token"},
    "%",
)
PASSES = 4
SCRIPTED = (
    "who goes where is scripted by the skew: a learned router would take many steps to become so uneven, and would first "
    "have to tell the other ranks how many tokens come; how much an expert's answer counts is learned"
)
EXCHANGED = "a layer sends tokens out, answers back, and the gradients of both; the larger of what goes and comes"
COMMON = "what is no expert is on every rank and saw another slice of the batch on each: its gradients are averaged once a step"
LARGER = "each expert is as large as the MLP that it replaces"


def common_numbers(model: TinyGpt, experts: int) -> int:
    """Parameters that every rank holds: the model without its MLPs, and the routers."""
    return round(model.parameters.value) - model.layers * mlp_numbers(model) + model.layers * experts * model.hidden


def mlp_numbers(model: TinyGpt) -> int:
    return 8 * model.hidden**2


def expert_calls(routing: RankedRouting, layers: int, hidden: int) -> tuple[Calls, ...]:
    """All-to-alls of each rank, ranks with equal bytes together."""
    ranks, count = defaultdict(list), PASSES * layers
    for rank in range(routing.ranks):
        rows = max(sum(routing.sent(rank)), sum(routing.received(rank)))
        ranks[count * rows * hidden * FP32_BYTES].append(rank)
    return tuple(
        Calls("ep", "all_to_all", count, size, routing.ranks, on=tuple(on) if len(ranks) > 1 else None, why=EXCHANGED)
        for size, on in ranks.items()
    )


def load_rows(routing: RankedRouting, events: Sequence[RunEvent]) -> list[Check]:
    """Tokens of the busiest expert, and of the busiest rank, over the mean of all."""
    found = lists_of(events, "experts")
    if not found:
        return []
    expected = [[routing.routing.loads[expert] for expert in routing.experts_of(rank)] for rank in range(routing.ranks)]
    loads = (
        ("expert", [n for mine in expected for n in mine], [n for mine in found for n in mine]),
        ("rank", [sum(mine) for mine in expected], [sum(mine) for mine in found]),
    )
    return [
        Check(
            f"busiest.{what}",
            f"tokens of the busiest {what}",
            over_mean(said),
            over_mean(measured),
            "times the mean",
            0,
            over_mean(said) == over_mean(measured),
            "the answers wait for the busiest",
        )
        for what, said, measured in loads
    ]


def over_mean(values: Sequence[int]) -> float:
    return round(max(values) * len(values) / sum(values), 6)


def predict(params: Params) -> Prediction:
    """State with experts spread, and the exchanges of a routing that is known before the run."""
    model, ranks, experts = small_gpt(params), int(params["ranks"]), int(params["experts"])
    common, routing = common_numbers(model, experts), ranked_routing(params, ranks)
    spread = model.layers * experts * mlp_numbers(model)
    held = tuple(
        Held(part, held_with_experts_bytes.explain(part, b=b, P=common, D=1, E=spread, X=ranks), why=LARGER)
        for part, b in BYTES_OF.items()
    )
    sums = Calls("dp", "all_reduce", 1, FP32_BYTES * common, ranks, why=COMMON)
    busiest = busiest_gpu_load.explain("busiest rank", x=int(params["skew"]) / 100, E=experts, m=routing.experts_each)
    return Prediction(
        held=held,
        calls=(*expert_calls(routing, model.layers, model.hidden), sums),
        terms=(busiest,),
        notes=(SCRIPTED, EXCHANGED, LARGER),
        judges=(partial(load_rows, routing),),
    )


def _skew_fits(params: Mapping[str, Value]) -> Refusal | None:
    most = 100 * int(params["experts"]) // TOP_K
    if int(params["skew"]) <= most:
        return None
    rule = f"of {params['experts']} experts one gets at most every token, {most / 100:g} times its share"
    return Refusal("skew", params["skew"], rule, str(most), "too-much")


DEMO = Demo(
    name="ep",
    title="Expert parallel (EP)",
    idea=f"Each rank holds some experts of every layer; every token travels to the {TOP_K} it visits, and their answers travel back. "
    f"Expert {BUSIEST} is the busiest.",
    axes=("ep", "dp"),
    knobs=(ranks_knob(), EXPERTS, SKEW, HIDDEN, LAYERS, HEADS, SEQUENCE, BATCH, STEPS),
    rules=(rules.experts_divide("ranks"), rules.batch_divides("ranks"), _skew_fits),
    predict=predict,
    reference="ep_alone",
)
