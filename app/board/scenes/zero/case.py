"""The numbers behind the ZeRO scene: state, traffic and time of one setting of its knobs."""

from dataclasses import dataclass
from functools import cached_property

from app.board.scenes.base import Values
from app.board.scenes.data_wires import ring_bandwidth
from engine.catalog.hardware import Cluster, cluster_named
from engine.catalog.model import Model, model_named
from engine.language.formula import Term, Value
from engine.language.inputs import Amount
from engine.lens.sharded import (
    LayerPass,
    break_even_tokens,
    gathered_bytes,
    own_parameters,
    scaled_layer_parameters,
    sharded_forward_s,
    sharded_pass,
    sharded_step_sent_bytes,
)
from engine.memory.parameters import count
from engine.memory.state import held_bytes, state_bytes
from engine.network.collectives import ring_all_reduce_sent_bytes, ring_half_s
from engine.step.overlap import backward_s, forward_s

SHAPE: Model = model_named("llama-3-70b")  # whose proportions a model of any size is given
CLUSTER: Cluster = cluster_named("hgx-h100")
LAYERS = 4  # in the picture
REACHED = 0.5  # of peak, an even middle for a first picture

KNOBS = (
    Amount("gpus", "GPUs that share", 64, 4, 1024, scale="doubling"),
    Amount("billions", "parameters", 70, 1, 1000, unit="billion"),
    Amount("tokens", "tokens per GPU", 8192, 256, 65536, scale="doubling"),
    Amount("ahead", "prefetch", 1, 1, 3, unit="layers ahead"),
)


@dataclass(frozen=True)
class Case:
    """The numbers of one setting of the knobs."""

    values: Values

    @property
    def gpus(self) -> int:
        return int(self.values["gpus"])

    @property
    def parameters(self) -> float:
        return self.values["billions"] * 1e9

    @property
    def ahead(self) -> int:
        return int(self.values["ahead"])

    @property
    def capacity(self) -> float:
        return CLUSTER.gpu.memory_bytes

    @cached_property
    def states(self) -> tuple[Term, ...]:
        names = ("DDP", "ZeRO-1", "ZeRO-2", "ZeRO-3")
        return tuple(
            state_bytes.explain(f"{name}, each GPU", N=self.parameters, zero=zero, D=self.gpus)
            for zero, name in enumerate(names)
        )

    @cached_property
    def layer(self) -> Term:
        parts = count(SHAPE)
        return scaled_layer_parameters.explain("one layer", N=self.parameters, l=parts.dense_layer, M=parts.total)

    @cached_property
    def layer_bytes(self) -> Term:
        return held_bytes.explain("one whole layer in BF16", b=2, P=self.layer, D=1)

    @cached_property
    def window(self) -> Term:
        return gathered_bytes.explain("whole layers held at once", a=self.ahead, S=self.layer_bytes)

    @cached_property
    def bandwidth(self) -> Value:
        return ring_bandwidth(CLUSTER, self.gpus)

    @cached_property
    def gather(self) -> Term:
        return ring_half_s.explain("gather of a layer", S=self.layer_bytes, n=self.gpus, B=self.bandwidth, a=0.0)

    @property
    def _work(self) -> dict[str, float | Term]:
        peak = CLUSTER.gpu.peak("bf16")
        return {"N": self.layer, "T": self.values["tokens"], "P": peak, "u": REACHED}

    @cached_property
    def forward(self) -> Term:
        return forward_s.explain("forward of a layer", **self._work)

    @cached_property
    def backward(self) -> Term:
        return backward_s.explain("backward of a layer", **self._work)

    @cached_property
    def sent(self) -> Term:
        weights = held_bytes.explain("all weights in BF16", b=2, P=self.parameters, D=1)
        return sharded_step_sent_bytes.explain("ZeRO-3: sent in a step", S=weights, n=self.gpus)

    @cached_property
    def sent_ddp(self) -> Term:
        gradients = held_bytes.explain("all gradients in BF16", b=2, P=self.parameters, D=1)
        return ring_all_reduce_sent_bytes.explain("DDP: sent in a step", S=gradients, n=self.gpus)

    @cached_property
    def break_even(self) -> Term:
        peak = CLUSTER.gpu.peak("bf16")
        return break_even_tokens.explain("gather as long as forward", P=peak, u=REACHED, B=self.bandwidth, n=self.gpus)

    @cached_property
    def own(self) -> Term:
        return own_parameters.explain("parameters each GPU steps", N=self.parameters, D=self.gpus)

    def pass_s(self, prefetch: int) -> Term:
        label = "forward with prefetch" if prefetch else "forward without prefetch"
        return sharded_forward_s.explain(label, n=SHAPE.layers, g=self.gather, c=self.forward, prefetch=prefetch)

    @cached_property
    def forward_pass(self) -> tuple[LayerPass, ...]:
        return sharded_pass(LAYERS, self.gather.value, self.forward.value, self.ahead)

    @cached_property
    def backward_pass(self) -> tuple[LayerPass, ...]:
        """In order of their turn: the last layer first."""
        return sharded_pass(LAYERS, self.gather.value, self.backward.value, self.ahead, self.gather.value)
