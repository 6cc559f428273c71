"""What breaks when a trick of the fake trace is left out. One process imports torch and forks for each: python -m tests.demo.fake.tricks NAME…"""

import json
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

import torch
from torch import distributed as dist
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed.pipelining import Schedule1F1B
from torch.distributed.tensor.parallel import loss_parallel

from app.runner.fake import pipeline, trace
from app.runner.fake.held import Held
from app.runner.fake.llama import LlamaStage
from app.runner.fake.predict import predict
from app.runner.fake.request import fake_request
from app.runner.fake.roles import role_named
from app.runner.fake.shard import cut
from app.runner.fake.verdict import rows
from app.runner.fake.watch import Watch
from engine.language.refusal import Refusal

SMALL = {"model": "llama-3-8b", "tp": 2, "pp": 2, "dp": 2, "layers_per_stage": 1, "sequence_tokens": 256}
SHAPES: dict[str, tuple[str, dict[str, Any]]] = {
    "one stage": ("only", {"pp": 1, "layers_per_stage": 2}),
    "no tensor parallelism": ("last", {"tp": 1}),
    "rows that dp does not divide": ("first", {"tp": 4, "dp": 3}),
    "more dp ranks than rows": ("last", {"tp": 8, "dp": 256}),
    "more micro-batches than stages": ("middle", {"pp": 3, "micro_batches": 7}),
}
Found = dict[str, Any]


def agreed(role: str, given: dict[str, Any]) -> Found:
    """Rows of one small trace that do not agree, and how many there are. Such small layers say nothing about a peak."""
    request = fake_request(SMALL | given)
    said = predict(request, role_named(request, role))
    found = list(rows(said, trace.measure(request, said.role)))
    return {"rows": len(found), "wrong": [row.name for row in found if not row.ok and row.name != "peak memory"]}


def raised(function: Callable[[], object]) -> str:
    """The kind and the words of what it raises; empty if nothing."""
    try:
        function()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def small(role: str = "first") -> Found:
    request = fake_request(SMALL)
    return {"request": request, "role": role_named(request, role)}


def voting() -> Found:
    pipeline.StaticSchedule = Schedule1F1B  # type: ignore[misc]
    return {"error": raised(lambda: trace.measure(**small()))}


def gradients_not_asked_for() -> Found:
    plain = pipeline.activations
    pipeline.activations = lambda request: plain(request).detach()  # type: ignore[assignment]
    return {"sends": trace.measure(**small("last")).times("pp", "send")}


def cut_in_fake_mode() -> Found:
    case = small()
    mesh = trace.fake_mesh(**case)
    with FakeTensorMode(allow_non_fake_inputs=True):
        with torch.device("meta"):
            module = LlamaStage(case["request"].model, case["request"].stages[0].whole, 256)
        return {"error": raised(lambda: cut(module, mesh["tp"], mesh["dp"]))}


class SeesShapes(Watch):
    """Does not look away while DTensor runs an operation on whole shapes."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, 0 if name == "_aside" else value)


def whole_shapes_seen() -> Found:
    return {"peak": trace.measure(**small("last"), watch=SeesShapes).peak_bytes}


def as_it_is() -> Found:
    found = trace.measure(**small("last"))
    return {"peak": found.peak_bytes, "sends": found.times("pp", "send")}


def optimizer_peaks() -> Found:
    """Most bytes above parameters, gradients and state that a step of AdamW holds: one parameter at a time, or all at once."""

    def above(foreach: bool) -> int:
        held = Held()
        with FakeTensorMode(), Watch({}, held).watching():
            parameters = [nn.Parameter(torch.empty(1024, 1024)) for _ in range(16)]
            for parameter in parameters:
                parameter.grad = torch.empty(1024, 1024)
            optimizer = torch.optim.AdamW(parameters, foreach=foreach)
            optimizer.step()
            return held.peak_bytes - held.now_bytes

    return {"each": above(False), "foreach": above(True), "parameter": 4 * 1024 * 1024}


def loss_parallel_twice() -> Found:
    once = loss_parallel()
    with once:
        pass
    return {"error": raised(lambda: once.__enter__())}


def cast_in_fake_mode() -> Found:
    with torch.device("meta"):
        module = nn.Linear(8, 8)
    with FakeTensorMode(allow_non_fake_inputs=True):
        module.to_empty(device="cpu")
        return {"error": raised(lambda: module.to(torch.bfloat16))}


def two_roles_in_a_process() -> Found:
    trace.measure(**small())
    try:
        trace.measure(**small("last"))
    except Refusal as refusal:
        return {"error": refusal.sentence}
    return {"error": ""}


def data_parallel_wrapper() -> Found:
    trace.fake_mesh(**small())
    with FakeTensorMode(allow_non_fake_inputs=True):
        return {"error": raised(lambda: nn.parallel.DistributedDataParallel(nn.Linear(8, 8)))}


def routing_by_values() -> Found:
    with FakeTensorMode():
        return {"error": raised(lambda: torch.empty(8).argmax().item())}


TRICKS: dict[str, Callable[[], Found]] = {
    made.__name__: made
    for made in (
        voting,
        gradients_not_asked_for,
        cut_in_fake_mode,
        whole_shapes_seen,
        as_it_is,
        optimizer_peaks,
        loss_parallel_twice,
        cast_in_fake_mode,
        two_roles_in_a_process,
        data_parallel_wrapper,
        routing_by_values,
    )
}
TRICKS |= {name: lambda case=case: agreed(*case) for name, case in SHAPES.items()}


def main() -> None:
    for name in sys.argv[1:] or TRICKS:
        if (process := os.fork()) == 0:
            code = 1
            try:
                os.write(1, json.dumps({"trick": name, **TRICKS[name]()}).encode() + b"\n")
                code = 0
            except Exception:
                traceback.print_exc()
            finally:
                os._exit(code)
        os.waitpid(process, 0)
        assert not dist.is_initialized()


if __name__ == "__main__":
    main()
