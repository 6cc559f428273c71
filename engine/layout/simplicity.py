"""How many moving parts a layout has: what a team must set up, tune and debug beyond plain data parallelism."""

from engine.layout.layout import Layout
from engine.pipeline.schedules import schedule_named


def moving_parts(layout: Layout) -> tuple[str, ...]:
    """What a layout adds to data parallelism, in words. Fewer is simpler.

    Each axis but dp is a part; so are a schedule that must be tuned, chunks, sharding beyond the optimizer state, groups of
    shards, recomputation, and a rank order that is not the usual one.

    >>> moving_parts(Layout(tp=8, pp=4, vp=2, schedule="interleaved"))
    ('TP', 'PP', 'interleaving', 'ZeRO-1')
    >>> moving_parts(Layout(tp=8, pp=1, zero=3, hsdp_shard=32))
    ('TP', 'FSDP', 'HSDP groups')
    """
    parts = [axis.upper() for axis in ("tp", "cp", "ep", "pp") if getattr(layout, axis) > 1]
    schedule = schedule_named(layout.schedule)
    if layout.pp > 1 and not schedule.simple:
        parts.append("interleaving" if schedule.takes_chunks else schedule.title)
    if layout.zero:
        parts.append("FSDP" if layout.zero == 3 else f"ZeRO-{layout.zero}")
    if layout.hsdp_shard:
        parts.append("HSDP groups")
    if layout.recompute != "none":
        parts.append(f"{layout.recompute} recompute")
    if layout.rank_order != Layout.model_fields["rank_order"].default:
        parts.append("a rank order of its own")
    return tuple(parts)


def layout_name(layout: Layout) -> str:
    """A layout as it is written on a board.

    >>> layout_name(Layout(tp=8, pp=4, dp=32, vp=2, schedule="interleaved"))
    'TP 8 × PP 4 × DP 32, ZeRO-1, v 2'
    """
    degrees = [
        f"{axis.upper()} {getattr(layout, axis)}" for axis in ("tp", "cp", "ep", "pp") if getattr(layout, axis) > 1
    ]
    sharding = {0: "DDP", 3: f"HSDP over {layout.hsdp_shard}" if layout.hsdp_shard else "FSDP"}
    how = sharding.get(layout.zero, f"ZeRO-{layout.zero}")
    chunks = f", v {layout.vp}" if layout.vp > 1 else ""
    return f"{' × '.join([*degrees, f'DP {layout.data_width}'])}, {how}{chunks}"
