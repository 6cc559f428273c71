"""What is said before a run, as its first event gives it. Knows no torch."""

from typing import Any

from app.runner.fake.kept import layer_parts
from app.runner.fake.peak import peak_bytes, peak_parts
from app.runner.fake.predict import RolePrediction


def prediction_document(prediction: RolePrediction) -> dict[str, Any]:
    """What is said of a role before its run, as the run.accepted event gives it."""
    memory = prediction.memory
    return {
        **prediction.role.document(),
        "layers": prediction.chunk.layers,
        "comm": [calls_document(c.axis, c.op, dict(c.calls), c.why, c.engine_bytes) for c in prediction.comm],
        "parameters": prediction.parameters,
        "parameter_bytes": prediction.parameter_bytes,
        "gradient_bytes": prediction.parameter_bytes,
        "optimizer_bytes": prediction.optimizer_bytes,
        "layer_kept_bytes": prediction.layer_bytes,
        "kept_bytes": prediction.kept_bytes,
        "in_flight": prediction.in_flight,
        "peak_bytes": peak_bytes(prediction),
        "peak_parts": [{"what": part.what, "bytes": part.bytes, "why": part.why} for part in peak_parts(prediction)],
        "engine": {
            "weights_bytes": memory.weights.value,
            "gradients_bytes": memory.gradients.value,
            "optimizer_bytes": memory.optimizer.value,
            "activations_bytes": memory.activations.value,
            "buffers_bytes": memory.buffers.value,
            "total_bytes": memory.total.value,
            "layer_kept_bytes": prediction.fused_layer_bytes,
        },
    }


def parts_document(prediction: RolePrediction) -> list[dict[str, Any]]:
    """Where eager PyTorch keeps more than fused software, part by part, of one layer and micro-batch."""
    request = prediction.request
    return [
        {"what": part.what, "bytes": part.bytes, "engine_bytes": part.fused, "why": part.why}
        for part in layer_parts(request.model, request.layout, request.sequence_tokens)
    ]


def calls_document(
    axis: str, op: str, sizes: dict[int, int], why: str = "", engine: float | None = None
) -> dict[str, Any]:
    """Collectives of one axis and kind: how many, their bytes all together, and the sizes that occur."""
    found: dict[str, Any] = {
        "axis": axis,
        "op": op,
        "n": sum(sizes.values()),
        "bytes": sum(size * n for size, n in sizes.items()),
        "each_bytes": sorted(sizes),
    }
    return found | ({"why": why} if why else {}) | ({"engine_bytes": engine} if engine is not None else {})
