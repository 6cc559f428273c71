"""How torchtitan cuts a layout: replicas of shards, degrees, a schedule, and the layers of each chunk."""

import math
from typing import Any

from engine.layout.layout import Layout
from engine.layout.stages import split_layers
from engine.pipeline.schedules import Schedule, nearest_that
from engine.scenario import Scenario

ORDER = "tp-cp-ep-dp-pp"
ENDS = ((0, 0), (1, 1), (1, 0), (0, 1))  # layers that the first and the last stage hold fewer


def sharding(layout: Layout) -> dict[str, Any]:
    """Data-parallel ranks as replicas of shards. Context-parallel ranks always shard as well."""
    dp, width = layout.data_width, layout.data_width * layout.cp
    if layout.zero == 0 and only_replicas(layout):
        return {"data_parallel_replicate_degree": dp, "data_parallel_shard_degree": 1}
    shard = layout.shard_width // layout.cp if layout.hsdp_shard and groups_fit(layout) else dp
    policy = "always" if layout.zero == 3 else "never"
    kept = {"fsdp_reshard_after_forward": policy} if width > 1 else {}
    return {"data_parallel_replicate_degree": dp // shard, "data_parallel_shard_degree": shard, **kept}


def only_replicas(layout: Layout) -> bool:
    """DDP, which torchtitan combines with no other axis."""
    return layout.tp * layout.cp * layout.pp == 1


def groups_fit(layout: Layout) -> bool:
    """Whether HSDP groups are made of whole context-parallel groups, and shard at all."""
    return layout.shard_width % layout.cp == 0 and layout.shard_width > 1


def degrees(layout: Layout) -> dict[str, int]:
    """The axes that cut products, sequences and experts."""
    found = {"tensor_parallel_degree": layout.tp, "context_parallel_degree": layout.cp}
    if layout.ep > 1:
        found |= {"expert_parallel_degree": layout.ep, "expert_tensor_parallel_degree": layout.expert_tp}
    return found


def schedule_here(layout: Layout) -> Schedule:
    """The schedule that torchtitan runs: the layout's, or the nearest it has.

    >>> schedule_here(Layout(schedule="zb-h1")).torch_name
    '1F1B'
    """
    return nearest_that(lambda schedule: schedule.torch_name, layout.runs)


def pipeline(scenario: Scenario) -> dict[str, Any]:
    """The schedule, and how layers are dealt to it."""
    layout, layers = scenario.layout, scenario.model.layers
    here, (first, last), chunks = schedule_here(layout), ends_of(layout, layers), chunks_of(layout)
    found: dict[str, Any] = {
        "pipeline_parallel_degree": layout.pp,
        "pipeline_parallel_schedule": here.torch_name,
        "pipeline_parallel_microbatch_size": layout.micro_batch,
        "pipeline_parallel_first_stage_less_layers": first,
        "pipeline_parallel_last_stage_less_layers": last,
    }
    if here.takes_chunks:
        found["pipeline_parallel_layers_per_stage"] = math.ceil((layers + first + last) / chunks)
    return found


def chunks_of(layout: Layout) -> int:
    """Places of the pipe at which torchtitan cuts the model."""
    return layout.pp * schedule_here(layout).chunks_used(layout.vp)


def ends_of(layout: Layout, layers: int) -> tuple[int, int]:
    """Layers that the ends hold fewer so that torchtitan deals layers as this board does; evenly where it cannot."""
    chunks = chunks_of(layout)
    return next((ends for ends in ENDS if dealt(layers, chunks, *ends) == split_layers(layers, chunks)), (0, 0))


def dealt(layers: int, chunks: int, first: int, last: int) -> list[int]:
    """Layers of each chunk as torchtitan deals them: the ends count as layers, and the remainder goes to the front.
    None at all where it refuses: every chunk must hold something."""
    if chunks == 1:
        return [layers]
    each, rest = divmod(layers + first + last, chunks)
    if each < max(first, last, 1):
        return []
    sizes = [each + (place < rest) for place in range(chunks)]
    return [sizes[0] - first, *sizes[1:-1], sizes[-1] - last]
