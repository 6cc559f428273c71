"""Parameters that one GPU holds before ZeRO shards them: of a stage, of one layer, of an end of the model."""

import numpy as np

from engine.catalog.model import Model
from engine.language.formula import Number, Term, formula
from engine.layout.layout import Layout
from engine.layout.stages import Chunk
from engine.memory.parameters import count


@formula(
    r"\frac{<n> \cdot <l> + <m> \cdot <r> + <e>}{<t>}",
    unit="parameters",
    source="Megatron-LM: tensor parallelism cuts every matrix; "
    "the first stage also holds the embedding, the last the head",
)
def stage_parameters(n: Number, l: Number, m: Number, r: Number, e: Number, t: Number) -> Number:  # noqa: E741
    """Parameters per GPU of a stage, without routed experts.   [parameters]

    n   dense layers                                     [count or none]
    l   parameters of a dense layer                      [parameters]
    m   layers with experts                              [count or none]
    r   parameters of such a layer without its experts   [parameters]
    e   embedding or head, where the stage holds one     [parameters]
    t   tensor-parallel degree                           [count]

    >>> round(stage_parameters(20, 855.65e6, 0, 0, 1050.7e6, 8) / 1e9, 2)
    2.27
    """
    return (n * l + m * r + e) / t


@formula(
    r"\frac{<m> \cdot <E> \cdot <x>}{<e> \cdot <t>}",
    unit="parameters",
    source="Experts are dealt over expert-parallel ranks",
)
def stage_expert_parameters(m: Number, E: Number, x: Number, e: Number, t: Number) -> Number:
    """Parameters per GPU of a stage's routed experts.   [parameters]

    m   layers with experts            [count or none]
    E   experts of a layer             [count or none]
    x   parameters of one expert       [parameters]
    e   expert-parallel degree         [count]
    t   tensor-parallel degree inside an expert   [count]

    >>> stage_expert_parameters(4, 256, 44e6, 64, 1) / 1e6
    704.0
    """
    return m * E * x / (e * t)


@formula(
    r"<o> + <x>", unit="parameters", source="Parameters of a stage after tensor and expert parallelism, before sharding"
)
def gpu_parameters(o: Number, x: Number) -> Number:
    """Parameters one GPU works with, of a stage or of a layer.   [parameters]

    o   all but routed experts   [parameters]
    x   routed experts           [parameters]

    >>> gpu_parameters(2e9, 7e8)
    2700000000.0
    """
    return o + x


@formula(
    r"\frac{\max(<e>, <h>)}{<t>}",
    unit="parameters",
    source="Zhao et al. 2023 (PyTorch FSDP): embedding and head are units of their own",
)
def end_parameters(e: Number, h: Number, t: Number) -> Number:
    """Parameters per GPU of the larger end of the model that a stage holds.   [parameters]

    e   input embedding, where the stage holds it   [parameters]
    h   output head, where the stage holds it       [parameters]
    t   tensor-parallel degree                      [count]

    >>> float(end_parameters(1050.7e6, 0, 8)) / 1e6
    131.3375
    """
    return np.maximum(e, h) / t


@formula(
    r"\frac{\max(<d>, <r>)}{<t>} + \frac{<E> \cdot <x>}{<e> \cdot <u>}",
    unit="parameters",
    source="Tensor parallelism cuts every matrix, experts are dealt over expert-parallel ranks",
)
def largest_layer_parameters(d: Number, r: Number, t: Number, E: Number, x: Number, e: Number, u: Number) -> Number:
    """Parameters per GPU of the largest layer of a stage.   [parameters]

    d   of a dense layer, where the stage holds some                           [parameters]
    r   of a layer with experts, without its routed experts, where it does     [parameters]
    t   tensor-parallel degree                                                 [count]
    E   routed experts of a layer, where it does                               [count or none]
    x   parameters of one expert                                               [parameters]
    e   expert-parallel degree                                                 [count]
    u   tensor-parallel degree inside an expert                                [count]

    >>> float(largest_layer_parameters(855.65e6, 0, 8, 0, 0, 1, 8)) / 1e6
    106.95625
    """
    return np.maximum(d, r) / t + E * x / (e * u)


@formula(
    r"\frac{<P>}{<D>} + \frac{<E>}{<X>}",
    unit="parameters",
    source="Rajbhandari et al. 2020 (ZeRO), section 5: each rank steps its shard; experts have fewer copies",
)
def sharded_parameters(P: Number, D: Number, E: Number, X: Number) -> Number:
    """Parameters whose optimizer state one GPU holds.   [parameters]

    P   parameters of this GPU before sharding, experts left out   [parameters]
    D   ranks their state is sharded over, 1 if it is not          [count]
    E   routed expert parameters of this GPU                       [parameters]
    X   ranks the experts' is sharded over                         [count]

    >>> sharded_parameters(2.272e9, 32, 0, 32) / 1e6
    71.0
    """
    return P / D + E / X


@formula(
    r"\frac{<P> + <E>}{<D>}",
    unit="parameters",
    source="Zhao et al. 2023 (PyTorch FSDP): weights are sharded as their optimizer state is; elsewhere they are whole",
)
def local_parameters(P: Number, E: Number, D: Number) -> Number:
    """Parameters whose weights one GPU keeps between steps.   [parameters]

    P   parameters of this GPU before sharding, experts left out   [parameters]
    E   routed expert parameters of this GPU                       [parameters]
    D   ranks the weights are sharded over, 1 if they are whole    [count]

    >>> local_parameters(2e9, 7e8, 1)
    2700000000.0
    """
    return (P + E) / D


def stage_parameter_terms(model: Model, layout: Layout, chunk: Chunk) -> tuple[Term, Term]:
    """Parameters per GPU: all but routed experts, and those."""
    parts = count(model)
    ends = parts.embedding * chunk.embedding + (parts.head + parts.final_norm) * chunk.head
    if parts.head == 0 and chunk.head and not chunk.embedding:
        ends += parts.embedding  # tied, but at the other end of the pipe: a second copy
    own = stage_parameters.explain(
        "parameters per GPU", n=chunk.dense, l=parts.dense_layer, m=chunk.moe, r=parts.moe_rest, e=ends, t=layout.tp
    )
    experts = stage_expert_parameters.explain(
        "expert parameters per GPU", m=chunk.moe, E=model.experts, x=parts.expert, e=layout.ep, t=layout.expert_tp
    )
    return own, experts


def layer_parameter_terms(model: Model, layout: Layout, moe: bool) -> tuple[Term, Term]:
    """The same of a single layer."""
    return stage_parameter_terms(model, layout, Chunk(int(not moe), int(moe), embedding=False, head=False))


def largest_layer_term(model: Model, layout: Layout, chunk: Chunk) -> Term:
    """Parameters per GPU of the largest layer of a stage, its routed experts included."""
    parts, moe = count(model), chunk.moe > 0
    return largest_layer_parameters.explain(
        "the largest layer, per GPU",
        d=parts.dense_layer if chunk.dense else 0.0,
        r=parts.moe_rest if moe else 0.0,
        t=layout.tp,
        E=model.experts if moe else 0,
        x=parts.expert,
        e=layout.ep,
        u=layout.expert_tp,
    )


def stage_end_term(model: Model, layout: Layout, chunk: Chunk) -> Term:
    """Parameters per GPU of the embedding or the head, whichever a stage holds; of the larger if it holds both."""
    parts = count(model)
    return end_parameters.explain(
        "embedding or head, per GPU",
        e=parts.embedding * chunk.embedding,
        h=(parts.head or parts.embedding) * chunk.head,
        t=layout.tp,
    )
