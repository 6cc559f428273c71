"""What a trace found beside what was said before: events with rows that agree or say why not. Knows no torch."""

from collections.abc import Iterator, Sequence

from app.runner.event_bounds import Number
from app.runner.fake.event_kinds import RoleCheck, RoleComm, RoleEvent, RoleMemory, RoleState
from app.runner.fake.measured import Measured
from app.runner.fake.peak import PEAK_SHARE, peak_bytes, peak_parts
from app.runner.fake.predict import RolePrediction
from app.runner.fake.shapes import FSDP_CUT
from app.runner.fake.told import Counted, counted, told_parts
from app.runner.fake.traffic import Traffics
from engine.language.units import bytes_text

MASTER = "norms are whole on every tensor-parallel rank where the engine cuts all by tp; " + FSDP_CUT


def role_events(prediction: RolePrediction, measured: Measured) -> Iterator[RoleEvent]:
    """The events of a traced role: what it holds, issued and kept, and a row for each thing that was predicted."""
    role, rank = prediction.role.name, prediction.role.rank
    held = measured.parameter_bytes, measured.gradient_bytes, measured.optimizer_bytes
    yield RoleState(role, rank, measured.parameters, *held)
    kinds = sorted({(axis, op) for axis, op, _ in measured.comm})
    calls = [
        counted(a, o, {size: n for (x, y, size), n in measured.comm.items() if (x, y) == (a, o)}) for a, o in kinds
    ]
    yield RoleComm(role, rank, 0, tuple(calls))
    layer, seconds = _layer_kept(prediction, measured), round(measured.seconds, 3)
    yield RoleMemory(role, rank, 0, measured.peak_bytes, measured.kept_bytes, layer, seconds)
    yield from rows(prediction, measured)


def rows(said: RolePrediction, measured: Measured) -> Iterator[RoleCheck]:
    """The verdict of a role: counts and bytes exactly, the peak within its tolerance."""
    for expected in said.comm:
        yield from _traffic_rows(said, expected, measured)
    yield from (
        row(said, f"{axis} {op}, not predicted", 0, n, "calls")
        for (axis, op, _), n in measured.comm.items()
        if (axis, op) not in {(c.axis, c.op) for c in said.comm}
    )
    yield from _state_rows(said, measured)
    why = "its layers, and the output, or the head's input and logits"
    layer = _layer_kept(said, measured)
    kept = "kept of one layer and micro-batch"
    yield row(said, kept, said.layer_bytes, layer, "bytes", why=_kept_why(said), engine=said.fused_layer_bytes)
    yield row(said, "kept of one forward pass", said.kept_bytes, measured.kept_bytes, "bytes", why=why)
    peak, most = peak_bytes(said), said.memory.total.value
    yield row(said, "peak memory", peak, measured.peak_bytes, "bytes", PEAK_SHARE, _peak_why(said), engine=most)


def _state_rows(said: RolePrediction, measured: Measured) -> Iterator[RoleCheck]:
    """What a rank holds throughout: weights, gradients and moments."""
    held = measured.parameter_bytes + measured.optimizer_bytes
    yield row(
        said, "parameters of the stage", said.parameters, measured.parameters, "parameters", engine=said.parameters
    )
    yield row(said, "FP32 weights of a rank", said.parameter_bytes, measured.parameter_bytes, "bytes", why=MASTER)
    yield row(said, "gradients of a rank", said.parameter_bytes, measured.gradient_bytes, "bytes", why=MASTER)
    yield row(said, "Adam's moments of a rank", said.optimizer_bytes, measured.optimizer_bytes, "bytes", why=MASTER)
    both, why = said.parameter_bytes + said.optimizer_bytes, "the engine's 12 bytes a parameter over dp; " + MASTER
    yield row(said, "FP32 weights and moments", both, held, "bytes", why=why, engine=said.memory.optimizer.value)


def scaled_rows(
    said: RolePrediction, own: Sequence[Counted], middle: Sequence[Counted], layers: int
) -> Iterator[RoleCheck]:
    """The whole model's collectives from a trace of a few layers, beside what is predicted for it.

    own      collectives of this role, traced with so many layers
    middle   and of a middle stage, which has nothing but layers
    """
    more, why = said.chunk.layers - layers, f"scaled from {layers} to {said.chunk.layers} layers a stage"
    each = {(c.axis, c.op): c for c in middle if c.axis != "pp"}  # sends do not grow with depth
    nothing = counted("", "", {})
    for expected in said.comm:
        kind = (expected.axis, expected.op)
        found, layer = next((c for c in own if (c.axis, c.op) == kind), nothing), each.get(kind, nothing)
        name = f"whole model: {expected.axis} {expected.op.replace('_', '-')}"
        calls, size = (a + more * b / layers for a, b in ((found.n, layer.n), (found.bytes, layer.bytes)))
        yield row(said, f"{name}, calls", expected.count, calls, "calls", why=why)
        yield row(said, f"{name}, bytes", expected.bytes, size, "bytes", why=why)


def _traffic_rows(said: RolePrediction, expected: Traffics, measured: Measured) -> Iterator[RoleCheck]:
    axis, op, why = expected.axis, expected.op, expected.why
    name, calls, size = f"{axis} {op.replace('_', '-')}", measured.times(axis, op), measured.bytes(axis, op)
    yield row(said, f"{name}, calls", expected.count, calls, "calls", why=why, engine=expected.engine_count)
    yield row(said, f"{name}, bytes", expected.bytes, size, "bytes", why=why, engine=expected.engine_bytes)


def row(
    said: RolePrediction,
    name: str,
    predicted: Number,
    measured: Number,
    unit: str,
    tolerance: float = 0.0,
    why: str = "",
    engine: Number | None = None,
) -> RoleCheck:
    """One row of a verdict."""
    ok = abs(measured - predicted) <= tolerance * abs(predicted)
    return RoleCheck(said.role.name, said.role.rank, name, predicted, measured, unit, tolerance, ok, why, engine)


def _layer_kept(prediction: RolePrediction, measured: Measured) -> float:
    """What is measured of a stage, its ends taken off, for one layer."""
    ends = prediction.kept_bytes - prediction.chunk.layers * prediction.layer_bytes
    return (measured.kept_bytes - ends) / prediction.chunk.layers


def _kept_why(prediction: RolePrediction) -> str:
    more = [
        f"{part.what} {bytes_text(part.bytes, True)} for {bytes_text(part.engine_bytes, True)}"
        for part in told_parts(prediction)
        if part.why
    ]
    return f"eager PyTorch keeps more than fused kernels: {', '.join(more)}"


def _peak_why(prediction: RolePrediction) -> str:
    parts = [f"{part.what} {bytes_text(part.bytes, True)}" for part in peak_parts(prediction) if part.bytes]
    said = [part.why for part in peak_parts(prediction) if part.what in ("gradients", "logits") and part.why]
    return f"{', '.join(parts)}. {'; '.join(said)}"
