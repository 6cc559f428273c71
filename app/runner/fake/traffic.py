"""Which collectives a role will issue: the engine's for its layers, with a reason wherever the framework issues others."""

from collections import Counter
from dataclasses import dataclass

from app.runner.fake.request import FakeRequest
from app.runner.fake.roles import Role
from app.runner.fake.shapes import FSDP_CUT, units_of
from engine.compute.work import Work
from engine.memory.held import stage_parameter_terms
from engine.network.communication import Traffic
from engine.network.issued import Collective
from engine.scenario import Scenario

AGAIN = "TP gather again"
KEEPS = "Megatron-LM gathers inputs once more for the weight gradients; eager PyTorch kept them (and pays in memory)"
ENDS = "the embedding scatters its output and the head gathers its input, once each way a micro-batch: not in the engine's layers"
NORMS = (
    "norms are whole on every tensor-parallel rank, so their gradients are summed once a step; the loss of a cut vocabulary "
    "takes three sums a micro-batch; all far below 1 % of the bytes, and not in the engine"
)
UNITS = f"one for each layer and one for an end of the model; {FSDP_CUT}, and norms are whole on every tp rank"
BUSIEST = "the engine speaks of a stage with two neighbours"


@dataclass(frozen=True)
class Traffics:
    """Collectives of one axis and kind in a step.

    engine_count   what the engine's estimate says of them, None where it leaves them out
    engine_bytes   and of their bytes
    """

    axis: str
    op: str
    calls: tuple[tuple[int, int], ...]
    engine_count: float | None
    engine_bytes: float | None
    why: str

    @property
    def count(self) -> int:
        return sum(times for _, times in self.calls)

    @property
    def bytes(self) -> int:
        return sum(size * times for size, times in self.calls)


def traffics_of(request: FakeRequest, role: Role) -> tuple[Traffics, ...]:
    """Collectives of a step of this role, axis by axis.

    >>> from app.runner.fake.request import fake_request
    >>> from app.runner.fake.roles import role_named
    >>> request = fake_request({"layers_per_stage": 20})
    >>> [(c.axis, c.op, c.count) for c in traffics_of(request, role_named(request, "middle"))][:2]
    [('tp', 'all_gather', 320), ('tp', 'reduce_scatter', 320)]
    """
    return (*_tensor(request, role), *_data(request, role), *_pipeline(request, role))


def _tensor(request: FakeRequest, role: Role) -> list[Traffics]:
    """The engine's gathers and scatters without the one that eager PyTorch spares itself; ends and norms besides."""
    layout, chunk, found = request.layout, request.stages[role.stage].whole, []
    if layout.tp == 1:
        return []
    issued, ends = layer_collectives(request.traced), int(chunk.embedding) + int(chunk.head)
    for op in ("all_gather", "reduce_scatter"):
        every = [c for c in issued if c.op == op]
        payload, kept = int(every[0].payload_bytes), [c for c in every if c.what != AGAIN]
        times = int(sum(c.count for c in kept) * chunk.layers + ends) * layout.micro_batches
        engine = sum(c.count for c in every) * chunk.layers * layout.micro_batches
        why = "; ".join([*([KEEPS] if kept != every else []), *([ENDS] if ends else [])])
        found.append(Traffics("tp", op, ((payload, times),), engine, engine * payload, why))
    norms = sum(unit.norms for unit in units_of(request.model, chunk))
    sums = Counter({4 * request.model.hidden: norms})
    sums[4 * layout.micro_batch * request.sequence_tokens] += 3 * layout.micro_batches * chunk.head
    return [*found, Traffics("tp", "all_reduce", _sizes(sums), None, None, NORMS)]


def _data(request: FakeRequest, role: Role) -> list[Traffics]:
    layout, stage = request.layout, request.stages[role.stage]
    held = stage_parameter_terms(request.model, layout, stage.whole)
    issued = {c.op: c for c in traffic_of(request.traced).data_parallel(stage, *held, 0.0)}
    units = [unit.gathered(layout.tp, layout.data_width) for unit in units_of(request.model, stage.whole)]
    return [
        Traffics(
            "dp",
            op,
            _sizes(Counter(size * unit for unit in units)),
            issued[op].count,
            issued[op].count * issued[op].payload_bytes,
            UNITS,
        )
        for op, size in (("all_gather", 2), ("reduce_scatter", layout.gradient_bytes))
    ]


def _pipeline(request: FakeRequest, role: Role) -> list[Traffics]:
    layout, send = request.layout, traffic_of(request.traced).pipeline_send()
    if send is None:
        return []
    neighbours = (role.stage > 0) + (role.stage < layout.pp - 1)
    calls = ((int(send.payload_bytes), int(send.count) // 2 * neighbours),)
    why = "" if neighbours == 2 else BUSIEST
    return [Traffics("pp", op, calls, send.count, send.count * send.payload_bytes, why) for op in ("send", "recv")]


def traffic_of(scenario: Scenario) -> Traffic:
    return Traffic(scenario.model, scenario.layout, scenario.cluster, scenario.machine, scenario.sequence_tokens)


def layer_collectives(scenario: Scenario) -> tuple[Collective, ...]:
    """What the engine says one layer issues for one micro-batch. Counts and bytes need no times, so none are given."""
    return traffic_of(scenario).layer(Work(0.0, 0.0, 0.0), moe=False).all


def _sizes(calls: Counter[int]) -> tuple[tuple[int, int], ...]:
    return tuple(sorted((size, times) for size, times in calls.items() if times))
