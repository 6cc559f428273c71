"""Time and traffic of one collective on given links."""

import numpy as np

from engine.language.formula import Number, formula

RING = "Thakur et al. 2005; Patarasuk and Yuan 2009; nccl-tests PERFORMANCE.md"


@formula(r"\frac{2 \cdot (<n> - 1)}{<n>} \cdot <S>", unit="bytes sent per rank", source=RING)
def ring_all_reduce_sent_bytes(S: Number, n: Number) -> Number:
    """Bytes each rank sends in a ring all-reduce.   [bytes]

    S   size of the buffer     [bytes]
    n   ranks in the group     [count]

    n-1 hops of reduce-scatter and n-1 of all-gather, each with one n-th of the buffer: at most 2S however many ranks.

    >>> ring_all_reduce_sent_bytes(1e9, 4)
    1500000000.0
    """
    return 2 * (n - 1) / n * S


@ring_all_reduce_sent_bytes.wrong(
    "grows with the ranks", "Sends the whole buffer to every other rank: a ring sends slices."
)
def sent_to_all(S: Number, n: Number) -> Number:
    return (n - 1) * S


@ring_all_reduce_sent_bytes.wrong(
    "half of an all-reduce", "Counts the reduce-scatter; the all-gather sends as much again."
)
def reduce_scatter_only(S: Number, n: Number) -> Number:
    return (n - 1) / n * S


@formula(r"\frac{<n> - 1}{<n>} \cdot <S>", unit="bytes sent per rank", source=RING)
def ring_all_gather_sent_bytes(S: Number, n: Number) -> Number:
    """Bytes each rank sends in a ring all-gather or reduce-scatter.   [bytes]

    S   size of the whole buffer, gathered or before scattering   [bytes]
    n   ranks in the group                                        [count]

    >>> ring_all_gather_sent_bytes(1e9, 4)
    750000000.0
    """
    return (n - 1) / n * S


@formula(r"\frac{<n> - 1}{<n>} \cdot <S>", unit="bytes sent per rank", source=RING)
def all_to_all_sent_bytes(S: Number, n: Number) -> Number:
    """Bytes each rank sends to the others in an all-to-all.   [bytes]

    S   send buffer of one rank   [bytes]
    n   ranks in the group        [count]

    >>> all_to_all_sent_bytes(1e9, 4)
    750000000.0
    """
    return (n - 1) / n * S


@formula(
    r"2 \cdot (<n> - 1) \cdot <latency_s> + \frac{2 \cdot (<n> - 1)}{<n>} \cdot \frac{<S>}{<bytes_per_s>}",
    unit="s",
    source=RING,
    bytes_per_s="B",
    latency_s=r"\alpha",
)
def ring_all_reduce_s(S: Number, n: Number, bytes_per_s: Number, latency_s: Number) -> Number:
    """Time of a ring all-reduce.   [s]

    S             size of the buffer                   [bytes]
    n             ranks in the group                   [count]
    bytes_per_s   bandwidth of a link, each direction  [bytes/s]
    latency_s     latency of one hop                   [s]

    >>> round(ring_all_reduce_s(14e9, 8, 450e9, 0), 4)
    0.0544

    Breaks down where switches reduce in the network (NVLink SHARP is faster than this bound).
    """
    return 2 * (n - 1) * latency_s + 2 * (n - 1) / n * S / bytes_per_s


@ring_all_reduce_s.wrong("bits taken for bytes", "Reads a link's Gb/s as GB/s: eight times too fast.")
def bits_as_bytes(S: Number, n: Number, bytes_per_s: Number, latency_s: Number) -> Number:
    return ring_all_reduce_s(S, n, 8 * bytes_per_s, latency_s)


@ring_all_reduce_s.wrong(
    "both directions summed", "Uses the headline bandwidth, which adds the two directions of a link."
)
def both_directions(S: Number, n: Number, bytes_per_s: Number, latency_s: Number) -> Number:
    return ring_all_reduce_s(S, n, 2 * bytes_per_s, latency_s)


@formula(r"(<n> - 1) \cdot <a> + \frac{<n> - 1}{<n>} \cdot \frac{<S>}{<B>}", unit="s", source=RING, a=r"\alpha")
def ring_half_s(S: Number, n: Number, B: Number, a: Number) -> Number:
    """Time of a ring all-gather, reduce-scatter or all-to-all.   [s]

    S   size of the whole buffer              [bytes]
    n   ranks in the group                    [count]
    B   bandwidth of a link, each direction   [bytes/s]
    a   latency of one hop                    [s]

    >>> round(ring_half_s(1e9, 8, 50e9, 6e-6), 4)
    0.0175
    """
    return (n - 1) * a + (n - 1) / n * S / B


@formula(
    r"(<N> \cdot (<l> - 1)) \cdot <b> + (<N> - 1) \cdot <a> + \frac{<N> \cdot <l> - 1}{<N> \cdot <l>} \cdot \frac{<S>}{<B>}",
    unit="s",
    source="NCCL src/graph/tuning.cc: of a ring's hops, one less than the nodes go over the network",
    a=r"\alpha",
    b=r"\beta",
)
def flat_ring_s(S: Number, N: Number, l: Number, B: Number, a: Number, b: Number) -> Number:  # noqa: E741
    """Time of a ring all-gather or reduce-scatter over all ranks of a group that spans nodes.   [s]

    S   size of the whole buffer                      [bytes]
    N   nodes of the group                            [count]
    l   ranks of the group in one node                [count]
    B   bandwidth of the narrowest part of the ring   [bytes/s]
    a   latency of a hop between nodes                [s]
    b   latency of a hop inside a node                [s]

    >>> round(flat_ring_s(S=1e9, N=4, l=8, B=324e9, a=6e-6, b=1e-6) * 1e3, 2)
    3.04
    """
    return (N * (l - 1)) * b + (N - 1) * a + (N * l - 1) / (N * l) * S / B


@formula(
    r"(<l> - 1) \cdot <b> + (<N> - 1) \cdot <a> + \frac{<l> - 1}{<l>} \cdot \frac{<S>}{<V>} + \frac{<N> - 1}{<N>} \cdot \frac{<S>}{<l> \cdot <B>}",
    unit="s",
    source="Two levels: every rank gathers its slice over its own rail, then the node shares all slices",
    a=r"\alpha",
    b=r"\beta",
)
def hierarchical_s(S: Number, N: Number, l: Number, V: Number, B: Number, a: Number, b: Number) -> Number:  # noqa: E741
    """Time of an all-gather or reduce-scatter done in two levels: inside each node, and along each rail.   [s]

    S   size of the whole buffer             [bytes]
    N   nodes of the group                   [count]
    l   ranks of the group in one node       [count]
    V   bandwidth inside a node              [bytes/s]
    B   bandwidth of one rank's NIC          [bytes/s]
    a   latency of a hop between nodes       [s]
    b   latency of a hop inside a node       [s]

    Fewer hops than one ring over all ranks, but the two levels follow each other: it pays for small buffers.

    >>> round(hierarchical_s(S=1e9, N=4, l=8, V=324e9, B=42.5e9, a=6e-6, b=1e-6) * 1e3, 2)
    4.93
    """
    return (l - 1) * b + (N - 1) * a + (l - 1) / l * S / V + (N - 1) / N * S / (l * B)


@formula(r"<a> + \frac{<S>}{<B>}", unit="s", source="Latency and bandwidth of one message", a=r"\alpha")
def send_s(S: Number, B: Number, a: Number) -> Number:
    """Time of one point-to-point send.   [s]

    S   message                     [bytes]
    B   bandwidth, each direction   [bytes/s]
    a   latency                     [s]

    >>> round(send_s(16.8e6, 50e9, 15e-6) * 1e3, 3)
    0.351
    """
    return a + S / B


@formula(
    r"\min\left(<w> \cdot <V>, <l> \cdot <e> \cdot <B>\right)",
    unit="bytes/s",
    source="Hierarchical rings: every local rank drives its own NIC, until NVLink is the narrower",
)
def group_bytes_per_s(w: Number, V: Number, l: Number, e: Number, B: Number) -> Number:  # noqa: E741
    """Bandwidth of a ring that leaves the NVLink domain.   [bytes/s]

    w   share of NVLink a gather reaches             [share above 0]
    V   NVLink of a GPU, each direction              [bytes/s]
    l   ranks of the group in one domain             [count]
    e   share of its line rate a NIC reaches         [share above 0]
    B   NIC of a GPU, each direction                 [bytes/s]

    >>> float(group_bytes_per_s(0.72, 450e9, 1, 0.85, 50e9) / 1e9)
    42.5
    """
    return np.minimum(w * V, l * e * B)


@group_bytes_per_s.wrong("one adapter for the node", "Each GPU of the group drives an adapter of its own.")
def one_adapter(w: Number, V: Number, l: Number, e: Number, B: Number) -> Number:  # noqa: E741
    return np.minimum(w * V, e * B) + 0 * l


@group_bytes_per_s.wrong("NVLink's speed across nodes", "The ring leaves the node: its slowest part sets the pace.")
def nvlink_everywhere(w: Number, V: Number, l: Number, e: Number, B: Number) -> Number:  # noqa: E741
    return w * V + 0 * l * e * B


@group_bytes_per_s.wrong("every adapter at its line rate", "No collective reaches what is printed on the adapter.")
def line_rate(w: Number, V: Number, l: Number, e: Number, B: Number) -> Number:  # noqa: E741
    return np.minimum(w * V, l * B) + 0 * e


@formula(r"\frac{3}{2}", unit="times the volume", source="Rajbhandari et al. 2020 (ZeRO), section 7")
def zero3_over_ddp_volume() -> Number:
    """Traffic of ZeRO-3 over that of DDP.   [times]

    DDP moves every parameter twice (reduce-scatter and all-gather of gradients); ZeRO-3 gathers the weights forward
    and again backward, and scatters the gradients: three times.

    >>> zero3_over_ddp_volume()
    1.5

    Breaks down with gradient accumulation, where ZeRO-3 gathers for each micro-batch.
    """
    return 3 / 2


@formula(
    r"\frac{<G> \cdot 10^{9}}{8}",
    unit="bytes/s",
    source="A network adapter is sold in bits, a buffer is counted in bytes",
)
def line_rate_bytes_per_s(G: Number) -> Number:
    """Bandwidth of a network adapter in bytes, each direction.   [bytes/s]

    G   line rate as it is sold   [Gb/s]

    >>> line_rate_bytes_per_s(400) / 1e9
    50.0
    """
    return G * 1e9 / 8


@line_rate_bytes_per_s.wrong("bits taken for bytes", "400 Gb/s are 50 GB/s: eight bits make a byte.")
def bits_read_as_bytes(G: Number) -> Number:
    return G * 1e9


@formula(r"2 \cdot <V>", unit="bytes/s", source="NVIDIA H100 datasheet: NVLink is printed with both directions added")
def summed_bytes_per_s(V: Number) -> Number:
    """Bandwidth as vendors print it: both directions of a link added.   [bytes/s]

    V   bandwidth of the link, each direction   [bytes/s]

    >>> summed_bytes_per_s(450e9) / 1e9
    900.0
    """
    return 2 * V
