"""Bytes one GPU holds: weights, gradients, optimizer state, activations in flight and working buffers."""

from engine.language.formula import Number, formula

ZERO = "Rajbhandari et al. 2020 (ZeRO), sections 3.1 and 5: 2 weights + 2 gradients + 12 optimizer bytes per parameter"


@formula(
    {
        0: r"16 \cdot <N>",
        1: r"4 \cdot <N> + \frac{12 \cdot <N>}{<D>}",
        2: r"2 \cdot <N> + \frac{14 \cdot <N>}{<D>}",
        3: r"\frac{16 \cdot <N>}{<D>}",
    },
    case="zero",
    unit="bytes",
    source=ZERO,
)
def state_bytes(N: Number, zero: int, D: Number) -> Number:
    """Training state per GPU under mixed-precision Adam.   [bytes]

    N      parameters                      [parameters]
    zero   ZeRO stage: 0 is DDP, 3 is FSDP [ZeRO stage]
    D      data-parallel width             [count]

    A parameter costs 16 bytes: BF16 weight and gradient (2 + 2), FP32 master copy and two Adam moments (12).
    Stage 1 shards the 12, stage 2 the gradient as well, stage 3 all sixteen.

    >>> [round(state_bytes(70e9, zero, 64) / 1e9, 1) for zero in (0, 1, 2, 3)]
    [1120.0, 293.1, 155.3, 17.5]

    Breaks down where gradients are kept in FP32 (18 bytes per parameter): see gradients_bytes.
    """
    return {0: 16 * N, 1: 4 * N + 12 * N / D, 2: 2 * N + 14 * N / D, 3: 16 * N / D}[int(zero)]


@state_bytes.wrong(
    "only the weights", "Counts 2 bytes per parameter: the gradients and the optimizer state are forgotten."
)
def only_weights(N: Number, zero: int, D: Number) -> Number:
    return 2 * N


@state_bytes.wrong(
    "the optimizer forgotten", "Counts weights and gradients; Adam's 12 bytes per parameter are missing."
)
def no_optimizer(N: Number, zero: int, D: Number) -> Number:
    return 4 * N if zero < 2 else 2 * N + 2 * N / D if zero == 2 else 4 * N / D


@state_bytes.wrong("nothing is sharded", "Answers for DDP: the ZeRO stage divides part of the state by the width.")
def nothing_sharded(N: Number, zero: int, D: Number) -> Number:
    return 16 * N


@state_bytes.wrong("everything is sharded", "Answers for ZeRO-3: stages 1 and 2 still keep whole weights on each GPU.")
def everything_sharded(N: Number, zero: int, D: Number) -> Number:
    return 16 * N / D


@formula(r"<b> \cdot \frac{<P>}{<D>}", unit="bytes", source=ZERO)
def held_bytes(b: Number, P: Number, D: Number) -> Number:
    """One part of the training state of one GPU.   [bytes]

    b   bytes per parameter                               [bytes]
    P   parameters of this GPU before sharding          [parameters]
    D   ranks the part is sharded over, 1 if it is not  [count]

    >>> round(held_bytes(12, 2.27e9, 32) / 2**30, 2)
    0.79
    """
    return b * P / D


@formula(r"<b> \cdot \left(\frac{<P>}{<D>} + \frac{<E>}{<X>}\right)", unit="bytes", source=ZERO)
def held_with_experts_bytes(b: Number, P: Number, D: Number, E: Number, X: Number) -> Number:
    """One part of the training state of one GPU that also holds routed experts.   [bytes]

    b   bytes per parameter                                        [bytes]
    P   parameters of this GPU before sharding, experts left out [parameters]
    D   ranks that part is sharded over, 1 if it is not          [count]
    E   routed expert parameters of this GPU                     [parameters]
    X   ranks the experts are sharded over: fewer hold copies    [count]

    >>> held_with_experts_bytes(12, 1e9, 32, 8e9, 4) / 1e9
    24.375
    """
    return b * (P / D + E / X)


@formula(
    r"<i> \cdot \left(<n> \cdot <d> + <m> \cdot <x>\right) + <w>",
    unit="bytes",
    source="Narayanan et al. 2021, section 2.2; Korthikanti et al. 2022, section 4.2.3",
)
def activation_bytes(i: Number, n: Number, d: Number, m: Number, x: Number, w: Number) -> Number:
    """Activations a stage keeps for backward passes to come.   [bytes]

    i   micro-batches in flight, in full stages       [micro-batches]
    n   dense layers of the stage                     [count or none]
    d   bytes kept of a dense layer                   [bytes]
    m   layers with experts                           [count or none]
    x   bytes kept of such a layer                    [bytes]
    w   the layer being recomputed, its input aside   [bytes]

    >>> round(activation_bytes(4, 20, 268.25 * 2**20, 0, 0, 0) / 2**30, 2)
    20.96
    """
    return i * (n * d + m * x) + w


@formula(r"<w> + <g> + <o>", unit="bytes", source=ZERO)
def stage_state_bytes(w: Number, g: Number, o: Number) -> Number:
    """Training state of one GPU of a stage.   [bytes]

    w   weights           [bytes]
    g   gradients         [bytes]
    o   optimizer state   [bytes]

    >>> stage_state_bytes(4, 8, 1)
    13
    """
    return w + g + o


@formula(r"<w> + <g> + <o> + <a> + <u>", unit="bytes", source="The parts of one GPU's memory")
def stage_total_bytes(w: Number, g: Number, o: Number, a: Number, u: Number) -> Number:
    """Everything one GPU of a stage allocates.   [bytes]

    w   weights           [bytes]
    g   gradients         [bytes]
    o   optimizer state   [bytes]
    a   activations       [bytes]
    u   working buffers   [bytes]

    >>> stage_total_bytes(4, 8, 1, 21, 1)
    35
    """
    return w + g + o + a + u


@formula(
    r"<p> \cdot (1 + <f>) + <c>",
    unit="bytes",
    source="SimuMax (allocator), stas00/ml-engineering (CUDA context and NCCL)",
)
def needed_bytes(p: Number, f: Number, c: Number) -> Number:
    """Memory a GPU must have for what is allocated to fit.   [bytes]

    p   allocated at the peak                     [bytes]
    f   what the allocator reserves on top        [share]
    c   CUDA context and NCCL                     [bytes]

    >>> needed_bytes(70e9, 0.06, 2e9) / 1e9
    76.2
    """
    return p * (1 + f) + c


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
