"""What is said before a trace, as its first event tells it. Knows no torch."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.runner.event_bounds import Bytes, BytesReckoned, Count, RankNumber, Sentence, Word
from app.runner.fake.kept import layer_parts
from app.runner.fake.peak import Part, peak_bytes, peak_parts
from app.runner.fake.predict import RolePrediction


@dataclass(frozen=True)
class Counted:
    """Collectives of one axis and kind: how many, their bytes all together, and the sizes that occur.

    engine_bytes   what the engine's estimate says of them, where it says something
    """

    axis: Word
    op: Word
    n: Count
    bytes: Bytes
    each_bytes: tuple[Bytes, ...]
    why: Sentence = ""
    engine_bytes: BytesReckoned | None = None


@dataclass(frozen=True, kw_only=True)
class ToldByEngine:
    """The engine's breakdown of a stage: ZeRO-1, fused kernels.   [bytes]"""

    weights_bytes: BytesReckoned
    gradients_bytes: BytesReckoned
    optimizer_bytes: BytesReckoned
    activations_bytes: BytesReckoned
    buffers_bytes: BytesReckoned
    total_bytes: BytesReckoned
    layer_kept_bytes: BytesReckoned


@dataclass(frozen=True, kw_only=True)
class ToldRole:
    """A role before it is traced; its fields are those of RolePrediction."""

    role: Word
    rank: RankNumber
    stage: Count
    stands_for: Count
    layers: Count
    comm: tuple[Counted, ...]
    parameters: Count
    parameter_bytes: Bytes
    gradient_bytes: Bytes
    optimizer_bytes: Bytes
    layer_kept_bytes: Bytes
    kept_bytes: Bytes
    in_flight: Count
    peak_bytes: BytesReckoned
    peak_parts: tuple[Part, ...]
    engine: ToldByEngine


@dataclass(frozen=True)
class ToldPart:
    """What eager PyTorch keeps of one kind of tensor, and fused software of the same."""

    what: Word
    bytes: BytesReckoned
    engine_bytes: BytesReckoned
    why: Sentence


@dataclass(frozen=True)
class ToldTrace:
    """Everything said before a trace."""

    roles: tuple[ToldRole, ...]
    layer_parts: tuple[ToldPart, ...]


def told_role(prediction: RolePrediction) -> ToldRole:
    """What is said of a role before its run."""
    memory, role = prediction.memory, prediction.role
    return ToldRole(
        role=role.name,
        rank=role.rank,
        stage=role.stage,
        stands_for=role.stands_for,
        layers=prediction.chunk.layers,
        comm=tuple(counted(c.axis, c.op, dict(c.calls), c.why, c.engine_bytes) for c in prediction.comm),
        parameters=prediction.parameters,
        parameter_bytes=prediction.parameter_bytes,
        gradient_bytes=prediction.parameter_bytes,
        optimizer_bytes=prediction.optimizer_bytes,
        layer_kept_bytes=prediction.layer_bytes,
        kept_bytes=prediction.kept_bytes,
        in_flight=prediction.in_flight,
        peak_bytes=peak_bytes(prediction),
        peak_parts=peak_parts(prediction),
        engine=ToldByEngine(
            weights_bytes=memory.weights.value,
            gradients_bytes=memory.gradients.value,
            optimizer_bytes=memory.optimizer.value,
            activations_bytes=memory.activations.value,
            buffers_bytes=memory.buffers.value,
            total_bytes=memory.total.value,
            layer_kept_bytes=prediction.fused_layer_bytes,
        ),
    )


def told_parts(prediction: RolePrediction) -> tuple[ToldPart, ...]:
    """Where eager PyTorch keeps more than fused software, part by part, of one layer and micro-batch."""
    request = prediction.request
    parts = layer_parts(request.model, request.layout, request.sequence_tokens)
    return tuple(ToldPart(part.what, part.bytes, part.fused, part.why) for part in parts)


def counted(axis: str, op: str, sizes: Mapping[int, int], why: str = "", engine: float | None = None) -> Counted:
    """Collectives of one axis and kind.

    sizes    bytes of one -> how often

    >>> counted("pp", "send", {16: 2, 8: 1})
    Counted(axis='pp', op='send', n=3, bytes=40, each_bytes=(8, 16), why='', engine_bytes=None)
    """
    size = sum(size * n for size, n in sizes.items())
    return Counted(axis, op, sum(sizes.values()), size, tuple(sorted(sizes)), why, engine)
