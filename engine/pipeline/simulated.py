"""Formulas of the answer that stand in no textbook: sums over an estimate, and what the exact timeline says."""

from engine.language.formula import Number, formula

TIMELINE = "Exact timeline of the schedule, every stage like the mean one, sends without time"
GIVEN = "Given by the scenario"


@formula(
    r"<N> - <m> \cdot (<E> - <k>) \cdot <x>",
    unit="parameters",
    source="A token passes its top-k experts instead of all",
)
def active_parameters(N: Number, m: Number, E: Number, k: Number, x: Number) -> Number:
    """Parameters that one token passes.   [parameters]

    N   parameters of the model         [parameters]
    m   layers with experts             [count or none]
    E   experts of a layer              [count or none]
    k   experts a token goes to         [count or none]
    x   parameters of one expert        [parameters]

    >>> active_parameters(70e9, 0, 0, 0, 0) == 70e9
    True
    """
    return N - m * (E - k) * x


@formula(
    r"<o> + <x>", unit="parameters", source="Parameters of a stage after tensor and expert parallelism, before sharding"
)
def gpu_parameters(o: Number, x: Number) -> Number:
    """Parameters one GPU of the fullest stage works with.   [parameters]

    o   all but routed experts   [parameters]
    x   routed experts           [parameters]

    >>> gpu_parameters(2e9, 7e8)
    2700000000.0
    """
    return o + x


@formula(r"<i>", unit="stage", source="Stages count from 0, in the order of the model's layers")
def stage_index(i: Number) -> Number:
    """Place of a stage in the pipeline.   [stage]

    i   the stage, from 0   [count or none]

    >>> stage_index(3)
    3
    """
    return i


@formula(r"<M>", unit="bytes", source=GIVEN)
def capacity_bytes(M: Number) -> Number:
    """Memory of one GPU.   [bytes]

    M   usable capacity, as the driver reports it   [bytes]

    >>> capacity_bytes(80e9)
    80000000000.0
    """
    return M


@formula(
    r"<p> \cdot (1 + <f>) + <c> \le <M>",
    unit="yes or no",
    source="SimuMax (allocator), stas00/ml-engineering (CUDA context and NCCL)",
)
def fits(p: Number, f: Number, c: Number, M: Number) -> Number:
    """Whether the fullest stage fits, with the allocator's reserve and CUDA's context: 1 if so.   [yes or no]

    p   allocated at the peak                     [bytes]
    f   what the allocator reserves on top        [share]
    c   CUDA context and NCCL                     [bytes]
    M   memory of one GPU                         [bytes]

    >>> fits(70e9, 0.06, 2e9, 80e9)
    True
    """
    return p * (1 + f) + c <= M


@formula(r"<b> \cdot <T> \cdot <w>", unit="bytes", source="The tensor that is handed over, in BF16")
def activation_payload_bytes(b: Number, T: Number, w: Number) -> Number:
    """Buffer of one collective that moves activations.   [bytes]

    b   bytes a number                             [bytes]
    T   tokens of a micro-batch on one rank        [tokens]
    w   numbers a token                            [numbers]

    >>> activation_payload_bytes(2, 8192, 8192) / 2**20
    128.0
    """
    return b * T * w


@formula(
    r"<b> \cdot <P>", unit="bytes", source="Every parameter once: weights in BF16, gradients as the layout keeps them"
)
def parameter_payload_bytes(b: Number, P: Number) -> Number:
    """Buffer of one collective that moves weights or gradients.   [bytes]

    b   bytes of a weight or gradient            [bytes]
    P   parameters it moves                      [parameters]

    >>> parameter_payload_bytes(4, 2.27e9)
    9080000000.0
    """
    return b * P


@formula(r"<c> \cdot <m>", unit="times a step", source="Counted over the layers and passes of the busiest stage")
def issued_count(c: Number, m: Number) -> Number:
    """How often a step issues a collective.   [times a step]

    c   times in one micro-batch, all layers and passes of the stage   [count or none]
    m   micro-batches that do so; 1 if it comes once a step            [count]

    >>> issued_count(80, 16)
    1280
    """
    return c * m


@formula(r"1 - \frac{<b>}{<p> \cdot <e>}", unit="share of the step", source=TIMELINE)
def simulated_bubble_of_total(b: Number, p: Number, e: Number) -> Number:
    """Share of a simulated step in which a stage idles.   [0 to 1]

    b   time in which stages are busy, all together     [s]
    p   pipeline stages                                 [count]
    e   from the first forward to the last backward     [s above 0]

    >>> simulated_bubble_of_total(12, 4, 4)
    0.25
    """
    return 1 - b / (p * e)


@formula(r"\frac{<p> \cdot <e>}{<b>} - 1", unit="share of the ideal step", source=TIMELINE)
def simulated_bubble_of_ideal(b: Number, p: Number, e: Number) -> Number:
    """Idle time of a simulated step over the time without a bubble.   [0 and above]

    b   time in which stages are busy, all together     [s above 0]
    p   pipeline stages                                 [count]
    e   from the first forward to the last backward     [s]

    >>> simulated_bubble_of_ideal(12, 4, 3.75)
    0.25
    """
    return p * e / b - 1


@formula(r"<n> \cdot <w>", unit="micro-batches", source=TIMELINE)
def simulated_in_flight(n: Number, w: Number) -> Number:
    """Micro-batches that a stage holds at its peak, in activations of a full stage.   [micro-batches]

    n   chunks whose activations it holds at once   [count]
    w   share of a full stage in one chunk          [share above 0]

    >>> simulated_in_flight(11, 0.5)
    5.5
    """
    return n * w


@formula(r"\frac{<r>}{<g>}", unit="tokens/s", source="The speed of the run, shared by its GPUs")
def tokens_per_second_per_gpu(r: Number, g: Number) -> Number:
    """Speed of training of one GPU.   [tokens/s]

    r   tokens per second of the whole run   [tokens/s]
    g   GPUs                                 [count]

    >>> tokens_per_second_per_gpu(1024e3, 1024)
    1000.0
    """
    return r / g
