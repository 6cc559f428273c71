"""Tokens that travel to experts: who goes where, how many bytes that is, and what the busiest expert costs."""

from dataclasses import dataclass
from functools import lru_cache
from math import exp
from random import Random

import numpy as np

from engine.language.formula import Number, formula
from engine.language.refusal import Refusal

SWITCH = "Fedus et al. 2021 (Switch Transformers), section 2.2"
DEEPSEEK = "DeepSeek-AI 2024, DeepSeek-V3 technical report, section 2.1.2"

LIKED = 1.3  # how far a chosen expert's logit stands above the others': enough to be seen


@formula(
    r"2 \cdot <T> \cdot <k> \cdot <h>",
    unit="bytes",
    source="Lepikhin et al. 2020 (GShard): one copy a chosen expert, in BF16",
)
def dispatch_bytes(T: Number, k: Number, h: Number) -> Number:
    """Bytes one GPU sends to dispatch its tokens, if all their experts are elsewhere.   [bytes]

    T   tokens of this GPU             [tokens]
    k   experts a token visits         [count]
    h   hidden size                    [count]

    >>> dispatch_bytes(4096, 8, 7168) / 1e6
    469.762048

    The combine sends as many back. Breaks down in small groups, where some experts are at home, and in FP8.
    """
    return 2 * T * k * h


@dispatch_bytes.wrong("one copy a token", "A token goes to each of its experts: k copies, not one.")
def one_copy(T: Number, k: Number, h: Number) -> Number:
    return 2 * T * h


@dispatch_bytes.wrong("both exchanges", "Counts the way back too; that is the combine.")
def there_and_back(T: Number, k: Number, h: Number) -> Number:
    return 4 * T * k * h


@formula(
    r"2 \cdot <T> \cdot \min\left(<k>, <n>\right) \cdot <h>", unit="bytes", source=f"{DEEPSEEK}: node-limited routing"
)
def limited_dispatch_bytes(T: Number, k: Number, n: Number, h: Number) -> Number:
    """Bytes one GPU sends over the network when a token goes to a few nodes, once to each.   [bytes]

    T   tokens of this GPU             [tokens]
    k   experts a token visits         [count]
    n   nodes a token may visit        [count]
    h   hidden size                    [count]

    >>> float(limited_dispatch_bytes(4096, 8, 4, 7168) / 1e6)
    234.881024

    Inside a node NVLink hands the copies on.
    """
    return 2 * T * np.minimum(k, n) * h


@formula(
    r"\frac{6 \cdot <T> \cdot <k> \cdot <h> \cdot <f>}{<P> \cdot <u>}",
    unit="s",
    source="Three matrices a gated expert, 2 FLOP per weight and token (Kaplan et al. 2020, section 2.1)",
)
def experts_forward_s(T: Number, k: Number, h: Number, f: Number, P: Number, u: Number) -> Number:
    """Forward computation of one GPU's experts under balanced routing.   [s]

    T   tokens of each GPU             [tokens]
    k   experts a token visits         [count]
    h   hidden size                    [count]
    f   inner size of an expert        [count]
    P   dense peak of one GPU          [FLOP/s]
    u   share of it reached            [share above 0]

    >>> round(experts_forward_s(4096, 8, 7168, 2048, 989.4e12, 0.5) * 1e3, 2)
    5.83
    """
    return 6 * T * k * h * f / (P * u)


@formula(r"\frac{<E> - <x>}{<E> - 1}", unit="times the mean", source="The others share evenly what the busiest leaves")
def ordinary_load(x: Number, E: Number) -> Number:
    """Tokens of any expert but the busiest over the mean.   [times]

    x   tokens of the busiest expert over the mean   [times]
    E   experts                                      [count]

    >>> round(ordinary_load(1.5, 8), 3)
    0.929
    """
    return (E - x) / (E - 1)


@formula(
    r"\frac{<x> \cdot (<E> - 1) + (<m> - 1) \cdot (<E> - <x>)}{<m> \cdot (<E> - 1)}",
    unit="times the mean",
    source="The busiest expert's GPU has m-1 ordinary ones beside it",
)
def busiest_gpu_load(x: Number, E: Number, m: Number) -> Number:
    """Tokens of the GPU with the busiest expert over the mean of all GPUs.   [times]

    x   tokens of the busiest expert over the mean   [times]
    E   experts                                      [count]
    m   experts per GPU                                [count]

    >>> busiest_gpu_load(1.5, 4, 1), round(busiest_gpu_load(1.5, 8, 2), 3)
    (1.5, 1.214)

    Breaks down where several experts are busy at once: then they may share a GPU.
    """
    return (x * (E - 1) + (m - 1) * (E - x)) / (m * (E - 1))


@formula(r"<l> \cdot <t>", unit="s", source="The exchange back waits for the last GPU")
def slowest_experts_s(l: Number, t: Number) -> Number:  # noqa: E741
    """Time until the last expert is done.   [s]

    l   load of the busiest GPU over the mean   [times]
    t   time under balanced routing             [s]

    >>> slowest_experts_s(1.5, 0.004)
    0.006
    """
    return l * t


@formula(r"\frac{\max\left(<x> - <c>, 0\right)}{<E>}", unit="share of all visits", source=f"{SWITCH}: capacity factor")
def overflow_share(x: Number, c: Number, E: Number) -> Number:
    """Share of visits dropped when each expert takes no more than its capacity.   [share]

    x   tokens of the busiest expert over the mean           [times]
    c   capacity of an expert over the mean, 1 or more       [times]
    E   experts                                              [count]

    >>> float(overflow_share(1.5, 1.25, 8))
    0.03125

    Only the busiest expert overflows here; the others share the rest evenly.
    """
    return np.maximum(x - c, 0) / E


@dataclass(frozen=True)
class Routing:
    """Where a handful of tokens goes.

    choices   for each token its experts, lowest number first   [tokens x k]
    """

    experts: int
    choices: tuple[tuple[int, ...], ...]

    @property
    def loads(self) -> tuple[int, ...]:
        """Tokens of each expert."""
        return tuple(sum(expert in chosen for chosen in self.choices) for expert in range(self.experts))

    def scores(self, token: int) -> tuple[float, ...]:
        """What a router could have said to choose so: a share for each expert, the chosen ones first.   [shares of 1]"""
        chance = Random(token)
        raised = [exp(LIKED * (expert in self.choices[token]) + chance.random()) for expert in range(self.experts)]
        return tuple(each / sum(raised) for each in raised)

    def gates(self, token: int) -> tuple[float, ...]:
        """Weights of the chosen experts' results: their scores, scaled to add up to one.   [shares of 1]"""
        scores = self.scores(token)
        chosen = [scores[expert] for expert in self.choices[token]]
        return tuple(each / sum(chosen) for each in chosen)


@lru_cache(maxsize=64)
def routed(tokens: int, experts: int, k: int, skew: float, busiest: int) -> Routing:
    """A routing in which one expert gets `skew` times the mean, to the nearest token, and the others share the rest.

    k         experts a token visits              [count]
    skew      load of the busiest over the mean   [times]
    busiest   which expert that is                [place from 0]

    >>> routed(16, 8, 2, 1.5, 4).loads
    (4, 4, 4, 4, 6, 4, 3, 3)

    Tokens like experts by seeded chance, among those with places left, so that loads come out as wished. A token visits
    an expert once, so no expert gets more than all tokens:

    >>> routed(16, 8, 2, 5, 4)
    Traceback (most recent call last):
    engine.language.refusal.Refusal: skew = 5: an expert gets at most every token, 4 times its share; the nearest that works: 4
    """
    if k > experts:
        raise Refusal("top_k", k, f"a token cannot visit more than the {experts} experts there are", f"{experts}")
    most = experts / k
    if skew > most:
        raise Refusal("skew", skew, f"an expert gets at most every token, {most:g} times its share", f"{most:g}")
    left, chance, choices = _places(tokens, experts, k, skew, busiest), Random(tokens), []
    for token in range(tokens):
        liked = [left[expert] * chance.random() for expert in range(experts)]
        order = sorted(range(experts), key=lambda expert: -liked[expert])
        must = [expert for expert in order if left[expert] >= tokens - token]  # else it could not get them all
        chosen = [*must, *(expert for expert in order if expert not in must)][:k]
        for expert in chosen:
            left[expert] -= 1
        choices.append(tuple(sorted(chosen)))
    return Routing(experts, tuple(choices))


def _places(tokens: int, experts: int, k: int, skew: float, busiest: int) -> list[int]:
    """How many tokens each expert shall get: whole numbers that add up to all visits."""
    visits = tokens * k
    most = min(tokens, round(skew * visits / experts))
    others = [expert for expert in range(experts) if expert != busiest]
    each, more = divmod(visits - most, max(1, len(others)))
    places = [0] * experts
    places[busiest] = most
    for at, expert in enumerate(others):
        places[expert] = each + (at < more)
    return places
