"""What a trace found beside what was said before: events with rows that agree or say why not. Knows no torch."""

from collections.abc import Iterator
from typing import Any

from app.runner.fake.documents import calls_document, parts_document
from app.runner.fake.measured import Measured
from app.runner.fake.peak import PEAK_SHARE, peak_bytes, peak_parts
from app.runner.fake.predict import RolePrediction
from app.runner.fake.shapes import FSDP_CUT
from app.runner.fake.traffic import Traffics
from engine.language.units import bytes_text

MASTER = "norms are whole on every tensor-parallel rank where the engine cuts all by tp; " + FSDP_CUT


def role_events(prediction: RolePrediction, measured: Measured) -> Iterator[dict[str, Any]]:
    """The events of a traced role: what it holds, issued and kept, and a row for each thing that was predicted."""
    role = {"role": prediction.role.name, "rank": prediction.role.rank}
    yield {
        "event": "state",
        **role,
        "parameters": measured.parameters,
        "param_bytes": measured.parameter_bytes,
        "grad_bytes": measured.gradient_bytes,
        "opt_bytes": measured.optimizer_bytes,
    }
    kinds = sorted({(axis, op) for axis, op, _ in measured.comm})
    calls = [
        calls_document(a, o, {size: n for (x, y, size), n in measured.comm.items() if (x, y) == (a, o)})
        for a, o in kinds
    ]
    yield {"event": "comm", **role, "step": 0, "comm": calls}
    yield {
        "event": "mem",
        **role,
        "step": 0,
        "peak_bytes": measured.peak_bytes,
        "kept_bytes": measured.kept_bytes,
        "layer_kept_bytes": _layer_kept(prediction, measured),
        "seconds": round(measured.seconds, 3),
    }
    for row in rows(prediction, measured):
        yield {"event": "check", **role, **row}


def rows(said: RolePrediction, measured: Measured) -> Iterator[dict[str, Any]]:
    """The verdict of a role: counts and bytes exactly, the peak within its tolerance."""
    for expected in said.comm:
        yield from _traffic_rows(expected, measured)
    yield from (
        row(f"{axis} {op}, not predicted", 0, n, "calls")
        for (axis, op, _), n in measured.comm.items()
        if (axis, op) not in {(c.axis, c.op) for c in said.comm}
    )
    yield from _state_rows(said, measured)
    why = "its layers, and the output, or the head's input and logits"
    layer = _layer_kept(said, measured)
    kept = "kept of one layer and micro-batch"
    yield row(kept, said.layer_bytes, layer, "bytes", why=_kept_why(said), engine=said.fused_layer_bytes)
    yield row("kept of one forward pass", said.kept_bytes, measured.kept_bytes, "bytes", why=why)
    peak, most = peak_bytes(said), said.memory.total.value
    yield row("peak memory", peak, measured.peak_bytes, "bytes", PEAK_SHARE, _peak_why(said), engine=most)


def _state_rows(said: RolePrediction, measured: Measured) -> Iterator[dict[str, Any]]:
    """What a rank holds throughout: weights, gradients and moments."""
    held = measured.parameter_bytes + measured.optimizer_bytes
    yield row("parameters of the stage", said.parameters, measured.parameters, "parameters", engine=said.parameters)
    yield row("FP32 weights of a rank", said.parameter_bytes, measured.parameter_bytes, "bytes", why=MASTER)
    yield row("gradients of a rank", said.parameter_bytes, measured.gradient_bytes, "bytes", why=MASTER)
    yield row("Adam's moments of a rank", said.optimizer_bytes, measured.optimizer_bytes, "bytes", why=MASTER)
    both, why = said.parameter_bytes + said.optimizer_bytes, "the engine's 12 bytes a parameter over dp; " + MASTER
    yield row("FP32 weights and moments", both, held, "bytes", why=why, engine=said.memory.optimizer.value)


def scaled_rows(
    said: RolePrediction, own: list[dict[str, Any]], middle: list[dict[str, Any]], layers: int
) -> Iterator[dict[str, Any]]:
    """The whole model's collectives from a trace of a few layers, beside what is predicted for it.

    own      collectives of this role, traced with so many layers
    middle   and of a middle stage, which has nothing but layers
    """
    more, why = said.chunk.layers - layers, f"scaled from {layers} to {said.chunk.layers} layers a stage"
    each = {(c["axis"], c["op"]): c for c in middle if c["axis"] != "pp"}  # sends do not grow with depth
    for expected in said.comm:
        kind = (expected.axis, expected.op)
        found = next((c for c in own if (c["axis"], c["op"]) == kind), {"n": 0, "bytes": 0})
        name = f"whole model: {expected.axis} {expected.op.replace('_', '-')}"
        for what, predicted, unit in (("n", expected.count, "calls"), ("bytes", expected.bytes, "bytes")):
            scaled = found[what] + (more * each[kind][what] / layers if kind in each else 0)
            yield row(f"{name}, {unit}", predicted, scaled, unit, why=why)


def _traffic_rows(said: Traffics, measured: Measured) -> Iterator[dict[str, Any]]:
    name, op = f"{said.axis} {said.op.replace('_', '-')}", said.op
    yield row(
        f"{name}, calls", said.count, measured.times(said.axis, op), "calls", why=said.why, engine=said.engine_count
    )
    yield row(
        f"{name}, bytes", said.bytes, measured.bytes(said.axis, op), "bytes", why=said.why, engine=said.engine_bytes
    )


def row(
    name: str,
    predicted: float,
    measured: float,
    unit: str,
    tolerance: float = 0.0,
    why: str = "",
    engine: float | None = None,
) -> dict[str, Any]:
    """One row of a verdict.

    tolerance   share of the prediction by which the measurement may differ
    engine      what the engine's plain estimate says, where it is another number
    """
    ok = abs(measured - predicted) <= tolerance * abs(predicted)
    return {
        "name": name,
        "predicted": predicted,
        "measured": measured,
        "unit": unit,
        "tolerance": tolerance,
        "ok": ok,
        "why": why,
        "engine": engine,
    }


def _layer_kept(prediction: RolePrediction, measured: Measured) -> float:
    """What is measured of a stage, its ends taken off, for one layer."""
    ends = prediction.kept_bytes - prediction.chunk.layers * prediction.layer_bytes
    return (measured.kept_bytes - ends) / prediction.chunk.layers


def _kept_why(prediction: RolePrediction) -> str:
    parts = parts_document(prediction)
    more = [
        f"{p['what']} {bytes_text(p['bytes'], True)} for {bytes_text(p['engine_bytes'], True)}"
        for p in parts
        if p["why"]
    ]
    return f"eager PyTorch keeps more than fused kernels: {', '.join(more)}"


def _peak_why(prediction: RolePrediction) -> str:
    parts = [f"{part.what} {bytes_text(part.bytes, True)}" for part in peak_parts(prediction) if part.bytes]
    said = [part.why for part in peak_parts(prediction) if part.what in ("gradients", "logits") and part.why]
    return f"{', '.join(parts)}. {'; '.join(said)}"
