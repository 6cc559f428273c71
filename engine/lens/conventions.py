"""Where two careful people print different numbers: training state with gradients of two or of four bytes."""

from engine.language.formula import Number, formula

ZERO = "Rajbhandari et al. 2020 (ZeRO), section 5, with gradients of any width"
MEGATRON = "Megatron-LM theoretical_memory_usage: FP32 main gradients make 18 bytes per parameter, 6 + 12/D with the distributed optimizer"


@formula(
    {
        0: r"(14 + <g>) \cdot <N>",
        1: r"(2 + <g>) \cdot <N> + \frac{12 \cdot <N>}{<D>}",
        2: r"2 \cdot <N> + \frac{(12 + <g>) \cdot <N>}{<D>}",
        3: r"\frac{(14 + <g>) \cdot <N>}{<D>}",
    },
    case="zero",
    unit="bytes",
    source=ZERO,
)
def state_by_gradient_bytes(N: Number, g: Number, zero: int, D: Number) -> Number:
    """Training state per GPU, with the width of a gradient as a choice.   [bytes]

    N      parameters                                                 [parameters]
    g      bytes of a gradient: 2 in BF16, 4 where sums stay in FP32   [bytes]
    zero   ZeRO stage: 0 is DDP, 3 is FSDP                            [ZeRO stage]
    D      data-parallel width                                        [count]

    With g = 2 this is state_bytes; with g = 4 a parameter costs 18 bytes instead of 16.

    >>> state_by_gradient_bytes(1, 4, 0, 1), state_by_gradient_bytes(1, 2, 0, 1)
    (18, 16)

    Breaks down for optimizers other than Adam with an FP32 master copy.
    """
    return {
        0: (14 + g) * N,
        1: (2 + g) * N + 12 * N / D,
        2: 2 * N + (12 + g) * N / D,
        3: (14 + g) * N / D,
    }[int(zero)]


@formula(r"\frac{<N>}{<t> \cdot <p>} \cdot \left(2 + <g> + \frac{12}{<D>}\right)", unit="bytes", source=MEGATRON)
def layout_state_bytes(N: Number, g: Number, t: Number, p: Number, D: Number) -> Number:
    """Training state per GPU under tensor and pipeline parallelism, with the optimizer sharded (ZeRO-1).   [bytes]

    N   parameters                     [parameters]
    g   bytes of a gradient            [bytes]
    t   tensor-parallel degree         [count]
    p   pipeline stages                [count]
    D   data-parallel width            [count]

    A GPU owns one part in t times p of the model: of that part it holds every weight and every gradient.

    >>> round(layout_state_bytes(70e9, 4, 8, 4, 32) / 1e9, 1)
    13.9

    Breaks down where stages are uneven: the first also holds the embedding, the last the head.
    """
    return N / (t * p) * (2 + g + 12 / D)


@layout_state_bytes.wrong(
    "gradients not cut by TP and PP",
    "Keeps the gradients of the whole model; a GPU makes gradients only for the parameters it owns.",
)
def gradients_uncut(N: Number, g: Number, t: Number, p: Number, D: Number) -> Number:
    return N / (t * p) * (2 + 12 / D) + g * N


@layout_state_bytes.wrong("the optimizer not sharded", "ZeRO-1 deals Adam's 12 bytes per parameter over the replicas.")
def optimizer_whole(N: Number, g: Number, t: Number, p: Number, D: Number) -> Number:
    return N / (t * p) * (2 + g + 12)


@layout_state_bytes.wrong("the pipeline ignored", "Each stage holds its own layers, not those of all stages.")
def stages_ignored(N: Number, g: Number, t: Number, p: Number, D: Number) -> Number:
    return N / t * (2 + g + 12 / D)


@layout_state_bytes.wrong("the optimizer forgotten", "Adam's 12 bytes per parameter are cut by the width, not gone.")
def optimizer_missing(N: Number, g: Number, t: Number, p: Number, D: Number) -> Number:
    return N / (t * p) * (2 + g)
