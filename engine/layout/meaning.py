"""What has no meaning is refused: degrees that do not multiply, heads that do not divide, schedules that cannot run.

What has a meaning but is unwise is a finding: see checks.py.
"""

from math import gcd, lcm

from engine.catalog.model import Model
from engine.language.document import beside, divisors, whole
from engine.language.refusal import Refusal
from engine.layout.layout import Layout
from engine.pipeline.schedules import schedule_named

MOST_CHUNKS = 256  # no published run has more than 128; beyond, an exact timeline takes seconds


def meaning_refusals(layout: Layout, model: Model, gpus: int, sequence_tokens: int) -> list[Refusal]:
    """What has no meaning about this layout of this model on so many GPUs."""
    heads, degrees = _tensor_refusals(layout, model), _degree_refusals(layout, gpus)
    if degrees:  # what follows needs to know the data-parallel width
        return [*heads, *degrees]
    return [
        *heads,
        *_sequence_refusals(layout, sequence_tokens),
        *_expert_refusals(layout, model),
        *_pipeline_refusals(layout, model),
        *_sharding_refusals(layout),
    ]


def _degree_refusals(layout: Layout, gpus: int) -> list[Refusal]:
    rest = layout.tp * layout.cp * layout.pp
    product = f"tp {layout.tp} x cp {layout.cp} x pp {layout.pp}"
    if layout.dp is None:
        near = f"gpus {max(1, gpus // rest) * rest}"
        return [Refusal("gpus", gpus, f"must be a multiple of {product} = {rest}", near, "degrees-do-not-multiply")]
    if rest * layout.dp == gpus:
        return []
    near = f"dp {gpus // rest}" if gpus % rest == 0 else f"gpus {rest * layout.dp}"
    rule = f"{product} x dp {layout.dp} is {rest * layout.dp}, not the {gpus} GPUs"
    return [Refusal("layout.dp", layout.dp, rule, near, "degrees-do-not-multiply")]


def _tensor_refusals(layout: Layout, model: Model) -> list[Refusal]:
    rule = tensor_rule(layout.tp, model)
    if rule is None:
        return []
    works = [tp for tp in divisors(model.heads) if tensor_rule(tp, model) is None]
    return [Refusal("layout.tp", layout.tp, rule, beside(layout.tp, works), "does-not-divide")]


def tensor_rule(tp: int, model: Model) -> str | None:
    """The rule that this degree of tensor parallelism breaks; none where it may stand."""
    if model.heads % tp:
        return f"tp must divide the {model.heads} attention heads"
    if max(tp, model.kv_heads) % min(tp, model.kv_heads) and not model.latent:
        return f"tp must divide the {model.kv_heads} KV heads or be a multiple of them"
    if model.ffn % tp and not model.experts:
        return f"tp must divide the MLP's inner size {model.ffn}"
    return None


def _sequence_refusals(layout: Layout, sequence_tokens: int) -> list[Refusal]:
    cp, pieces = layout.cp, layout.cp * layout.sp
    if cp > 1 and sequence_tokens % (2 * cp):
        return [
            Refusal(
                "layout.cp",
                cp,
                f"each rank takes an early and a late piece, so 2 x cp must divide the sequence of "
                f"{sequence_tokens} tokens",
                _half(cp, sequence_tokens),
                "does-not-divide",
            )
        ]
    if sequence_tokens % pieces:
        pieces = lcm(pieces, 2 * cp if cp > 1 else 1)
        near = f"sequence_tokens {max(1, round(sequence_tokens / pieces)) * pieces}"
        return [
            Refusal(
                "sequence_tokens",
                sequence_tokens,
                f"cp {cp} x tp {layout.sp} must divide the sequence (sequence parallelism cuts it)",
                near,
                "does-not-divide",
            )
        ]
    return []


def _half(cp: int, tokens: int) -> str:
    return whole(cp, divides=tokens // 2) if tokens % 2 == 0 else "1"


def _expert_refusals(layout: Layout, model: Model) -> list[Refusal]:
    if not model.experts:
        return [] if layout.ep == 1 else [Refusal("layout.ep", layout.ep, "the model has no experts to spread", "1")]
    ranks = layout.data_width * layout.cp * layout.tp
    rule = f"ep must divide the {model.experts} experts and the {ranks} GPUs of a stage (dp x cp x tp)"
    if (both := gcd(model.experts, ranks)) % layout.ep:
        return [_indivisible("layout.ep", layout.ep, rule, both)]
    if layout.pp == 1 or layout.expert_grid.stride("pp") == layout.dense_grid.stride("pp"):
        return []
    # Megatron-LM asserts a little more (core/parallel_state.py): that pp is last, or both widths are the same
    outermost = "-".join([axis for axis in layout.rank_order.split("-") if axis != "pp"] + ["pp"])
    return [
        Refusal(
            "layout.rank_order",
            layout.rank_order,
            "pp must come last where experts have another data-parallel width "
            "than the rest, or a rank's experts would belong to another stage",
            outermost,
            "rank-order",
        )
    ]


def _pipeline_refusals(layout: Layout, model: Model) -> list[Refusal]:
    schedule, pp, vp = schedule_named(layout.schedule), layout.pp, layout.vp
    if vp > 1 and not schedule.takes_chunks:
        return [
            Refusal(
                "layout.vp",
                vp,
                f"{schedule.title} takes one chunk per stage; more need the interleaved schedule",
                "1",
                "interleave-illegal",
            )
        ]
    if model.layers < pp != model.layers + 2:
        near = max(p for p in divisors(pp) if p <= model.layers)
        return [
            Refusal("layout.pp", pp, f"{model.layers} layers cannot fill {pp} stages", str(near), "does-not-divide")
        ]
    if rule := _chunk_rule(pp, vp, model.layers):
        works = [v for v in range(1, MOST_CHUNKS // pp + 1) if _chunk_rule(pp, v, model.layers) is None]
        return [Refusal("layout.vp", vp, rule, beside(vp, works) or None, "interleave-illegal")]
    try:
        schedule.check(layout.pp, layout.micro_batches, layout.vp)
    except Refusal as refusal:
        return [refusal]
    return []


def _chunk_rule(pp: int, vp: int, layers: int) -> str | None:
    """The rule that so many chunks break. One a stage may be uneven; more may leave one layer short at each end."""
    chunks = pp * vp
    if chunks > MOST_CHUNKS:
        return f"pp x vp is {chunks}; more than {MOST_CHUNKS} chunks are not simulated"
    if vp > 1 and layers % chunks and (layers + 2) % chunks:
        return f"pp x vp = {chunks} must divide the {layers} layers (or leave one short at each end)"
    return None


def _sharding_refusals(layout: Layout) -> list[Refusal]:
    if layout.hsdp_shard is None:
        return []
    if layout.zero != 3:
        return [
            Refusal(
                "layout.hsdp_shard",
                layout.hsdp_shard,
                "only FSDP (zero 3) shards inside groups and replicates across: choose that, or no groups",
            )
        ]
    width = layout.data_width * layout.cp
    if width % layout.hsdp_shard:
        return [_indivisible("layout.hsdp_shard", layout.hsdp_shard, f"must divide dp x cp = {width}", width)]
    return []


def _indivisible(field: str, given: int, rule: str, number: int) -> Refusal:
    return Refusal(field, given, rule, whole(given, divides=number), "does-not-divide")
