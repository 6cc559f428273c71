"""How fast a run is: tokens a second, of all GPUs and of one, and what a change of utilization does to it."""

from engine.language.formula import Number, formula
from engine.run.training import ARITHMETIC


@formula(r"\frac{<B> \cdot <s>}{<t>}", unit="tokens/s", source="A step trains one global batch")
def tokens_per_second(B: Number, s: Number, t: Number) -> Number:
    """Speed of training.   [tokens/s]

    B   global batch         [sequences]
    s   sequence length      [tokens]
    t   time of one step     [s above 0]

    >>> round(tokens_per_second(512, 8192, 4.3))
    975420
    """
    return B * s / t


@formula(r"\frac{<r>}{<g>}", unit="tokens/s", source="The speed of the run, shared by its GPUs")
def tokens_per_second_per_gpu(r: Number, g: Number) -> Number:
    """Speed of training of one GPU.   [tokens/s]

    r   tokens per second of the whole run   [tokens/s]
    g   GPUs                                 [count]

    >>> tokens_per_second_per_gpu(1024e3, 1024)
    1000.0
    """
    return r / g


@formula(r"<P> \cdot <u>", unit="FLOP/s", source=ARITHMETIC)
def achieved_flop_per_s(P: Number, u: Number) -> Number:
    """What a GPU achieves.   [FLOP/s]

    P   dense peak of one GPU       [FLOP/s]
    u   share of the peak reached   [share]

    >>> achieved_flop_per_s(989e12, 0.4) / 1e12
    395.6
    """
    return P * u


@formula(r"\frac{<u>}{<U>}", unit="times", source="The same work at a lower utilization")
def slowdown(u: Number, U: Number) -> Number:
    """How much longer the same work takes on the same GPUs.   [times]

    u   utilization before   [share]
    U   utilization after    [share above 0]

    >>> round(slowdown(0.40, 0.28), 2)
    1.43
    """
    return u / U


@formula(r"\frac{<G> \cdot <U>}{<g> \cdot <u>}", unit="times", source="Speed is GPUs times utilization")
def scaling_speedup(g: Number, u: Number, G: Number, U: Number) -> Number:
    """How much faster a run is on more GPUs.   [times]

    g   GPUs before          [count]
    u   utilization before   [share above 0]
    G   GPUs after           [count]
    U   utilization after    [share]

    >>> round(scaling_speedup(512, 0.40, 1024, 0.28), 3)
    1.4
    """
    return G * U / (g * u)


@formula(
    r"<u> \cdot \frac{1 - <B>}{1 - <b>}", unit="share of peak", source="Idle slots do no work, and nothing else changes"
)
def mfu_with_bubble(u: Number, b: Number, B: Number) -> Number:
    """MFU when only the pipeline's bubble changes.   [share]

    u   utilization before                 [share]
    b   bubble before, share of the step   [share]
    B   bubble after, share of the step    [share]

    >>> round(mfu_with_bubble(0.40, 3 / 35, 3 / 19), 3)
    0.368
    """
    return u * (1 - B) / (1 - b)
