"""A change of a layout completed: what else has to move so that the GPUs and the global batch stay as they are."""

from collections.abc import Iterator, Mapping
from math import gcd
from typing import Any

from engine.catalog.model import Model
from engine.language.document import beside, divisors, read
from engine.language.refusal import Refusal, together
from engine.layout.layout import Layout
from engine.layout.meaning import meaning_refusals
from engine.pipeline.schedules import USUAL, schedule_named

PIPED = ("layout.vp", "layout.pp", "layout.schedule", "layout.micro_batches")  # what another order of stages may mend


def completed(layout: Layout, change: Mapping[str, Any], model: Model, gpus: int, sequence_tokens: int) -> Layout:
    """The layout with these fields changed, on the same GPUs and with the same global batch, or a Refusal.

    layout   placed on its GPUs
    change   some of its fields, which are taken as they are

    dp takes what the other degrees leave of the GPUs, micro_batches what it leaves of the batch. What then has no meaning
    any more gives way: a micro-batch too large, chunks that do not divide the layers, a schedule that so few micro-batches
    cannot run, groups and experts that the ranks no longer fill, a rank order that would part experts from their stage.

    >>> from engine.catalog.model import model_named
    >>> whole = Layout(tp=8, pp=4, vp=2, schedule="interleaved").on_gpus(1024)
    >>> one = completed(whole, {"pp": 1}, model_named("llama-3-70b"), 1024, 8192)
    >>> one.dp, one.micro_batches, one.schedule, one.vp, one.global_batch == whole.global_batch
    (128, 4, '1f1b', 1, True)
    """
    dealt = _dealt(layout, change, gpus)
    refused: list[Refusal] = []
    for pipe in _pipes(dealt, change):
        made = read(Layout, _kept_whole({**dealt, **pipe}, change, model), "layout")
        found = meaning_refusals(made, model, gpus, sequence_tokens)
        if any(refusal.field == "layout.rank_order" for refusal in found) and "rank_order" not in change:
            made = made.model_copy(update={"rank_order": pipe_last(made.rank_order)})
            found = meaning_refusals(made, model, gpus, sequence_tokens)
        if not found:
            return made
        refused = refused or found
        if not any(refusal.field in PIPED for refusal in found):
            break
    raise together(refused)


def pipe_last(order: str) -> str:
    """The rank order with pp changing slowest.

    >>> pipe_last("pp-tp-cp-ep-dp")
    'tp-cp-ep-dp-pp'
    """
    return "-".join([axis for axis in order.split("-") if axis != "pp"] + ["pp"])


def _dealt(layout: Layout, change: Mapping[str, Any], gpus: int) -> dict[str, Any]:
    """The fields with GPUs and batch dealt anew."""
    fields = {**layout.model_dump(), **change}
    rest = fields["tp"] * fields["cp"] * fields["pp"]
    if gpus % rest:
        raise Refusal("gpus", gpus, f"must be a multiple of tp x cp x pp = {rest}", code="degrees-do-not-multiply")
    fields["dp"] = gpus // rest
    share, over = divmod(layout.global_batch, fields["dp"])
    if over or not share:
        near = beside(fields["dp"], divisors(layout.global_batch))
        raise Refusal("layout.dp", fields["dp"], f"must divide the global batch of {layout.global_batch}", near)
    if "micro_batch" not in change:
        fields["micro_batch"] = gcd(share, fields["micro_batch"])
    if share % fields["micro_batch"]:
        rule = f"must divide the {share} sequences of a pipeline"
        raise Refusal("layout.micro_batch", fields["micro_batch"], rule, beside(fields["micro_batch"], divisors(share)))
    fields["micro_batches"] = share // fields["micro_batch"]
    return fields


def _pipes(fields: Mapping[str, Any], change: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Schedules and chunks to run the stages with: as they are, then fewer chunks, then the usual schedule."""
    usual = {"schedule": USUAL.name, "vp": 1}
    if fields["pp"] == 1 and not {"schedule", "vp"} & change.keys():
        yield usual
        return
    yield {}
    if "vp" not in change and schedule_named(fields["schedule"]).takes_chunks:
        yield from ({"vp": vp} for vp in range(fields["vp"] - 1, 1, -1))
    if not {"schedule", "vp"} & change.keys():
        yield usual


def _kept_whole(fields: dict[str, Any], change: Mapping[str, Any], model: Model) -> dict[str, Any]:
    """The fields with groups of shards and of experts as wide as the ranks allow."""
    ranks = fields["dp"] * fields["cp"]
    if "hsdp_shard" not in change and fields["hsdp_shard"]:
        fields["hsdp_shard"] = gcd(fields["hsdp_shard"], ranks) if fields["zero"] == 3 else None
    if "ep" not in change:
        fields["ep"] = gcd(fields["ep"], model.experts, ranks * fields["tp"]) if model.experts else fields["ep"]
    return fields
