"""Weights that are stored in slices and gathered just before they are used: what that takes, and when it waits."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.language.formula import Number, formula

ZERO = "Rajbhandari et al. 2020 (ZeRO), section 7"
FSDP = "Zhao et al. 2023 (PyTorch FSDP), section 3.3: gather, compute, free; the next gather is issued ahead"


@formula(r"<N> \cdot \frac{<l>}{<M>}", unit="parameters", source="A known shape, scaled to another size")
def scaled_layer_parameters(N: Number, l: Number, M: Number) -> Number:  # noqa: E741
    """Parameters of one layer of a model with the proportions of a known one.   [parameters]

    N   parameters of the model                  [parameters]
    l   parameters of a layer of the known one   [parameters]
    M   parameters of the known one              [parameters above 0]

    >>> round(scaled_layer_parameters(70.554e9, 855.65e6, 70.554e9) / 1e6, 2)
    855.65
    """
    return N * l / M


@formula(r"(<a> + 1) \cdot <S>", unit="bytes", source=FSDP)
def gathered_bytes(a: Number, S: Number) -> Number:
    """Whole layers that a GPU holds at once: the one at work and those fetched ahead.   [bytes]

    a   layers fetched ahead   [count or none]
    S   one whole layer        [bytes]

    >>> gathered_bytes(1, 1.71e9)
    3420000000.0
    """
    return (a + 1) * S


@formula(r"\frac{3 \cdot (<n> - 1)}{<n>} \cdot <S>", unit="bytes sent per rank", source=ZERO)
def sharded_step_sent_bytes(S: Number, n: Number) -> Number:
    """Bytes each rank sends in a step of ZeRO-3: weights gathered twice, gradients scattered once.   [bytes]

    S   all weights, or all gradients, at their size on the wire   [bytes]
    n   ranks in the group                                         [count]

    >>> sharded_step_sent_bytes(140e9, 64) / 1e9
    413.4375

    Breaks down with gradient accumulation, where the weights are gathered for each micro-batch.
    """
    return 3 * (n - 1) / n * S


@formula(
    {0: r"<n> \cdot (<g> + <c>)", 1: r"<g> + (<n> - 1) \cdot \max\left(<g>, <c>\right) + <c>"},
    case="prefetch",
    unit="s",
    source=FSDP,
)
def sharded_forward_s(n: Number, g: Number, c: Number, prefetch: int) -> Number:
    """Time of a forward pass over layers that are gathered first.   [s]

    n          layers                                              [count]
    g          gather of one layer                                 [s]
    c          computation of one layer                            [s]
    prefetch   1 when the next gather goes on while one computes   [yes or no]

    >>> round(sharded_forward_s(80, 0.0042, 0.0283, 0), 2), round(float(sharded_forward_s(80, 0.0042, 0.0283, 1)), 2)
    (2.6, 2.27)

    Breaks down where layers differ in size, as the embedding and the head do.
    """
    return g + (n - 1) * np.maximum(g, c) + c if prefetch else n * (g + c)


@formula(
    r"\frac{<n> - 1}{<n>} \cdot \frac{<P> \cdot <u>}{<B>}",
    unit="tokens",
    source="A layer of N parameters: 2N bytes to gather against 2N FLOP a token to compute",
)
def break_even_tokens(P: Number, u: Number, B: Number, n: Number) -> Number:
    """Tokens per GPU from which computing a layer takes as long as gathering it.   [tokens]

    P   dense peak of one GPU                 [FLOP/s]
    u   share of it reached                   [share above 0]
    B   bandwidth of the gather, each way     [bytes/s]
    n   ranks the layer is sliced over        [count]

    The size of the layer drops out: bytes and work both grow with it.

    >>> round(break_even_tokens(989e12, 1, 400e9, 1e9), 1)
    2472.5

    Breaks down where attention's own work counts: long sequences break even earlier.
    """
    return (n - 1) / n * P * u / B


@break_even_tokens.wrong("one adapter for the node", "A node has an adapter for each of its eight GPUs.")
def one_adapter(P: Number, u: Number, B: Number, n: Number) -> Number:
    return 8 * break_even_tokens(P, u, B, n)


@formula(r"\frac{<N>}{<D>}", unit="parameters", source=ZERO)
def own_parameters(N: Number, D: Number) -> Number:
    """Parameters whose optimizer step one GPU takes.   [parameters]

    N   parameters          [parameters]
    D   ranks they are sliced over   [count]

    >>> own_parameters(70e9, 64) / 1e9
    1.09375
    """
    return N / D


@dataclass(frozen=True)
class Span:
    """From when to when.   [s]"""

    start: float
    end: float


@dataclass(frozen=True)
class LayerPass:
    """One layer of a pass: its gather, its computation, and the reduce-scatter of its gradients, if any."""

    gather: Span
    compute: Span
    scatter: Span | None = None

    def held(self, now: float) -> bool:
        """Whether whole weights, or room for them, are in memory."""
        return self.gather.start < now < self.compute.end


def sharded_pass(
    layers: int, gather_s: float, compute_s: float, ahead: int, scatter_s: float | None = None
) -> tuple[LayerPass, ...]:
    """When each layer is gathered, computed and scattered, on one compute lane and one wire.

    layers      in order of their turn: a backward pass begins with the last layer   [count]
    ahead       layers gathered while one computes; 0: each waits for its own        [count or none]
    scatter_s   reduce-scatter of a layer's gradients; None in a forward pass        [s]

    >>> [layer.compute.start for layer in sharded_pass(3, 1.0, 4.0, ahead=1)]
    [1.0, 5.0, 9.0]
    >>> [layer.compute.start for layer in sharded_pass(3, 1.0, 4.0, ahead=0)]
    [1.0, 6.0, 11.0]

    Gathers go before a scatter that is ready at the same moment, so that computation does not wait for it.
    """
    gathers: list[Span] = []
    computes: list[Span] = []
    scatters: list[Span] = []
    wire = 0.0
    for turn in range(layers):
        ready = _may_gather(computes, turn, ahead)
        while scatter_s is not None and len(scatters) < len(computes) and computes[len(scatters)].end < ready:
            wire = _after(scatters, wire, computes[len(scatters)].end, scatter_s)
        wire = _after(gathers, wire, ready, gather_s)
        _after(computes, computes[-1].end if computes else 0.0, gathers[-1].end, compute_s)
    while scatter_s is not None and len(scatters) < layers:
        wire = _after(scatters, wire, computes[len(scatters)].end, scatter_s)
    return tuple(
        LayerPass(gathers[turn], computes[turn], scatters[turn] if scatters else None) for turn in range(layers)
    )


def borrowed_layers(turns: Sequence[LayerPass], now: float) -> tuple[int, int]:
    """Whole layers, and whole layers' gradients, that a GPU has room for at a moment of a pass.   [count, count]

    Room is taken when a gather begins and given back when the computation ends; gradients are whole from then until
    their reduce-scatter ends.

    >>> turns = sharded_pass(3, 1.0, 4.0, ahead=1, scatter_s=1.0)
    >>> borrowed_layers(turns, 1.0), borrowed_layers(turns, 5.5)
    ((2, 0), (2, 1))
    """
    weights = sum(turn.gather.start <= now < turn.compute.end for turn in turns)
    gradients = sum(turn.compute.end <= now < turn.scatter.end for turn in turns if turn.scatter)
    return weights, gradients


def _may_gather(computes: Sequence[Span], turn: int, ahead: int) -> float:
    """The moment from which a layer has room: its window opens when the layer so far before it starts."""
    if ahead == 0:
        return computes[-1].end if computes else 0.0
    return computes[turn - ahead].start if turn >= ahead else 0.0


def _after(spans: list[Span], free: float, ready: float, length: float) -> float:
    """Add the next span as soon as the lane is free and the work is ready. Gives when the lane is free again."""
    start = max(free, ready)
    spans.append(Span(start, start + length))
    return start + length
