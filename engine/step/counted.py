"""Collectives of a stage's layers, counted: times in a layer, layers, micro-batches."""

from dataclasses import replace

from engine.language.formula import Term, number_of
from engine.network.counts import issued_by_both_layers, issued_by_layers, layer_times
from engine.network.issued import Collective, LayerTraffic
from engine.step.chunk import ChunkTime, repeats

Key = tuple[str, str, float, float]
Times = list["Term | float"]  # in a forward and in a backward pass of a layer


def layer_collectives(chunks: list[ChunkTime], runs: Term | float, recompute: str) -> list[Collective]:
    """The collectives that the layers of a stage issue in a step.

    runs   micro-batches that pass each layer

    One that forward and backward passes, or layers without and with experts, issue alike is counted over them all.
    """
    layers: dict[bool, int] = {}
    traffic: dict[bool, LayerTraffic] = {}
    for chunk in chunks:
        for number, moe, issued in chunk.traffic:
            layers[moe] = layers.get(moe, 0) + number
            traffic[moe] = issued  # all layers of a kind issue the same
    rows: dict[Key, tuple[Collective, dict[bool, Times]]] = {}
    for moe, issued in traffic.items():
        for way, collectives in enumerate((issued.forward, issued.backward)):
            for each in collectives:
                key = each.what, each.op, each.payload_bytes, each.exposed_share
                times = rows.setdefault(key, (each, {}))[1].setdefault(moe, [0, 0])
                times[way] = each.times  # a pass names each collective once
    return [
        replace(each, times=_counted(layers, kinds, runs, recompute == "full" and repeats(each), each.what))
        for each, kinds in rows.values()
    ]


def _counted(layers: dict[bool, int], kinds: dict[bool, Times], runs: Term | float, repeated: bool, what: str) -> Term:
    label = f"{what}: times a step"
    each = {
        moe: layer_times.explain("times in a layer", f=there, r=int(repeated and number_of(there) > 0), b=back)
        for moe, (there, back) in kinds.items()
    }
    if len(each) == 2:
        return issued_by_both_layers.explain(
            label, n=layers[False], c=each[False], x=layers[True], k=each[True], m=runs
        )
    ((moe, times),) = each.items()
    return issued_by_layers.explain(label, n=layers[moe], c=times, m=runs)
