"""Fine-tuning on the same terms: frozen weights and low-rank adapters."""

from engine.language.formula import Number, formula


@formula(
    r"\frac{2 \cdot <N>}{<D>}",
    unit="bytes",
    source="Hu et al. 2021 (LoRA): the base is frozen, so it has no gradients and no optimizer state; BF16 is 2 bytes",
)
def frozen_base_bytes(N: Number, D: Number) -> Number:
    """Frozen BF16 weights per GPU when FSDP shards them.   [bytes]

    N   parameters            [parameters]
    D   GPUs they are cut over   [count]

    >>> frozen_base_bytes(70e9, 8) / 1e9
    17.5
    """
    return 2 * N / D


@formula(
    r"<r> \cdot (<d_in> + <d_out>)",
    unit="parameters",
    source="Hu et al. 2021 (LoRA), section 4.1",
    d_in=r"d_\text{in}",
    d_out=r"d_\text{out}",
)
def lora_parameters(r: Number, d_in: Number, d_out: Number) -> Number:
    """Trainable parameters that LoRA adds to one matrix.   [parameters]

    r       rank of the adapter          [count]
    d_in    inputs of the matrix         [count]
    d_out   outputs of the matrix        [count]

    >>> lora_parameters(16, 8192, 8192)
    262144
    """
    return r * (d_in + d_out)


@formula(
    r"<L> \cdot <r> \cdot \left(6 \cdot <h> + \frac{2 \cdot <h> \cdot <k>}{<a>} + 3 \cdot (<h> + <f>)\right)",
    unit="parameters",
    source="Hu et al. 2021 (LoRA), section 4.1, for all seven matrices of a gated layer with grouped queries",
)
def adapter_parameters(L: Number, r: Number, h: Number, a: Number, k: Number, f: Number) -> Number:
    """Trainable parameters of LoRA on every matrix of every layer.   [parameters]

    L   layers                  [count]
    r   rank of the adapters    [count]
    h   hidden size             [count]
    a   query heads             [count]
    k   key-value heads         [count]
    f   inner size of the MLP   [count]

    Each matrix adds r (inputs + outputs): 2h twice for query and output, h + hk/a twice, h + f three times.

    >>> round(adapter_parameters(80, 16, 8192, 64, 8, 28672) / 1e6, 1)
    207.1

    Breaks down where heads are not h/a wide, and for experts.
    """
    return L * r * (6 * h + 2 * h * k / a + 3 * (h + f))


@formula(
    r"\frac{<N>}{8 \cdot <D>} \cdot \left(4 + \frac{8}{64} + \frac{32}{64 \cdot 256}\right)",
    unit="bytes",
    source="Dettmers et al. 2023 (QLoRA), section 3: 4 bits a weight, 8 for each 64 weights, 32 for each 256 of those",
)
def quantized_base_bytes(N: Number, D: Number) -> Number:
    """Frozen weights per GPU in 4-bit NormalFloat with double quantization.   [bytes]

    N   parameters               [parameters]
    D   GPUs they are cut over   [count]

    >>> round(quantized_base_bytes(70e9, 1) / 1e9, 1)
    36.1

    Breaks down a little in practice: embedding, head and norms usually stay in BF16.
    """
    return N / (8 * D) * (4 + 8 / 64 + 32 / (64 * 256))


@quantized_base_bytes.wrong("the scales forgotten", "Four bits a weight, but each block of 64 weights has a scale too.")
def scales_forgotten(N: Number, D: Number) -> Number:
    return N / (2 * D)


@formula(
    r"4 \cdot <N> \cdot <T>",
    unit="FLOP",
    source="Kaplan et al. 2020, section 2.1, without the 2 FLOP of each frozen weight's gradient",
)
def lora_flop(N: Number, T: Number) -> Number:
    """Work of fine-tuning with a frozen base.   [FLOP]

    N   parameters of the base   [parameters]
    T   tokens                   [tokens]

    Forward, and gradients of the inputs backward through the frozen layers; no gradients of their weights.

    >>> f"{lora_flop(70e9, 1e8):.2g}"
    '2.8e+19'

    Breaks down with recomputation, which adds a forward pass (2NT), and leaves out the adapters, below 1 %.
    """
    return 4 * N * T


@lora_flop.wrong("as in full training", "Frozen weights need no gradient: a third of the work is not done.")
def frozen_gradients_counted(N: Number, T: Number) -> Number:
    return 6 * N * T


@lora_flop.wrong("adapters only", "Tokens still pass every frozen weight, forward and backward.")
def forward_pass_only(N: Number, T: Number) -> Number:
    return 2 * N * T
