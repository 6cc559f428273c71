"""What the engine says of a role before it is traced, with a reason wherever the framework does not do as the engine assumes."""

from dataclasses import dataclass
from functools import cached_property

from app.runner.fake.kept import fused_layer, layer_bytes, stage_bytes
from app.runner.fake.request import FakeRequest
from app.runner.fake.roles import Role
from app.runner.fake.shapes import Unit, units_of
from app.runner.fake.traffic import Traffics, traffics_of
from engine.layout.stages import Chunk
from engine.memory.parameters import count
from engine.memory.stage import StageMemory, stage_memory
from engine.pipeline.in_flight import in_flight_1f1b


@dataclass(frozen=True)
class RolePrediction:
    """The engine's answer for one role."""

    request: FakeRequest
    role: Role

    @property
    def chunk(self) -> Chunk:
        return self.request.stages[self.role.stage].whole

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        return units_of(self.request.model, self.chunk)

    @cached_property
    def comm(self) -> tuple[Traffics, ...]:
        """Collectives of a step, axis by axis."""
        return traffics_of(self.request, self.role)

    @property
    def parameters(self) -> int:
        """Parameters of the whole stage, by the engine's count."""
        parts, chunk = count(self.request.model), self.chunk
        ends = parts.embedding * chunk.embedding + (parts.head + parts.final_norm) * chunk.head
        return round(chunk.layers * parts.dense_layer + ends)

    @cached_property
    def shard(self) -> int:
        """Parameters whose master copy this rank keeps."""
        return sum(unit.shard(self.request.layout.tp, self.request.layout.data_width) for unit in self.units)

    @property
    def parameter_bytes(self) -> int:
        return 4 * self.shard

    @property
    def optimizer_bytes(self) -> int:
        """Two moments of Adam."""
        return 8 * self.shard

    @cached_property
    def memory(self) -> StageMemory:
        """The engine's breakdown of this stage: ZeRO-1, fused kernels."""
        request = self.request
        return stage_memory(
            request.model,
            request.layout,
            request.sequence_tokens,
            request.stages[self.role.stage],
            self.in_flight,
            request.traced.calibration,
            fp8=False,
            fused=True,
        )

    @property
    def in_flight(self) -> int:
        """Micro-batches whose activations the stage holds at once."""
        layout = self.request.layout
        return int(in_flight_1f1b(p=layout.pp, m=layout.micro_batches, i=self.role.stage))

    @property
    def layer_bytes(self) -> int:
        """Activations that eager PyTorch keeps of one layer and micro-batch."""
        return layer_bytes(self.request.model, self.request.layout, self.request.sequence_tokens)

    @property
    def fused_layer_bytes(self) -> float:
        return fused_layer(self.request.model, self.request.layout, self.request.sequence_tokens).value

    @property
    def kept_bytes(self) -> int:
        """What one forward pass of the stage leaves behind."""
        return stage_bytes(self.request.model, self.request.layout, self.request.sequence_tokens, self.chunk)


def predict(request: FakeRequest, role: Role) -> RolePrediction:
    """What the engine says of this role. Runs nothing.

    >>> from app.runner.fake.request import fake_request
    >>> from app.runner.fake.roles import role_named
    >>> request = fake_request({"layers_per_stage": 20})
    >>> predict(request, role_named(request, "middle")).parameters / 1e9
    17.113088
    """
    return RolePrediction(request, role)
