"""How often a step issues a collective: times in a layer, layers of the stage, micro-batches."""

from engine.language.formula import Number, formula


@formula(r"<k> \cdot (<c> - 1)", unit="hops", source="Liu et al. 2023 (Ring Attention), section 3")
def ring_hops(k: Number, c: Number) -> Number:
    """Times that keys and values are passed on in one pass of a layer, until every rank has seen them all.   [hops]

    k   rounds: 1 forward; 2 backward, where gradients travel too   [count]
    c   context-parallel degree                                     [count]

    >>> ring_hops(1, 8), ring_hops(2, 8)
    (7, 14)
    """
    return k * (c - 1)


@formula(
    r"<f> \cdot (1 + <r>) + <b>",
    unit="times",
    source="Forward, once more where full recomputation runs the layer again, and backward",
)
def layer_times(f: Number, r: Number, b: Number) -> Number:
    """How often one layer issues a collective for one micro-batch.   [times]

    f   in a forward pass                                         [count or none]
    r   1 where the backward pass repeats it in recomputation     [yes or no]
    b   in a backward pass                                        [count or none]

    >>> layer_times(2, 0, 2), layer_times(2, 1, 2)
    (4, 6)
    """
    return f * (1 + r) + b


@formula(r"<n> \cdot <c> \cdot <m>", unit="times a step", source="Counted over the layers of the busiest stage")
def issued_by_layers(n: Number, c: Number, m: Number) -> Number:
    """How often a step issues a collective of the layers.   [times a step]

    n   layers of the stage that issue it                         [count]
    c   how often one of them does for one micro-batch            [times]
    m   micro-batches that pass each layer                        [count]

    >>> issued_by_layers(20, 4, 16)
    1280
    """
    return n * c * m


@formula(
    r"(<n> \cdot <c> + <x> \cdot <k>) \cdot <m>",
    unit="times a step",
    source="Counted over the layers of the busiest stage, those without experts and those with",
)
def issued_by_both_layers(n: Number, c: Number, x: Number, k: Number, m: Number) -> Number:
    """How often a step issues a collective of layers without and with experts.   [times a step]

    n   layers of the stage without experts                       [count]
    c   how often one of them issues it for one micro-batch       [times]
    x   layers of the stage with experts                          [count]
    k   how often one of them issues it for one micro-batch       [times]
    m   micro-batches that pass each layer                        [count]

    >>> issued_by_both_layers(3, 4, 12, 4, 16)
    960
    """
    return (n * c + x * k) * m


@formula(r"<c> \cdot <m>", unit="times a step", source="Counted over the micro-batches of the busiest stage")
def issued_count(c: Number, m: Number) -> Number:
    """How often a step issues a collective that stands outside the layers.   [times a step]

    c   how often at a time                                             [count or none]
    m   the micro-batches, where each one issues it; 1 if it comes once a step   [count]

    >>> issued_count(1, 16), issued_count(1, 1)
    (16, 1)
    """
    return c * m


@formula(
    r"2 \cdot <v> \cdot <m>",
    unit="times a step",
    source="Narayanan et al. 2021, section 2.2: each chunk passes activations on, and gradients back",
)
def issued_sends(v: Number, m: Number) -> Number:
    """Sends between stages of a stage with two neighbours.   [times a step]

    v   chunks of the stage that a micro-batch passes     [count]
    m   micro-batches of the step                         [count]

    >>> issued_sends(1, 16)
    32
    """
    return 2 * v * m


@formula(r"\frac{<m>}{<p>}", unit="micro-batches", source="Two directions share a step's micro-batches")
def pipe_micro_batches(m: Number, p: Number) -> Number:
    """Micro-batches that enter one of a schedule's pipes.   [micro-batches]

    m   micro-batches of the step                                    [count]
    p   pipes: 2 where micro-batches enter from both ends, else 1    [count]

    >>> pipe_micro_batches(120, 2)
    60.0
    """
    return m / p
