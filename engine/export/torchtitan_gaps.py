"""What torchtitan's TOML cannot say about a scenario."""

from collections.abc import Iterator

from engine.catalog.model import Model
from engine.export.base import gap
from engine.export.flavors import WITHOUT_STAGES, flavor_of
from engine.export.launch import by_hand, launch_gaps
from engine.export.model_facts import FACTS, model_gaps, unknown_gaps
from engine.export.named import shape_words, title_of
from engine.export.run_length import length_gaps
from engine.export.torchtitan_layout import (
    ORDER,
    chunks_of,
    dealt,
    ends_of,
    groups_fit,
    only_replicas,
    schedule_here,
    sharding,
)
from engine.layout.layout import Layout
from engine.layout.stages import split_layers
from engine.scenario import Scenario

CONVERTERS = {"fp8": "quantize.linear.float8", "mxfp8": "quantize.linear.mx"}
STAND_INS = (
    "model.hf_assets_path: it must name your folder with the tokenizer; training.dataset, the [optimizer] and the [checkpoint] are "
    "yours to add.",
    "torchtitan 0.3 and later read no TOML: give the same settings there as --parallelism.… and --training.… on the command line, "
    "beside --module and --config.",
)


def left_out(scenario: Scenario) -> Iterator[str]:
    """A sentence for each option that the TOML does not hold, then for what the reader must fill in."""
    layout = scenario.layout
    yield from _model_gaps(scenario)
    yield from _sharding_gaps(layout)
    yield from _schedule_gaps(layout)
    yield from _dealing_gaps(scenario)
    yield from _expert_gaps(layout)
    if not layout.sequence_parallel:
        yield gap(
            "layout.sequence_parallel", False, "torchtitan's tensor parallelism always cuts the norms' tokens too"
        )
    if layout.rank_order != ORDER:
        yield gap("layout.rank_order", layout.rank_order, f"torchtitan's ranks are always dealt as {ORDER}")
    if layout.gradient_bytes == 2:
        yield gap("layout.gradient_bytes", 2, "torchtitan keeps and reduces gradients in FP32")
    if layout.recompute == "selective":
        yield (
            "layout.recompute = selective: torchtitan keeps attention and every other matrix product and computes the rest again; "
            "this board's selective computes attention again."
        )
    if scenario.precision not in ("bf16", *CONVERTERS):
        lacks = "loss scaling" if scenario.precision == "fp16" else "such products"
        yield gap("precision", scenario.precision, f"torchtitan has no {lacks}, so it computes in BF16")
    if scenario.precision in CONVERTERS:
        yield f"model.converters: {CONVERTERS[scenario.precision]} needs torchao beside torchtitan, and torch.compile to be fast."
    if scenario.stack_name not in ("fsdp2", "fsdp2-compiled"):
        yield gap("stack", scenario.stack_name, "torchtitan is PyTorch's own FSDP2; its steps take another time")
    yield from length_gaps(scenario)
    yield from launch_gaps(scenario)
    yield from unknown_gaps(scenario.model)
    yield from STAND_INS
    yield by_hand(scenario)


def _schedule_gaps(layout: Layout) -> Iterator[str]:
    here = schedule_here(layout)
    if here != layout.runs:
        yield gap("layout.schedule", layout.schedule, f"torchtitan has no such schedule, so it runs {here.torch_name}")
    elif here.name != layout.schedule:
        yield gap("layout.schedule", layout.schedule, f"with one chunk a stage it is {here.title}")
    if layout.vp > 1 and not here.takes_chunks:
        yield gap("layout.vp", layout.vp, f"{here.torch_name} takes {here.chunks_text}")


def _expert_gaps(layout: Layout) -> Iterator[str]:
    if layout.ep > 1 and _sharding_ranks(layout) % layout.ep:
        yield gap(
            "layout.ep",
            layout.ep,
            f"torchtitan spreads experts inside the {_sharding_ranks(layout)} ranks that shard and cut "
            "products, which it does not divide",
        )
    if layout.ep > 1 and layout.ep % (unit := layout.cp * (layout.tp if layout.expert_tp == 1 else 1)):
        yield gap(
            "layout.ep",
            layout.ep,
            f"torchtitan wants it to be a multiple of cp x tp = {unit} where experts are kept whole, and stops "
            "otherwise",
        )


def _sharding_ranks(layout: Layout) -> int:
    """GPUs of a stage without replicas."""
    return layout.data_width * layout.cp * layout.tp // sharding(layout)["data_parallel_replicate_degree"]


def _dealing_gaps(scenario: Scenario) -> Iterator[str]:
    layout, layers = scenario.layout, scenario.model.layers
    chunks = chunks_of(layout)
    theirs = dealt(layers, chunks, *ends_of(layout, layers))
    if not theirs:
        yield gap("layout.pp", layout.pp, f"torchtitan cannot cut {layers} layers into {chunks} chunks")
    elif theirs != split_layers(layers, chunks):
        yield gap(
            "layout.pp",
            layout.pp,
            f"torchtitan deals the remainder of {layers} layers to the first stages, this board to those in the middle",
        )


def _model_gaps(scenario: Scenario) -> Iterator[str]:
    model = scenario.model
    name, flavor, known = flavor_of(model)
    if not known:
        yield gap(
            "model",
            title_of(model),
            f"torchtitan has no flavor of this shape; add one called {flavor} to torchtitan/models/"
            f"{name}: {shape_words(model)}",
        )
    if model.round_parameters is not None:
        yield gap(
            "model.round_parameters", f"{model.round_parameters:g}", "a real model has the parameters of its shape"
        )
    # a flavor holds a shape, a sentence above names all of one that has none; neither says what only exports use
    yield from model_gaps(scenario, [name for name in Model.model_fields if not known or name not in FACTS])
    if name in WITHOUT_STAGES and scenario.layout.pp > 1:
        yield gap("layout.pp", scenario.layout.pp, f"torchtitan cannot cut {name} into stages; it works with pp 1")


def _sharding_gaps(layout: Layout) -> Iterator[str]:
    width = layout.data_width * layout.cp
    if width == 1:
        if layout.zero:
            yield gap("layout.zero", layout.zero, "with one data-parallel rank there is nothing to shard")
    elif layout.zero == 1 or (layout.zero == 0 and not only_replicas(layout)):
        yield gap(
            "layout.zero",
            layout.zero,
            "torchtitan shards with FSDP2 beside other axes; it keeps gathered weights between the "
            "passes here, which is nearest to ZeRO-2",
        )
    elif layout.zero == 2:
        yield "layout.zero = 2: FSDP2 shards the weights too between steps; they stay gathered from the forward pass to the backward pass."
    if layout.hsdp_shard is None:
        return
    if layout.hsdp_shard == width:
        yield gap("layout.hsdp_shard", layout.hsdp_shard, "these are all the ranks there are, so nothing is replicated")
    elif not groups_fit(layout):
        yield gap(
            "layout.hsdp_shard",
            layout.hsdp_shard,
            f"torchtitan's groups shard, over a multiple of cp {layout.cp}; all {width} ranks shard here",
        )
