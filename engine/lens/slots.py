"""A pipeline step counted in slots: a slot is the forward of one micro-batch on one full stage. Exact: simulator.py."""

from engine.language.formula import Number, formula
from engine.pipeline.bubble import NARAYANAN

TIMELINE = "Exact timeline of the schedule: engine/pipeline/simulator.py"


@formula(r"(<m>+\frac{<p>-1}{<v>}) \cdot (<F>+<B>+<W>)", unit="slots", source=NARAYANAN)
def step_slots(p: Number, m: Number, F: Number = 1, B: Number = 1, W: Number = 1, v: Number = 1) -> Number:
    """Length of a GPipe, 1F1B or interleaved step.   [slots]

    p   pipeline stages                                [count]
    m   micro-batches per pipeline and step            [count]
    F   forward of one micro-batch on a full stage     [slots]
    B   input-gradient part of its backward            [slots]
    W   weight-gradient part of its backward           [slots]
    v   chunks per stage; 1 is not interleaved         [count]

    Every stage works m slots and waits while the pipe fills and drains, through chunks v times thinner.

    >>> step_slots(p=4, m=8), step_slots(p=4, m=8, v=2)
    (33.0, 28.5)

    Breaks down when stages are uneven or sends are slow: see simulator.simulate.
    """
    return (m + (p - 1) / v) * (F + B + W)


@step_slots.wrong("no ramp", "The pipe has to fill and to drain: p-1 more slots of a stage, or of a chunk.")
def no_ramp(p: Number, m: Number, F: Number = 1, B: Number = 1, W: Number = 1, v: Number = 1) -> Number:
    return m * (F + B + W) + 0 * p * v


@step_slots.wrong("one after the other", "A stage takes the next micro-batch while the others still work on this one.")
def in_turn(p: Number, m: Number, F: Number = 1, B: Number = 1, W: Number = 1, v: Number = 1) -> Number:
    return p * m * (F + B + W) + 0 * v


@formula(r"(<m> \cdot (1+<s>)+<p>-1) \cdot (<F>+<B>+<W>)", unit="slots", source="The slowest stage sets the pace")
def uneven_step_slots(p: Number, m: Number, s: Number, F: Number = 1, B: Number = 1, W: Number = 1) -> Number:
    """Length of a 1F1B step whose last stage is slower.   [slots]

    p   pipeline stages                                [count]
    m   micro-batches per pipeline and step            [count]
    s   by which the last stage takes longer           [share]
    F   forward of one micro-batch on a full stage     [slots]
    B   input-gradient part of its backward            [slots]
    W   weight-gradient part of its backward           [slots]

    Every micro-batch passes the slow stage, and the others wait for it every time.

    >>> round(uneven_step_slots(p=4, m=32, s=0.1), 1)
    114.6

    Breaks down when sends are slow: see simulator.simulate.
    """
    return (m * (1 + s) + p - 1) * (F + B + W)


@uneven_step_slots.wrong("averaged over the stages", "The pace is that of the slowest stage, not of the mean one.")
def averaged_pace(p: Number, m: Number, s: Number, F: Number = 1, B: Number = 1, W: Number = 1) -> Number:
    return (m + p - 1) * (1 + s / p) * (F + B + W)


@formula(r"1-\frac{<w>}{<T>}", unit="share of the step", source=TIMELINE)
def waiting_share(w: Number, T: Number) -> Number:
    """Share of a step in which a stage idles, from the step's exact length.   [0 to 1]

    w   work of a stage, averaged over the stages   [slots]
    T   length of the step                          [slots above 0]

    >>> round(waiting_share(w=24, T=33), 3)
    0.273
    """
    return 1 - w / T


@formula(r"2 \cdot <m> \cdot (<p> \cdot <v>-1)", unit="sends", source=NARAYANAN)
def pipeline_sends(p: Number, m: Number, v: Number = 1) -> Number:
    """Messages between neighbouring stages in one step, all stages together.   [sends]

    p   pipeline stages, at least 2          [count]
    m   micro-batches per pipeline and step  [count]
    v   chunks per stage                     [count]

    Each micro-batch crosses every boundary between chunks once forward and once backward.

    >>> pipeline_sends(p=4, m=8), pipeline_sends(p=4, m=8, v=2)
    (48, 112)

    Breaks down for one stage, whose chunks are on one device.
    """
    return 2 * m * (p * v - 1)


@formula(
    r"\frac{<H>}{<l>}", unit="layers", source="Both are matrix products that every token passes: work goes with weights"
)
def head_in_layers(H: Number, l: Number) -> Number:  # noqa: E741
    """What the output head is worth in layers.   [layers]

    H   weights of the head      [parameters]
    l   weights of one layer     [parameters above 0]

    >>> round(head_in_layers(H=128256 * 8192, l=855.7e6), 2)
    1.23

    Breaks down at long sequences, where attention adds work that no weight shows.
    """
    return H / l
