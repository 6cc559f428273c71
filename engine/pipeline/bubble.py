"""Closed forms of pipeline schedules: how long stages idle, how many micro-batches they hold. Exact: simulator.py.

Symbols: p stages, m micro-batches, v chunks per stage, i a stage counted from 0; F, B and W are the times that a full
stage takes for a forward, the input-gradient part and the weight-gradient part of a backward of one micro-batch.
"""

import numpy as np

from engine.language.formula import Number, formula

NARAYANAN = "Narayanan et al. 2021 (arXiv 2104.04473), section 2.2"
ZERO_BUBBLE = "Qi et al. 2023 (arXiv 2401.10241)"
DEEPSEEK = "DeepSeek-V3 report (arXiv 2412.19437), table 2"


def least(first: Number, *others: Number) -> Number:
    """The smallest, element by element for arrays, and a plain number for plain numbers."""
    for other in others:
        array = isinstance(first, np.ndarray) or isinstance(other, np.ndarray)
        first = np.minimum(first, other) if array else min(first, other)
    return first


@formula(r"\frac{<p>-1}{<v> \cdot <m>+<p>-1}", unit="share of the step", source=NARAYANAN + ", over the whole step")
def bubble_of_total(p: Number, m: Number, v: Number = 1) -> Number:
    """Share of a GPipe, 1F1B or interleaved step in which a stage idles.   [0 to 1]

    p   pipeline stages                          [count]
    m   micro-batches per pipeline and step      [count]
    v   chunks per stage; 1 is not interleaved   [count]

    A stage idles while the pipe fills and drains: p-1 slots of a full stage, or p-1 slots of a thin chunk.

    >>> round(bubble_of_total(p=4, m=16), 3), round(bubble_of_total(p=4, m=16, v=2), 3)
    (0.158, 0.086)

    Breaks down when stages are uneven or sends are slow: see simulator.simulate.
    """
    return (p - 1) / (v * m + p - 1)


@bubble_of_total.wrong("(p-1)/m taken as the wasted share", "That is idle over ideal time; the step is longer.")
def idle_over_ideal(p: Number, m: Number, v: Number = 1) -> Number:
    return (p - 1) / (v * m)


@bubble_of_total.wrong("p/m", "The first slot of the ramp is work: a pipe of one stage has no bubble.")
def stages_over_micro_batches(p: Number, m: Number, v: Number = 1) -> Number:
    return p / (v * m)


@bubble_of_total.wrong("chunks forgotten", "Interleaving makes the ramp v times shorter.")
def not_interleaved(p: Number, m: Number, v: Number = 1) -> Number:
    return (p - 1) / (m + p - 1)


@bubble_of_total.wrong("no bubble", "Stages work in turn until the pipe is full.")
def no_bubble(p: Number, m: Number, v: Number = 1) -> Number:
    return 0 * p * m * v


@formula(r"\frac{<p>-1}{<v> \cdot <m>}", unit="share of the ideal step", source=NARAYANAN)
def bubble_of_ideal(p: Number, m: Number, v: Number = 1) -> Number:
    """Idle time of a GPipe, 1F1B or interleaved step over the time without a bubble.   [0 and above]

    p   pipeline stages                          [count]
    m   micro-batches per pipeline and step      [count]
    v   chunks per stage; 1 is not interleaved   [count]

    What Megatron papers print. It is larger than the share of the step.

    >>> bubble_of_ideal(p=4, m=8)
    0.375

    Breaks down when stages are uneven or sends are slow: see simulator.simulate.
    """
    return (p - 1) / (v * m)


@bubble_of_ideal.wrong("share of the whole step", "That divides by work and bubble together.")
def idle_over_total(p: Number, m: Number, v: Number = 1) -> Number:
    return (p - 1) / (v * m + p - 1)


@formula(r"\frac{(<p>-1) \cdot (<F>+<B>+<W>)}{<v>}", unit="s", source=NARAYANAN)
def bubble_s(p: Number, F: Number, B: Number, W: Number, v: Number = 1) -> Number:
    """Idle time of a stage in a GPipe, 1F1B or interleaved step.   [s]

    p   pipeline stages                                [count]
    F   forward of one micro-batch on a full stage     [s]
    B   input-gradient part of its backward            [s]
    W   weight-gradient part of its backward           [s]
    v   chunks per stage; 1 is not interleaved         [count]

    The number of micro-batches does not change it, only its share.

    >>> bubble_s(p=4, F=1, B=1, W=1)
    9.0

    Breaks down when stages are uneven or sends are slow: see simulator.simulate.
    """
    return (p - 1) * (F + B + W) / v


@formula(r"(<p>-1) \cdot (<F>+<B>-\min(<F>, <B>, <W>))", unit="s", source=ZERO_BUBBLE + ", table 2")
def zb_h1_bubble_s(p: Number, F: Number, B: Number, W: Number) -> Number:
    """Idle time of a stage in a ZB-H1 step, the wait before its first operation included.   [s]

    p   pipeline stages                                [count]
    F   forward of one micro-batch on a full stage     [s]
    B   input-gradient part of its backward            [s]
    W   weight-gradient part of its backward           [s]

    Weight gradients fill the drain. The paper's (p-1)(F+B-W) holds while W is the shortest of the three; a longer W
    does not fit into the holes and fills no more than the shortest would.

    >>> zb_h1_bubble_s(p=4, F=1, B=1, W=1)
    3

    Breaks down with fewer micro-batches than stages: see simulator.simulate.
    """
    return (p - 1) * (F + B - least(F, B, W))


@zb_h1_bubble_s.wrong("1F1B's bubble", "Weight gradients wait for the drain and fill it.")
def unsplit_backward(p: Number, F: Number, B: Number, W: Number) -> Number:
    return (p - 1) * (F + B + W)


@zb_h1_bubble_s.wrong("zero, as the name says", "ZB-H1 keeps 1F1B's memory, so part of the ramp stays.")
def zero_as_named(p: Number, F: Number, B: Number, W: Number) -> Number:
    return 0 * p * F * B * W


@formula(
    r"\frac{(<p>-1) \cdot (<F>+<B>-\min(<F>, <B>, <W>))}{<m> \cdot (<F>+<B>+<W>)}",
    unit="share of the ideal step",
    source=ZERO_BUBBLE + ", table 2, for W at most F and B",
)
def zb_h1_bubble_of_ideal(p: Number, m: Number, F: Number = 1, B: Number = 1, W: Number = 1) -> Number:
    """Idle time of a ZB-H1 step over the time without a bubble.   [0 and above]

    p   pipeline stages                                [count]
    m   micro-batches per pipeline and step            [count]
    F   forward of one micro-batch on a full stage     [s per micro-batch]
    B   input-gradient part of its backward            [s per micro-batch]
    W   weight-gradient part of its backward           [s per micro-batch]

    With F = B = W a third of 1F1B's.

    >>> zb_h1_bubble_of_ideal(p=4, m=16)
    0.0625

    Breaks down with fewer micro-batches than stages: see simulator.simulate.
    """
    return zb_h1_bubble_s(p, F, B, W) / (m * (F + B + W))


@zb_h1_bubble_of_ideal.wrong("a constant", "No schedule has a bubble of its own: stages and micro-batches set it.")
def five_percent(p: Number, m: Number, F: Number = 1, B: Number = 1, W: Number = 1) -> Number:
    return 0.05 + 0 * p * m * F * B * W


@zb_h1_bubble_of_ideal.wrong("1F1B's share", "Weight gradients wait for the drain and fill it.")
def unsplit_share(p: Number, m: Number, F: Number = 1, B: Number = 1, W: Number = 1) -> Number:
    return (p - 1) / m + 0 * F * B * W


@zb_h1_bubble_of_ideal.wrong("none, as the name says", "ZB-H1 keeps 1F1B's memory, so part of the ramp stays.")
def share_as_named(p: Number, m: Number, F: Number = 1, B: Number = 1, W: Number = 1) -> Number:
    return 0 * p * m * F * B * W


@formula(r"(<p>-1) \cdot <F>", unit="s", source=ZERO_BUBBLE + ", section 2.2, plus the slant of its parallelogram")
def zb_h2_bubble_s(p: Number, F: Number) -> Number:
    """Idle time of a stage in a ZB-H2 step with F = B = W: only before its first and after its last operation.   [s]

    p   pipeline stages                                [count]
    F   forward of one micro-batch on a full stage     [s]

    The paper counts none, because the next step begins while this one ends.

    >>> zb_h2_bubble_s(p=4, F=1)
    3

    Breaks down with fewer than 2p - 2 micro-batches or unequal times: see simulator.simulate.
    """
    return (p - 1) * F


@formula(r"\frac{(<p>-1) \cdot <F>}{2}", unit="s", source=ZERO_BUBBLE + ", section 6, plus the ramp")
def zb_v_bubble_s(p: Number, F: Number) -> Number:
    """Idle time of a stage in a ZB-V step with F = B = W: only before its first and after its last operation.   [s]

    p   pipeline stages                                [count]
    F   forward of one micro-batch on a full stage     [s]

    Chunks are half as long as stages, so the ramp is half as long as ZB-H2's. The paper counts none.

    >>> zb_v_bubble_s(p=4, F=1)
    1.5

    Breaks down with fewer than 2p - 2 micro-batches or unequal times: see simulator.simulate.
    """
    return (p - 1) * F / 2


@formula(r"(\frac{<p>}{2}-1) \cdot (<FB>+<B>-2 \cdot <W>)", unit="s", source=DEEPSEEK, FB=r"X")
def dualpipe_bubble_s(p: Number, FB: Number, B: Number, W: Number) -> Number:
    """Idle time of a stage in a DualPipe step.   [s]

    p    pipeline stages, an even number                                            [count]
    FB   a forward beside a full backward of another micro-batch on a full stage    [s]
    B    input-gradient part of a backward                                          [s]
    W    weight-gradient part of a backward                                         [s]

    The report writes B for the full backward, here B + W. Without a gain from overlap FB = F + B + W.

    >>> dualpipe_bubble_s(p=4, FB=3, B=1, W=1)
    2.0

    Breaks down unless F = B = W: see simulator.simulate.
    """
    return (p / 2 - 1) * (FB + B - 2 * W)


@formula(r"\frac{(<p>-1) \cdot (<FB>+<B>-2 \cdot <W>)}{2}", unit="s", source="public DualPipe code, README", FB=r"X")
def dualpipev_bubble_s(p: Number, FB: Number, B: Number, W: Number) -> Number:
    """Idle time of a stage in a DualPipeV step: DualPipe of 2p positions, each half as long.   [s]

    p    pipeline stages                                                            [count]
    FB   a forward beside a full backward of another micro-batch on a full stage    [s]
    B    input-gradient part of a backward                                          [s]
    W    weight-gradient part of a backward                                         [s]

    >>> dualpipev_bubble_s(p=4, FB=3, B=1, W=1)
    3.0

    Breaks down unless F = B = W: see simulator.simulate.
    """
    return (p - 1) * (FB + B - 2 * W) / 2
