"""What an operation waits for, and the sentence for an order that waits for ever."""

from collections.abc import Mapping, Sequence

from engine.language.refusal import Refusal
from engine.pipeline.schedules.base import Op
from engine.pipeline.schedules.placement import ChunkPlacement

WORDS = {"F": "the forward", "B": "the backward", "I": "the input gradient", "W": "the weight gradient"}
Orders = Sequence[Sequence[Op]]


def op_text(op: Op) -> str:
    """An operation in words.

    >>> op_text(Op("I", 3, 1))
    'the input gradient of micro-batch 3 (chunk 1)'
    """
    return f"{WORDS[op.kind]} of micro-batch {op.micro_batch}" + (f" (chunk {op.chunk})" if op.chunk else "")


class Stuck(Refusal):
    """An order that cannot go on: `stage` wants to run `op` and needs `missing` first, which is up to stage `owner`."""

    def __init__(self, stage: int, op: Op, missing: Op, owner: int, why: str):
        self.stage, self.op, self.missing, self.owner = stage, op, missing, owner
        whose = "itself" if owner == stage else f"on stage {owner}"
        rule = f"stage {stage} cannot run {op_text(op)}: it needs {op_text(missing)} {whose} first, {why}"
        super().__init__("ops", None, rule, code="stuck")


def dependency(orders: Orders, placement: ChunkPlacement, stage: int, op: Op) -> tuple[int, Op]:
    """The stage and the operation that this one waits for.

    F waits for F of the place before; B and I for B or I of the place after, and at the last place for their own F;
    W for its own I. The very first forward waits for nothing and must not be asked about.
    """
    place = placement.places[stage][op.chunk]
    if op.kind == "W":
        return stage, Op("I", op.micro_batch, op.chunk)
    other = placement.before(place) if op.kind == "F" else placement.after(place)
    if other is None:
        return stage, Op("F", op.micro_batch, op.chunk)
    owner, chunk = placement.holders[other]
    kinds = "F" if op.kind == "F" else op.kind + "BI".replace(op.kind, "")
    listed = {known[:3] for known in orders[owner]}
    kind = next((kind for kind in kinds if (kind, op.micro_batch, chunk) in listed), kinds[0])
    return owner, Op(kind, op.micro_batch, chunk)


def stuck(orders: Orders, placement: ChunkPlacement, left: Mapping[int, int]) -> Stuck:
    """The wait that holds up the others: what it needs is in no order, or is behind it in its own, if there is such.

    left   stage -> place in its order where it stands
    """
    waits = []
    for stage, n in left.items():
        asked = [orders[stage][n], *([orders[stage][n + 1]] if orders[stage][n].joined else [])]
        for op in asked:
            if op.kind == "F" and placement.places[stage][op.chunk].position == 0:
                continue
            owner, missing = dependency(orders, placement, stage, op)
            done = orders[owner][: left.get(owner, len(orders[owner]))]
            if any(known[:3] == missing[:3] for known in done):
                continue
            if not any(known[:3] == missing[:3] for known in orders[owner]):
                waits.append((0, Stuck(stage, op, missing, owner, "and no order has that")))
            elif owner == stage:
                waits.append((1, Stuck(stage, op, missing, owner, "and that comes later in its order")))
            else:
                waits.append((2, Stuck(stage, op, missing, owner, "and that waits in turn")))
    return min(waits, key=lambda wait: wait[0])[1]
