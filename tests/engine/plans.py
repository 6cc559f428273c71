"""Plans drawn by chance from a seed, and the plans one step away from one, found without the engine's own advice."""

import random
from collections.abc import Iterator
from typing import Any

from engine.catalog.hardware import cluster_named
from engine.estimate import Estimate
from engine.language.refusal import Refusal
from engine.pipeline.schedules import SCHEDULES
from engine.scenario import scenario_from

MODELS = ("llama-3-8b", "llama-3-70b", "llama-3-405b", "llama-2-70b", "gpt3-175b", "mixtral-8x7b", "mixtral-8x22b",
          "deepseek-v3", "qwen3-30b-a3b")  # fmt: skip
CLUSTERS = ("hgx-h100", "hgx-a100-80gb", "hgx-h200", "hgx-b200", "gb200-nvl72")
ORDERS = ("tp-cp-ep-dp-pp", "tp-cp-ep-dp-pp", "tp-cp-ep-pp-dp", "dp-tp-cp-ep-pp")
Plan = dict[str, Any]


def plans(count: int, seed: int) -> list[Plan]:
    """So many legal scenario documents, always the same for a seed."""
    chance, found = random.Random(seed), []
    while len(found) < count:
        plan = _drawn(chance)
        try:
            scenario_from(plan)
        except Refusal:
            continue
        found.append(plan)
    return found


def _drawn(chance: random.Random) -> Plan:
    cluster, model = chance.choice(CLUSTERS), chance.choice(MODELS)
    node = cluster_named(cluster).gpus_per_node
    plan: Plan = {
        "model": model,
        "cluster": cluster,
        "gpus": node * 2 ** chance.randrange(9),
        "sequence_tokens": chance.choice([2048, 4096, 8192, 32768]),
        "precision": chance.choice(["bf16", "bf16", "fp8" if node == 8 and "a100" not in cluster else "bf16"]),
        "layout": _layout(chance),
    }
    if chance.random() < 0.3:
        plan["stack"] = chance.choice(["megatron", "fsdp2", "fsdp2-compiled"])
    if chance.random() < 0.3:
        layout = plan["layout"]
        layout["dp"] = max(1, plan["gpus"] // (layout["tp"] * layout["cp"] * layout["pp"]))
    return plan


def _layout(chance: random.Random) -> dict[str, Any]:
    layout: dict[str, Any] = {
        "tp": chance.choice([1, 2, 4, 8, 16]),
        "pp": chance.choice([1, 1, 2, 4, 6, 8, 16]),
        "cp": chance.choice([1, 1, 1, 2, 4]),
        "ep": chance.choice([1, 1, 2, 4, 8, 16]),
        "zero": chance.randrange(4),
        "micro_batch": chance.choice([1, 1, 2, 4]),
        "micro_batches": chance.choice([1, 2, 4, 8, 16, 32, 64]),
        "recompute": chance.choice(["none", "none", "selective", "full"]),
        "sequence_parallel": chance.choice([True, True, False]),
        "rank_order": chance.choice(ORDERS),
    }
    if layout["pp"] > 1:
        layout["schedule"] = chance.choice(list(SCHEDULES))
        layout["vp"] = chance.choice([2, 4]) if SCHEDULES[layout["schedule"]].takes_chunks else 1
    if layout["zero"] == 3 and chance.random() < 0.3:
        layout["hsdp_shard"] = chance.choice([8, 16, 32])
    return layout


def batch_of(plan: Plan) -> tuple[int, int]:
    """GPUs and global batch of a document."""
    scenario = scenario_from(plan)
    return scenario.gpus, scenario.layout.global_batch


def one_step_away(plan: Plan) -> Iterator[Estimate]:
    """Every legal plan with one degree halved or doubled, or one switch turned: dp and the micro-batches take the rest."""
    scenario = scenario_from(plan)
    layout = scenario.layout
    for change in _steps(layout.model_dump()):
        new = {**layout.model_dump(), **change}
        copies, over = divmod(scenario.gpus, new["tp"] * new["cp"] * new["pp"])
        batches, left = divmod(layout.global_batch, max(1, copies) * new["micro_batch"])
        if over or left or not copies or not batches:
            continue
        moved = {**plan, "stack": scenario.stack_name, "layout": {**new, "dp": copies, "micro_batches": batches}}
        try:
            yield Estimate(scenario_from(moved))
        except Refusal:
            continue


def _steps(layout: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for name in ("tp", "pp", "cp", "ep", "vp", "micro_batch"):
        yield {name: 2 * layout[name]}
        if layout[name] % 2 == 0:
            yield {name: layout[name] // 2}
    yield {"schedule": "interleaved", "vp": 2}
    yield from ({"schedule": name, "vp": 1} for name in SCHEDULES if name != layout["schedule"])
    yield from ({"zero": zero} for zero in range(4) if zero != layout["zero"])
    yield from ({"recompute": how} for how in ("none", "selective", "full") if how != layout["recompute"])
    yield {"sequence_parallel": not layout["sequence_parallel"]}


def is_better(before: Estimate, after: Estimate) -> bool:
    """Whether a plan would be worth offering instead of another, by the promise and not by the code that keeps it."""
    if not after.fits or not before.fits:
        return after.fits
    slower = after.step.seconds.value / before.step.seconds.value
    smaller = after.fullest.total.value / before.fullest.total.value
    return slower <= 0.98 or (smaller <= 0.9 and slower <= 1.02)
