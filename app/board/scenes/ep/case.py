"""The numbers behind the expert parallel scene: experts of DeepSeek-V3's size, a few of them drawn."""

from dataclasses import dataclass
from functools import cached_property
from math import ceil, inf

from app.board.scenes.base import Values
from engine.catalog.hardware import cluster_named
from engine.catalog.model import model_named
from engine.language.formula import Term
from engine.language.inputs import Amount
from engine.language.refusal import Refusal, together
from engine.lens.exchange import exchange_length, exchange_slots
from engine.lens.routing import (
    Routing,
    busiest_gpu_load,
    dispatch_bytes,
    experts_forward_s,
    limited_dispatch_bytes,
    ordinary_load,
    overflow_share,
    routed,
    slowest_experts_s,
)
from engine.memory.parameters import Parameters, count
from engine.network.collectives import send_s
from engine.network.issued import times_s

MODEL = model_named("deepseek-v3")
CLUSTER = cluster_named("hgx-h100")
GPUS = 4  # drawn; so many nodes, too, where nodes are drawn
DRAWN = 4  # tokens of a GPU that are drawn
EXCHANGES = 4  # of a layer: there and back, forward and backward
REACHED = 0.5  # of peak, an even middle for a first picture

KNOBS = (
    Amount("experts", "experts drawn", 8, 4, 16, step=4),
    Amount("top_k", "experts per token", 2, 1, 8),
    Amount("skew", "busiest expert", 1.5, 1, 4, step=0.25, unit="times the mean", whole=False),
    Amount("capacity", "capacity", 1.25, 1, 4, step=0.25, unit="times the mean", whole=False),
    Amount("tokens", "tokens per GPU", 4096, 512, 16384, scale="doubling"),
    Amount("nodes", "nodes a token may visit", 1, 1, GPUS),
)


@dataclass(frozen=True)
class Copy:
    """One drawn token on its way to one expert.

    slot   of the exchange in which it travels, from 0; None: its expert is at home
    """

    token: int
    expert: int
    source: int
    target: int
    slot: int | None


@dataclass(frozen=True)
class Case:
    """The numbers of one setting of the knobs."""

    values: Values

    def __post_init__(self) -> None:
        refused = list(self._refusals())
        if refused:
            raise together(refused)
        _ = self.routing  # may refuse the skew

    def _refusals(self) -> list[Refusal]:
        found, k = [], self.top_k
        if self.experts % GPUS:
            rest = f"the {GPUS} GPUs drawn must hold as many each"
            found.append(Refusal("experts", self.experts, rest, str(GPUS * max(1, round(self.experts / GPUS)))))
        elif k > self.experts:
            found.append(Refusal("top_k", k, f"only {self.experts} experts are drawn", str(self.experts)))
        elif self.nodes * self.a_gpu < k:
            enough = -(-k // self.a_gpu)
            rule = f"there a token reaches {self.nodes * self.a_gpu} of the experts drawn, and it visits {k}"
            found.append(Refusal("nodes", self.nodes, rule, str(enough)))
        return found

    @property
    def experts(self) -> int:
        return int(self.values["experts"])

    @property
    def top_k(self) -> int:
        return int(self.values["top_k"])

    @property
    def nodes(self) -> int:
        return int(self.values["nodes"])

    @property
    def tokens(self) -> int:
        return int(self.values["tokens"])

    @property
    def skew(self) -> float:
        return self.values["skew"]

    @property
    def a_gpu(self) -> int:
        """Experts that a GPU holds."""
        return self.experts // GPUS

    @property
    def busiest(self) -> int:
        """Which expert is the busiest: one in the middle of the picture."""
        return self.experts // 2

    @property
    def balanced(self) -> bool:
        return self.skew == 1

    @cached_property
    def routing(self) -> Routing:
        """Where the drawn tokens go."""
        return routed(GPUS * DRAWN, self.experts, self.top_k, self.skew, self.busiest)

    def flow(self, source: int, target: int) -> int:
        """Copies that the drawn tokens of one GPU send to the experts of another."""
        mine = self.routing.choices[source * DRAWN : (source + 1) * DRAWN]
        return sum(expert // self.a_gpu == target for chosen in mine for expert in chosen)

    @cached_property
    def copies(self) -> tuple[Copy, ...]:
        """All copies of the drawn tokens, first those of everyone's first choice."""
        order = [(t, self.routing.choices[t][at]) for at in range(self.top_k) for t in range(GPUS * DRAWN)]
        pairs = [(token // DRAWN, expert // self.a_gpu) for token, expert in order]
        slots = exchange_slots(pairs)
        return tuple(Copy(*who, *pair, slot) for who, pair, slot in zip(order, pairs, slots, strict=True))

    @property
    def slots(self) -> int:
        """Of an exchange of the copies that leave home."""
        return exchange_length([(copy.source, copy.target) for copy in self.copies])

    @property
    def slot_s(self) -> float:
        """Time of a drawn copy on the wire: each drawn token stands for its part of a GPU's tokens.   [s]"""
        return self.exchange_s.value / (DRAWN * self.top_k)

    @property
    def places(self) -> int:
        """Copies of the drawn tokens that an expert takes before it is full."""
        return ceil(self.values["capacity"] * GPUS * DRAWN * self.top_k / self.experts - 1e-9)

    @cached_property
    def dispatch(self) -> Term:
        return dispatch_bytes.explain("one exchange, sent by each GPU", T=self.tokens, k=self.top_k, h=MODEL.hidden)

    def _wire(self, label: str, size: Term) -> Term:
        return send_s.explain(label, S=size, B=CLUSTER.nic_bytes_per_s, a=0.0)

    @cached_property
    def exchange_s(self) -> Term:
        return self._wire("one exchange over the network", self.dispatch)

    @cached_property
    def limited(self) -> Term:
        return limited_dispatch_bytes.explain(
            "sent when nodes are limited", T=self.tokens, k=self.top_k, n=self.nodes, h=MODEL.hidden
        )

    @cached_property
    def limited_s(self) -> Term:
        return self._wire("one exchange, nodes limited", self.limited)

    @cached_property
    def exchanges_s(self) -> Term:
        return times_s.explain("all exchanges of a layer", n=EXCHANGES, t=self.exchange_s)

    @cached_property
    def even_s(self) -> Term:
        peak = CLUSTER.gpu.peak("bf16")
        return experts_forward_s.explain(
            "experts, evenly loaded", T=self.tokens, k=self.top_k, h=MODEL.hidden, f=MODEL.moe_ffn, P=peak, u=REACHED
        )

    @cached_property
    def ordinary(self) -> Term:
        return ordinary_load.explain("load of the other experts", x=self.skew, E=self.experts)

    @cached_property
    def busiest_gpu(self) -> Term:
        return busiest_gpu_load.explain("load of the busiest GPU", x=self.skew, E=self.experts, m=self.a_gpu)

    @cached_property
    def experts_s(self) -> Term:
        return slowest_experts_s.explain("experts, until the last is done", l=self.busiest_gpu, t=self.even_s)

    @cached_property
    def experts_backward_s(self) -> Term:
        return times_s.explain("experts, backward", n=2, t=self.experts_s)

    @cached_property
    def overflow(self) -> Term:
        return overflow_share.explain(
            "dropped at this capacity", x=self.skew, c=self.values["capacity"], E=self.experts
        )

    def work_s(self, expert: int, most: float = inf) -> float:
        """Time of an expert's forward computation.   [s]

        most   tokens that it takes, over the mean
        """
        return min(self.load(expert), most) * self.even_s.value / self.a_gpu

    def load(self, expert: int) -> float:
        """Tokens of an expert over the mean."""
        return self.skew if expert == self.busiest else self.ordinary.value

    @property
    def whole_model(self) -> Parameters:
        return count(MODEL)
