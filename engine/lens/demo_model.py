"""The small GPT that the demos train for real: its tensors, how many parameters they have, and how frameworks cut them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, prod

from engine.language.formula import Number, Term, formula

SHAPE = "The demo's own model: learned positions, RMSNorm, an ungated MLP four times as wide, no biases, an untied head"
VOCABULARY = 512


@formula(
    r"2 \cdot <V> \cdot <d> + <s> \cdot <d> + <L> \cdot (12 \cdot <d>^{2} + 2 \cdot <d>) + <d>",
    unit="parameters",
    source=SHAPE,
)
def tiny_gpt_parameters(V: Number, d: Number, L: Number, s: Number) -> Number:
    """Parameters of the small GPT.   [parameters]

    V   vocabulary        [count]
    d   hidden size       [count]
    L   layers            [count]
    s   sequence length   [tokens]

    Embedding and head are V x d each, positions s x d; a layer is 4d^2 of attention, 8d^2 of MLP and two norms.

    >>> tiny_gpt_parameters(512, 256, 4, 64)
    3426560
    """
    return 2 * V * d + s * d + L * (12 * d**2 + 2 * d) + d


@formula(r"<V> \cdot <d> + <s> \cdot <d> + (2 \cdot <L> + 1) \cdot <d>", unit="parameters", source=SHAPE)
def tiny_gpt_uncut_parameters(V: Number, d: Number, L: Number, s: Number) -> Number:
    """Parameters that tensor parallelism leaves whole: the input embeddings and the norms.   [parameters]

    V   vocabulary        [count]
    d   hidden size       [count]
    L   layers            [count]
    s   sequence length   [tokens]

    >>> tiny_gpt_uncut_parameters(512, 256, 4, 64)
    149760
    """
    return V * d + s * d + (2 * L + 1) * d


@formula(
    r"\frac{<N> - <R>}{<t>} + <R>",
    unit="parameters",
    source="Shoeybi et al. 2019 (Megatron-LM), section 3: matrices are cut, what remains is on every rank",
)
def cut_parameters(N: Number, R: Number, t: Number) -> Number:
    """Parameters a tensor-parallel rank holds of a model that is partly cut.   [parameters]

    N   parameters of the model       [parameters]
    R   of which every rank holds all [parameters]
    t   tensor-parallel degree        [count]

    >>> 4 * cut_parameters(3426560, 149760, 2)
    7152640.0
    """
    return (N - R) / t + R


@dataclass(frozen=True)
class TinyGpt:
    """The shape of the small GPT."""

    hidden: int
    layers: int
    sequence: int
    vocabulary: int = VOCABULARY

    @cached_property
    def tensors(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Name and shape of each parameter, in the order the model registers them."""
        d, layers = self.hidden, range(self.layers)
        embeddings = (("embed.token.weight", (self.vocabulary, d)), ("embed.position.weight", (self.sequence, d)))
        return (
            *embeddings,
            *(pair for layer in layers for pair in _layer(layer, d)),
            ("norm.weight", (d,)),
            ("head.weight", (self.vocabulary, d)),
        )

    @cached_property
    def ready_order(self) -> tuple[int, ...]:
        """Numbers in each parameter's gradient, in the order in which a backward pass finishes them."""
        return tuple(prod(shape) for _, shape in reversed(self.tensors))

    def row_shard_numbers(self, ranks: int) -> tuple[int, ...]:
        """Numbers each rank holds when every tensor is cut by rows."""
        shards = [[rows * prod(shape[1:]) for rows in row_shards(shape[0], ranks)] for _, shape in self.tensors]
        return tuple(map(sum, zip(*shards, strict=True)))

    def padded_numbers(self, ranks: int, block: bool = False) -> int:
        """Numbers of all tensors, or of those of one block, when rows are added until every rank has as many."""
        tensors = _layer(0, self.hidden) if block else self.tensors
        return sum(ranks * row_shards(shape[0], ranks)[0] * prod(shape[1:]) for _, shape in tensors)

    @cached_property
    def parameters(self) -> Term:
        return tiny_gpt_parameters.explain(
            "parameters", V=self.vocabulary, d=self.hidden, L=self.layers, s=self.sequence
        )

    @cached_property
    def uncut_parameters(self) -> Term:
        return tiny_gpt_uncut_parameters.explain(
            "left whole", V=self.vocabulary, d=self.hidden, L=self.layers, s=self.sequence
        )


def _layer(layer: int, d: int) -> tuple[tuple[str, tuple[int, ...]], ...]:
    shapes = {
        "norm1": (d,),
        "attention.wq": (d, d),
        "attention.wk": (d, d),
        "attention.wv": (d, d),
        "attention.wo": (d, d),
        "norm2": (d,),
        "mlp.w1": (4 * d, d),
        "mlp.w2": (d, 4 * d),
    }
    return tuple((f"blocks.{layer}.{name}.weight", shape) for name, shape in shapes.items())


def row_shards(rows: int, ranks: int) -> tuple[int, ...]:
    """Rows of a tensor that each rank holds when its first dim is cut as torch.chunk does.   [rows]

    >>> row_shards(128, 3)
    (43, 43, 42)
    """
    most = ceil(rows / ranks)
    return tuple(max(0, min(most, rows - rank * most)) for rank in range(ranks))


def whole_tensor_shards(sizes: Sequence[int], ranks: int) -> tuple[int, ...]:
    """Numbers each rank gets when whole tensors are dealt, the largest first, to whoever has least.   [parameters]

    sizes   of the tensors   [parameters]

    ZeroRedundancyOptimizer deals so: shards are near an even cut, and not equal to it.

    >>> whole_tensor_shards([8, 4, 4, 3], 2)
    (11, 8)
    """
    held = [0] * ranks
    for size in sorted(sizes, reverse=True):
        held[held.index(min(held))] += size
    return tuple(held)


def gradient_buckets(sizes_bytes: Sequence[int], cap_bytes: float) -> tuple[int, ...]:
    """Bytes of each bucket when gradients are added, in the order they become ready, until a bucket has reached its cap.

    sizes_bytes   of the gradients, the first ready first   [bytes]
    cap_bytes     of a bucket                               [bytes]

    PyTorch's DistributedDataParallel fills its buckets so, from its second step on.

    >>> gradient_buckets([3, 3, 3, 9, 1], cap_bytes=5)
    (6, 12, 1)
    """
    buckets = [0]
    for size in sizes_bytes:
        if buckets[-1] >= cap_bytes:
            buckets.append(0)
        buckets[-1] += size
    return tuple(buckets)
