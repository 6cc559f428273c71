"""Counting groups of ranks, and comparing the wires they may use."""

from engine.language.formula import Number, formula

GRID = "Narayanan et al. 2021, section 2.3: ranks form a grid with one coordinate an axis"


@formula(r"\frac{<g>}{<n>}", unit="groups", source=GRID)
def groups_of_axis(g: Number, n: Number) -> Number:
    """Groups that an axis cuts a run into: every rank is in exactly one.   [groups]

    g   GPUs of the run           [count]
    n   degree of the axis        [count]

    >>> [int(groups_of_axis(1024, n)) for n in (8, 4, 32)]
    [128, 256, 32]
    """
    return g / n


@formula(
    r"<t> + <T> \cdot (<x> + <X> \cdot <y>)",
    unit="rank",
    source="Megatron-LM's rank order: the first axis changes fastest",
)
def rank_in_grid(t: Number, x: Number, y: Number, T: Number, X: Number) -> Number:
    """Rank of a place on the grid of tp and two further axes.   [rank]

    t   place on the first axis         [count or none]
    x   place on the second             [count or none]
    y   place on the third              [count or none]
    T   degree of the first axis        [count]
    X   degree of the second            [count]

    >>> rank_in_grid(t=2, x=9, y=0, T=8, X=32), rank_in_grid(t=2, x=9, y=1, T=8, X=32)
    (74, 330)
    """
    return t + T * (x + X * y)


@formula(r"\frac{<V>}{<B>}", unit="times", source="Bandwidth each way of one GPU's two wires")
def wire_ratio(V: Number, B: Number) -> Number:
    """How many times more NVLink carries than the NIC of the same GPU.   [times]

    V   NVLink of a GPU, each direction   [bytes/s]
    B   NIC of a GPU, each direction      [bytes/s]

    >>> wire_ratio(450e9, 50e9)
    9.0
    """
    return V / B


@formula(
    r"<n> \cdot <B>",
    unit="bytes/s",
    source="NVIDIA DGX SuperPOD reference architecture: one NIC for each GPU of a node",
)
def node_bytes_per_s(n: Number, B: Number) -> Number:
    """What all NICs of a node carry together, each direction.   [bytes/s]

    n   NICs of a node, one a GPU       [count]
    B   NIC of a GPU, each direction    [bytes/s]

    >>> node_bytes_per_s(8, 50e9) / 1e9
    400.0
    """
    return n * B


@formula(r"<m> - <n>", unit="GPUs", source="A group waits for every member; groups of other axes pass the wait on")
def waiting_gpus(m: Number, n: Number) -> Number:
    """GPUs that stop at once because a group of theirs has lost a member.   [GPUs]

    m   ranks of all groups with a lost member   [count]
    n   ranks lost                               [count]

    >>> waiting_gpus(280, 8)
    272
    """
    return m - n
