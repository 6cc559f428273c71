"""The parts of a step in closed form: what each is the product, difference or share of."""

from engine.language.formula import Number, formula


@formula(r"<m> \cdot <w>", unit="s", source="Each micro-batch costs the slowest stage the same")
def stage_compute_s(m: Number, w: Number) -> Number:
    """Computation of the slowest stage in one step.   [s]

    m   micro-batches per pipeline and step   [count]
    w   its work on one micro-batch           [s]

    >>> round(stage_compute_s(16, 0.2), 1)
    3.2
    """
    return m * w


@formula(
    r"<e> - <b>",
    unit="s",
    source="Exact timeline of the schedule, with this model's uneven stages and no time for sends",
)
def idle_s(e: Number, b: Number) -> Number:
    """Time in which the slowest stage waits for others.   [s]

    e   from the first forward to the last backward   [s]
    b   time in which that stage is busy              [s]

    >>> round(idle_s(4.2, 3.6), 1)
    0.6
    """
    return e - b


@formula(r"<e> - <f>", unit="s", source="Exact timelines of the schedule with and without the time of sends")
def send_delay_s(e: Number, f: Number) -> Number:
    """What sends between stages add to the step.   [s]

    e   length of the pipeline's step with sends      [s]
    f   and with sends that take no time              [s]

    >>> round(send_delay_s(4.21, 4.2), 2)
    0.01
    """
    return e - f


@formula(
    r"\frac{<k> \cdot <P> + <l> \cdot <Q>}{<B>}",
    unit="s",
    source="Traffic of an Adam step; Rajbhandari et al. 2020 for the sharding",
)
def optimizer_s(k: Number, P: Number, l: Number, Q: Number, B: Number) -> Number:  # noqa: E741
    """Time of the optimizer's step.   [s]

    k   bytes moved a sharded parameter                  [bytes]
    P   parameters whose optimizer state this GPU holds  [parameters]
    l   bytes moved a local parameter                    [bytes]
    Q   parameters this GPU holds                        [parameters]
    B   memory bandwidth reached                         [bytes/s]

    >>> round(optimizer_s(34, 71e6, 4, 2.27e9, 2.68e12) * 1e3, 1)
    4.3
    """
    return (k * P + l * Q) / B


@formula(r"<t> + <c> + <e> + <p> + <d>", unit="s", source="What each axis' collectives add to the step")
def exposed_communication_s(t: Number, c: Number, e: Number, p: Number, d: Number) -> Number:
    """Communication that no computation hides.   [s]

    t   tensor parallel     [s]
    c   context parallel    [s]
    e   expert parallel     [s]
    p   pipeline            [s]
    d   data parallel       [s]

    >>> exposed_communication_s(t=0.75, c=0, e=0, p=0, d=0.25)
    1.0
    """
    return t + c + e + p + d


@formula(r"<c> + <r> + <x> + <b> + <o>", unit="s", source="The parts of a step on its slowest stage")
def step_s(c: Number, r: Number, x: Number, b: Number, o: Number) -> Number:
    """Time of one training step.   [s]

    c   computation             [s]
    r   recomputation           [s]
    x   exposed communication   [s]
    b   bubble                  [s]
    o   optimizer               [s]

    >>> step_s(c=3, r=0, x=0.5, b=0.5, o=0.25)
    4.25
    """
    return c + r + x + b + o


@formula(r"<s> \cdot (1 + <d>)", unit="s", source="Half-width from held-out errors of published runs like this one")
def band_s(s: Number, d: Number) -> Number:
    """An end of the range of step times.   [s]

    s   the step time predicted        [s]
    d   relative error, with its sign  [ratio]

    >>> band_s(4.0, 0.05)
    4.2
    """
    return s * (1 + d)


@formula(r"\frac{<x>}{<s>}", unit="share of the step", source="A part of the step over the whole of it")
def share_of_step(x: Number, s: Number) -> Number:
    """Share of the step that one part takes.   [share]

    x   the part       [s]
    s   one step       [s above 0]

    >>> share_of_step(x=0.5, s=4)
    0.125
    """
    return x / s


@formula(
    r"\frac{<c>}{<s>} - <u>",
    unit="share of the step",
    source="Computation beyond what the peak would need for the useful work",
)
def kernel_loss(c: Number, s: Number, u: Number) -> Number:
    """Share of the step lost because kernels run below the peak.   [share]

    c   computation of the slowest stage           [s]
    s   one step                                   [s above 0]
    u   MFU by the causal convention               [share]

    >>> round(kernel_loss(c=3.2, s=4.9, u=0.38), 3)
    0.273

    Holds what less loaded stages could have done besides: the MFU counts all GPUs, the computation the slowest stage.
    """
    return c / s - u
