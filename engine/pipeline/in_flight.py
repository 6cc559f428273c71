"""How many micro-batches a stage holds at once, in activations of a full stage, for each schedule. Exact: simulator.py.

Symbols: p stages, m micro-batches, v chunks per stage, i a stage counted from 0. Held from the start of the forward to
the end of the backward, or of its input-gradient part; what weight gradients still need is Timeline.held_weights.
"""

from engine.language.formula import Number, formula
from engine.pipeline.bubble import NARAYANAN, ZERO_BUBBLE, least

UNIT = "micro-batches"


@formula(r"<m>", unit=UNIT, source="Huang et al. 2019, section 2.3")
def in_flight_gpipe(m: Number) -> Number:
    """Micro-batches that every GPipe stage holds at its peak.   [micro-batches]

    m   micro-batches per pipeline and step   [count]

    Backwards start only after the last forward.

    >>> in_flight_gpipe(m=8)
    8

    Breaks down when activations are recomputed: then it counts stage inputs.
    """
    return 1 * m


@formula(r"\min(<m>, <p>-<i>)", unit=UNIT, source=NARAYANAN)
def in_flight_1f1b(p: Number, m: Number, i: Number = 0) -> Number:
    """Micro-batches that a 1F1B or ZB-H1 stage holds at its peak.   [micro-batches]

    p   pipeline stages                       [count]
    m   micro-batches per pipeline and step   [count]
    i   stage, from 0                         [count or none]

    A stage runs ahead by as many micro-batches as there are stages after it.

    >>> [in_flight_1f1b(p=4, m=8, i=i) for i in range(4)]
    [4, 3, 2, 1]

    Breaks down for what ZB-H1 keeps for its late weight gradients: i more, so p in all.
    """
    return least(m, p - i)


@in_flight_1f1b.wrong("m, as in GPipe", "1F1B runs each backward as soon as it can, and frees its activations then.")
def all_micro_batches(p: Number, m: Number, i: Number = 0) -> Number:
    return m + 0 * p * i


@in_flight_1f1b.wrong("p on every stage", "Only the first stage waits for a round trip through all stages.")
def first_stage_everywhere(p: Number, m: Number, i: Number = 0) -> Number:
    return least(m, p) + 0 * i


@formula(
    r"\min(<m>, \frac{2 \cdot (<p>-<i>-1)+(<v>-1) \cdot <p>+1}{<v>})",
    unit=UNIT,
    source="warm-up count of Megatron-LM; Korthikanti et al. 2022 (arXiv 2205.05198), section 4.2.3",
)
def in_flight_interleaved(p: Number, m: Number, v: Number, i: Number = 0) -> Number:
    """Micro-batches that an interleaved stage holds at its peak, in activations of a full stage.   [micro-batches]

    p   pipeline stages                       [count]
    m   micro-batches per pipeline and step   [count]
    v   chunks per stage, at least 2          [count]
    i   stage, from 0                         [count or none]

    It runs 2(p-i-1) + (v-1)p thin chunks ahead. The first stage holds p(1 + (p-1)/(pv)).

    >>> [in_flight_interleaved(p=4, m=8, v=2, i=i) for i in range(4)]
    [5.5, 4.5, 3.5, 2.5]

    Breaks down at v = 1, which is 1F1B and runs ahead by p - i - 1 only.
    """
    return least(m, (2 * (p - i - 1) + (v - 1) * p + 1) / v)


@in_flight_interleaved.wrong("1F1B's count", "Interleaving buys its smaller bubble with more activations.")
def as_one_f_one_b(p: Number, m: Number, v: Number, i: Number = 0) -> Number:
    return least(m, p - i) + 0 * v


@in_flight_interleaved.wrong("chunks counted as full stages", "A chunk holds 1/v of the layers of a stage.")
def whole_chunks(p: Number, m: Number, v: Number, i: Number = 0) -> Number:
    return 2 * (p - i - 1) + (v - 1) * p + 1


@formula(r"\min(<p>, <m>, \frac{<m>+<i>+1}{2})", unit=UNIT, source=ZERO_BUBBLE + ", section 6: p on all stages")
def in_flight_zb_v(p: Number, m: Number, i: Number = 0) -> Number:
    """Micro-batches that a ZB-V stage holds at its peak, in activations of a full stage.   [micro-batches]

    p   pipeline stages                       [count]
    m   micro-batches per pipeline and step   [count]
    i   stage, from 0                         [count or none]

    2p half-size chunks on every stage, once there are 2p - 1 micro-batches to fill the V.

    >>> in_flight_zb_v(p=4, m=8)
    4

    Breaks down for what late weight gradients still need.
    """
    return least(p, m, (m + i + 1) / 2)


@formula(r"<p>+1", unit=UNIT, source="DeepSeek-V3 report (arXiv 2412.19437), table 2")
def in_flight_dualpipe(p: Number) -> Number:
    """Micro-batches that every DualPipe stage holds at its peak, both directions together.   [micro-batches]

    p   pipeline stages   [count]

    >>> in_flight_dualpipe(p=4)
    5

    Breaks down below 2p micro-batches, where DualPipe does not run.
    """
    return p + 1


@formula(r"<p>+\frac{1}{2}", unit=UNIT, source="public DualPipe code, README: PP + 1 half-size chunks, PP = 2p")
def in_flight_dualpipev(p: Number) -> Number:
    """Micro-batches that every DualPipeV stage holds at its peak, in activations of a full stage.   [micro-batches]

    p   pipeline stages   [count]

    >>> in_flight_dualpipev(p=4)
    4.5

    Breaks down below 2p micro-batches, where DualPipeV does not run.
    """
    return p + 0.5
