"""Fine-tuning on the same terms: frozen weights and low-rank adapters."""

from engine.formula import Number, formula


@formula(r"\frac{2 \cdot <N>}{<D>}", unit="bytes", source="Hu et al. 2021 (LoRA): the base is frozen, so it has no gradients "
         "and no optimizer state; BF16 is 2 bytes")  # fmt: skip
def frozen_base_bytes(N: Number, D: Number) -> Number:
    """Frozen BF16 weights per GPU when FSDP shards them.   [bytes]

    N   parameters            [parameters]
    D   GPUs they are cut over   [count]

    >>> frozen_base_bytes(70e9, 8) / 1e9
    17.5
    """
    return 2 * N / D


@formula(r"<r> \cdot (<d_in> + <d_out>)", unit="parameters", source="Hu et al. 2021 (LoRA), section 4.1",
         d_in=r"d_\text{in}", d_out=r"d_\text{out}")  # fmt: skip
def lora_parameters(r: Number, d_in: Number, d_out: Number) -> Number:
    """Trainable parameters that LoRA adds to one matrix.   [parameters]

    r       rank of the adapter          [count]
    d_in    inputs of the matrix         [count]
    d_out   outputs of the matrix        [count]

    >>> lora_parameters(16, 8192, 8192)
    262144
    """
    return r * (d_in + d_out)
