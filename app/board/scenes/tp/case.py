"""The numbers behind the tensor parallel scene: one layer of Llama 3 70B, or of a model like it in another width."""

from dataclasses import dataclass
from functools import cached_property

from app.board.scenes.base import Values
from engine.catalog.hardware import cluster_named
from engine.catalog.model import Model, model_named
from engine.language.formula import Term
from engine.language.inputs import Amount, Choice
from engine.language.refusal import Refusal
from engine.layout.layout import Layout
from engine.lens.half_blocks import (
    cut_layer_s,
    cut_product_s,
    field_bytes,
    kv_head_copies,
    layer_step_s,
    narrowed,
    silu,
    speed_up,
    wait_over_work,
)
from engine.memory.activations import layer_kept_term
from engine.memory.parameters import count
from engine.network.collectives import (
    ring_all_gather_sent_bytes,
    ring_all_reduce_s,
    ring_all_reduce_sent_bytes,
    ring_half_s,
)
from engine.network.issued import times_s

LLAMA = model_named("llama-3-70b")
CLUSTER = cluster_named("hgx-h100")
SUMS = 4  # of a layer: two half-blocks, forward and backward
REACHED = 0.6  # of peak: what large matrix products reach in training

KNOBS = (
    Amount("tp", "GPUs", 8, 1, CLUSTER.gpus_per_node),
    Amount("sequence", "sequence", 8192, 1024, 131072, scale="doubling", unit="tokens"),
    Amount("width", "width", LLAMA.hidden, 1024, 16384, scale="doubling"),
    Choice("first", "cut A by", "columns", {"columns": "columns", "rows": "rows"}),
    Choice("second", "cut B by", "rows", {"rows": "rows", "columns": "columns"}),
)


@dataclass(frozen=True)
class Forced:
    """A collective that a choice of cuts cannot do without.

    reduces   whether parts are summed; otherwise slices are gathered
    size      of what it makes whole
    sent      by each GPU
    """

    what: str
    reduces: bool
    size: Term
    seconds: Term
    sent: Term


@dataclass(frozen=True)
class Case:
    """The numbers of one setting of the knobs."""

    values: Values

    def __post_init__(self) -> None:
        heads = self.model.heads
        if heads % self.tp:
            fits = [n for n in range(1, int(KNOBS[0].high) + 1) if heads % n == 0]
            nearest = sorted(fits, key=lambda n: abs(n - self.tp))[:2]
            raise Refusal(
                "tp",
                self.tp,
                f"it must divide the {heads} heads, so that each GPU gets as many",
                " or ".join(map(str, sorted(nearest))),
            )

    @property
    def tp(self) -> int:
        return int(self.values["tp"])

    @property
    def alone(self) -> bool:
        """One GPU: nothing is cut, and nobody is there to add up with."""
        return self.tp == 1

    @property
    def tokens(self) -> int:
        return int(self.values["sequence"])

    @cached_property
    def model(self) -> Model:
        return narrowed(LLAMA, int(self.values["width"]))

    @property
    def columns_first(self) -> bool:
        return self.values["first"] == 0

    @property
    def rows_second(self) -> bool:
        return self.values["second"] == 0

    @cached_property
    def field(self) -> Term:
        return field_bytes.explain("one sum", T=self.tokens, w=self.model.hidden)

    @cached_property
    def sent(self) -> Term:
        return ring_all_reduce_sent_bytes.explain("sent by each GPU in one sum", S=self.field, n=self.tp)

    @cached_property
    def half_sent(self) -> Term:
        return ring_all_gather_sent_bytes.explain("sent in a gather, and in a scatter", S=self.field, n=self.tp)

    def _sum(self, label: str, bytes_per_s: float, t: int) -> Term:
        return ring_all_reduce_s.explain(label, S=self.field, n=t, bytes_per_s=bytes_per_s, latency_s=0.0)

    @cached_property
    def sum_s(self) -> Term:
        return self._sum("one sum on NVLink", CLUSTER.gpu.nvlink_bytes_per_s, self.tp)

    @cached_property
    def sums_s(self) -> Term:
        return times_s.explain("the sums of a layer", n=SUMS, t=self.sum_s)

    @cached_property
    def far_sum_s(self) -> Term:
        return self._sum("one sum over the network", CLUSTER.nic_bytes_per_s, self.tp)

    @cached_property
    def far_sums_s(self) -> Term:
        return times_s.explain("the sums of a layer, one GPU a node", n=SUMS, t=self.far_sum_s)

    def work_at(self, t: int) -> Term:
        """Computation of a layer when so many GPUs share it."""
        peak = CLUSTER.gpu.peak("bf16")
        weights = count(self.model).dense_layer
        return cut_layer_s.explain("computation of a layer", W=weights, T=self.tokens, t=t, P=peak, u=REACHED)

    @cached_property
    def work(self) -> Term:
        return self.work_at(self.tp)

    def _product(self, label: str, weights: float) -> Term:
        peak = CLUSTER.gpu.peak("bf16")
        return cut_product_s.explain(label, W=weights, T=self.tokens, t=self.tp, P=peak, u=REACHED)

    @property
    def made(self) -> int:
        """Columns of A: a gated MLP makes a gate and what it gates, side by side."""
        return (2 if self.model.gated else 1) * self.model.ffn

    @cached_property
    def products(self) -> tuple[Term, Term]:
        """X times A and Y times B, forward."""
        hidden = self.model.hidden
        return self._product("X times A", hidden * self.made), self._product("Y times B", self.model.ffn * hidden)

    @cached_property
    def attention_products(self) -> tuple[Term, Term]:
        """With the matrices of queries, keys and values, and with the output matrix, forward."""
        out = self.model.hidden * self.model.heads * self.model.head_dim
        into = count(self.model).attention - out
        return self._product("X times Q, K and V", into), self._product("heads times the output matrix", out)

    @cached_property
    def near_wait(self) -> Term:
        return wait_over_work.explain("sums over work, in the node", c=self.sums_s, w=self.work)

    @cached_property
    def far_wait(self) -> Term:
        return wait_over_work.explain("sums over work, one GPU a node", c=self.far_sums_s, w=self.work)

    def step_at(self, t: int) -> Term:
        """A layer with its sums in the node, on so many GPUs."""
        one = self._sum("one sum", CLUSTER.gpu.nvlink_bytes_per_s, t)
        return layer_step_s.explain(
            "a layer with its sums", w=self.work_at(t), c=times_s.explain("sums", n=SUMS, t=one)
        )

    @cached_property
    def doubled(self) -> Term:
        """What the last doubling of the GPUs brought; from one GPU, what the first would."""
        more = max(2, self.tp)
        return speed_up.explain("the last doubling", a=self.step_at(more // 2), b=self.step_at(more))

    def kept(self, t: int, sequence_parallel: bool) -> Term:
        """Activations that a rank keeps of a layer."""
        layout = Layout(tp=t, sequence_parallel=sequence_parallel)
        return layer_kept_term(self.model, layout, self.tokens, moe=False, fp8=False, recompute="none")

    @cached_property
    def copies(self) -> Term:
        beyond = 2 * self.model.kv_heads
        return kv_head_copies.explain("copies of a KV head", t=beyond, k=self.model.kv_heads)

    @cached_property
    def forced(self) -> tuple[Forced, ...]:
        """What the chosen cuts of A and B make inevitable in one forward pass."""
        inner = field_bytes.explain("Y", T=self.tokens, w=self.model.ffn)
        found = []
        if not self.columns_first:
            before = field_bytes.explain("Y before the nonlinearity", T=self.tokens, w=self.made)
            found.append(self._forced("Y", before, reduces=True))
        elif not self.rows_second:
            found.append(self._forced("Y", inner, reduces=False))
        return (*found, self._forced("Z", self.field, reduces=self.rows_second))

    def _forced(self, of: str, size: Term, *, reduces: bool) -> Forced:
        what, wire = f"{'all-reduce' if reduces else 'all-gather'} of {of}", CLUSTER.gpu.nvlink_bytes_per_s
        if reduces:
            seconds = ring_all_reduce_s.explain(what, S=size, n=self.tp, bytes_per_s=wire, latency_s=0.0)
            sent = ring_all_reduce_sent_bytes.explain(what, S=size, n=self.tp)
        else:
            seconds = ring_half_s.explain(what, S=size, n=self.tp, B=wire, a=0.0)
            sent = ring_all_gather_sent_bytes.explain(what, S=size, n=self.tp)
        return Forced(what, reduces, size, seconds, sent)


ELEMENT = (2.0, -3.0)  # two parts of one element of Y, chosen so that the error is plain


def silu_of(x: float) -> Term:
    """The nonlinearity at one element."""
    return silu.explain("nonlinearity", x=x)
