"""Collectives that PyTorch's own frameworks issue in a step of the small GPT: how many, and of what size."""

from engine.language.formula import Number, formula

FSDP2 = "PyTorch 2.13, fully_shard on each block and on the root; counted in real runs"
TP = "PyTorch 2.13, parallelize_module; Shoeybi et al. 2019, section 3; counted in real runs"
SP = "PyTorch 2.13, SequenceParallel; Korthikanti et al. 2022, section 4.2; counted in real runs"


@formula({0: r"<L> + 1", 1: r"2 \cdot <L> + 1", 2: r"2 \cdot (<L> + 1)"}, case="reshard", unit="gathers", source=FSDP2)
def fsdp_gathers(L: Number, reshard: int) -> Number:
    """All-gathers of a step of FSDP2.   [gathers]

    L         blocks, each a unit of its own                                              [count]
    reshard   what is freed after its forward: 0 nothing, 1 the blocks, 2 the root as well [ZeRO stage]

    The root holds the embeddings and the head, which the backward pass needs first: PyTorch keeps it unless told otherwise.

    >>> [fsdp_gathers(4, reshard) for reshard in (0, 1, 2)]
    [5, 9, 10]
    """
    return {0: L + 1, 1: 2 * L + 1, 2: 2 * (L + 1)}[int(reshard)]


@formula(
    {0: r"<b> \cdot <N>", 1: r"<b> \cdot (<N> + <L> \cdot <l>)", 2: r"2 \cdot <b> \cdot <N>"},
    case="reshard",
    unit="bytes",
    source=FSDP2,
)
def fsdp_gathered_bytes(b: Number, N: Number, l: Number, L: Number, reshard: int) -> Number:  # noqa: E741
    """Bytes that the all-gathers of a step of FSDP2 put together on each rank.   [bytes]

    b         bytes per parameter on the wire                                               [bytes]
    N         parameters, with the rows that fill up uneven cuts                          [parameters]
    l         of one block                                                                [parameters]
    L         blocks                                                                      [count]
    reshard   what is freed after its forward: 0 nothing, 1 the blocks, 2 the root as well [ZeRO stage]

    >>> fsdp_gathered_bytes(4, 3426560, 786944, 4, 2)
    27412480
    """
    return {0: b * N, 1: b * (N + L * l), 2: 2 * b * N}[int(reshard)]


@formula(r"<L> + 1", unit="scatters", source=FSDP2)
def fsdp_scatters(L: Number) -> Number:
    """Reduce-scatters of a step of FSDP2: one for each block, one for the root.   [scatters]

    L   blocks   [count]

    >>> fsdp_scatters(4)
    5
    """
    return L + 1


@formula({0: r"6 \cdot <L> + 1", 1: r"4 \cdot <L> + 1"}, case="shared", unit="sums", source=TP)
def tensor_parallel_sums(L: Number, shared: int) -> Number:
    """All-reduces of a step under tensor parallelism.   [sums]

    L        layers                                                   [count]
    shared   1 where queries, keys and values sum the gradient of their input once [yes or no]

    Two a layer forward and two backward, and one for the input of the head. Where the three matrices are cut one by one,
    each sums the gradient of its own input: two more a layer.

    >>> tensor_parallel_sums(4, 1), tensor_parallel_sums(4, 0)
    (17, 25)
    """
    return 4 * L + 1 if shared else 6 * L + 1


@formula(r"<b> \cdot <B> \cdot <s> \cdot <d>", unit="bytes", source="One number a token and channel")
def stream_bytes(b: Number, B: Number, s: Number, d: Number) -> Number:
    """The stream of activations between two layers.   [bytes]

    b   bytes a number   [bytes]
    B   sequences        [count]
    s   sequence length  [tokens]
    d   channels         [count]

    >>> stream_bytes(4, 8, 64, 128)
    262144
    """
    return b * B * s * d


@formula(r"4 \cdot <L> + 2 + <w>", unit="gathers", source=SP)
def sequence_parallel_gathers(L: Number, w: Number) -> Number:
    """All-gathers of a step under tensor with sequence parallelism.   [gathers]

    L   layers                                   [count]
    w   1 where the logits are gathered as well  [yes or no]

    Forward two a layer and one before the head; backward as many, the last one behind the embeddings. PyTorch keeps what it
    gathered for the backward pass; Megatron-LM gathers it again.

    >>> sequence_parallel_gathers(4, 0)
    18
    """
    return 4 * L + 2 + w


@formula(r"4 \cdot <L> + 1", unit="scatters", source=SP)
def sequence_parallel_scatters(L: Number) -> Number:
    """Reduce-scatters of a step under tensor with sequence parallelism.   [scatters]

    L   layers   [count]

    >>> sequence_parallel_scatters(4)
    17
    """
    return 4 * L + 1


@formula(r"3 \cdot (2 \cdot <L> + 1)", unit="sums", source=SP)
def partial_norm_sums(L: Number) -> Number:
    """All-reduces in AdamW for norms whose gradients are partial sums.   [sums]

    L   layers   [count]

    Each rank's norms saw only its slice of the tokens. DTensor adds up such a gradient whenever it is read, and AdamW reads
    it three times: once for the first moment, twice for the second.

    >>> partial_norm_sums(4)
    27

    Breaks down for optimizers that read a gradient once.
    """
    return 3 * (2 * L + 1)
