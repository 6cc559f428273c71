"""Megatron-LM: a scenario as the arguments of pretrain_gpt.py."""

from collections.abc import Iterator

from engine.export.base import Export, gap
from engine.export.launch import Words, by_hand, launch_gaps, nodes_of, remark, script, slurm, torchrun
from engine.export.megatron_shape import shape_gaps, shape_words
from engine.export.model_facts import unknown_gaps
from engine.export.named import title_of
from engine.export.run_length import length_gaps, steps_of
from engine.layout.layout import Layout
from engine.layout.stages import split_layers
from engine.pipeline.schedules import SCHEDULES, Schedule, nearest_that
from engine.scenario import Scenario

NAME, TITLE = "megatron", "Megatron-LM"
SCRIPT = "pretrain_gpt.py"
STRATEGIES = {2: "optim_grads", 3: "optim_grads_params"}  # of Megatron's own FSDP
HALF = "fp16"
EIGHT_BITS = {
    "fp8": (("--fp8-format", "hybrid"),),
    "mxfp8": (("--fp8-format", "e4m3"), ("--fp8-recipe", "mxfp8")),
}
ORDERS = {"tp-cp-ep-dp-pp": False, "tp-cp-ep-pp-dp": True}  # whether --use-tp-pp-dp-mapping says it
STAND_INS = (
    "--mock-data and --tokenizer-type NullTokenizer: they stand in for your --data-path, --tokenizer-type and --tokenizer-model.",
    "--lr: the learning rate stands in for yours, and --save, --load and the logging options are yours to add.",
)


def write(scenario: Scenario) -> Export:
    """A script of one torchrun line, and the Slurm job that runs it."""
    lines = [*torchrun(nodes_of(scenario)), (SCRIPT,), *_words(scenario)]
    # without FSDP, one queue keeps a tensor-parallel send from waiting behind the product that hides it
    environment = () if scenario.layout.zero in STRATEGIES else ("CUDA_DEVICE_MAX_CONNECTIONS=1",)
    files = (
        script(remark(scenario, f"{TITLE}, {title_of(scenario.model)}"), lines, environment),
        slurm(scenario, title_of(scenario.model)),
    )
    return Export(NAME, TITLE, files, tuple(_left_out(scenario)))


def _words(scenario: Scenario) -> Iterator[Words]:
    layout = scenario.layout
    yield from shape_words(scenario.model, scenario.sequence_tokens)
    yield ("--seq-length", str(scenario.sequence_tokens))
    yield from _degrees(scenario)
    yield ("--micro-batch-size", str(layout.micro_batch))
    yield ("--global-batch-size", str(layout.global_batch))
    yield ("--train-iters", str(steps_of(scenario)))
    yield from _sharding(layout)
    yield from _numbers(scenario)
    if layout.recompute == "selective":
        yield from (("--recompute-granularity", "selective"), ("--recompute-modules", "core_attn"))
    if layout.recompute == "full":
        yield from (
            ("--recompute-granularity", "full"),
            ("--recompute-method", "uniform"),
            ("--recompute-num-layers", "1"),
        )
    # Megatron-LM's own defaults: a tenth of dropout, and a mask of sequence x sequence made by the data loader
    yield from (
        ("--attention-dropout", "0.0"),
        ("--hidden-dropout", "0.0"),
        ("--no-create-attention-mask-in-dataloader",),
    )
    yield ("--cross-entropy-loss-fusion",)  # as the board reckons with Megatron's own software: no FP32 logits are kept
    yield from (("--mock-data",), ("--tokenizer-type", "NullTokenizer"), ("--lr", "1e-4"))


def _degrees(scenario: Scenario) -> Iterator[Words]:
    layout = scenario.layout
    yield ("--tensor-model-parallel-size", str(layout.tp))
    yield ("--pipeline-model-parallel-size", str(layout.pp))
    yield ("--context-parallel-size", str(layout.cp))
    if layout.ep > 1:
        yield ("--expert-model-parallel-size", str(layout.ep))
        yield ("--expert-tensor-parallel-size", str(layout.expert_tp))
    if layout.tp > 1 and layout.sequence_parallel:
        yield ("--sequence-parallel",)
    if ORDERS.get(layout.rank_order):
        yield ("--use-tp-pp-dp-mapping",)
    if _here(layout).takes_chunks:
        yield ("--num-virtual-stages-per-pipeline-rank", str(layout.vp))
    yield from _stages(layout, scenario.model.layers)


def _here(layout: Layout) -> Schedule:
    """The schedule that Megatron-LM runs: the layout's, or the nearest it has."""
    return nearest_that(lambda schedule: schedule.megatron, layout.runs)


def _stages(layout: Layout, layers: int) -> Iterator[Words]:
    """How layers are dealt where they do not divide evenly: one fewer at each end, or stage by stage."""
    sizes = split_layers(layers, layout.pp * _here(layout).chunks_used(layout.vp))
    if len(set(sizes)) == 1:
        return
    if (layers + 2) % len(sizes) == 0:
        yield from (("--account-for-embedding-in-pipeline-split",), ("--account-for-loss-in-pipeline-split",))
    else:
        texts = [f"t*{size}" if size else "" for size in sizes]
        yield ("--pipeline-model-parallel-layout", "E" + "|".join(texts) + "L")


def _sharding(layout: Layout) -> Iterator[Words]:
    yield ("--overlap-grad-reduce",)
    if layout.zero:
        yield from (("--use-distributed-optimizer",), ("--overlap-param-gather",))
    if layout.zero in STRATEGIES:
        yield ("--use-megatron-fsdp",)
        yield ("--data-parallel-sharding-strategy", STRATEGIES[layout.zero])
        yield from (("--ckpt-format", "fsdp_dtensor"), ("--no-gradient-accumulation-fusion",))
    if (copies := layout.data_width * layout.cp // layout.shard_width) > 1:
        yield ("--num-distributed-optimizer-instances", str(copies))


def _numbers(scenario: Scenario) -> Iterator[Words]:
    half = scenario.precision == HALF
    yield ("--fp16",) if half else ("--bf16",)
    yield from EIGHT_BITS.get(scenario.precision, ())
    if half and scenario.layout.gradient_bytes == 4:
        yield ("--accumulate-allreduce-grads-in-fp32",)
    if not half and scenario.layout.gradient_bytes == 2:
        yield ("--grad-reduce-in-bf16",)


def _left_out(scenario: Scenario) -> Iterator[str]:
    layout = scenario.layout
    yield from _schedule_gaps(layout)
    if layout.rank_order not in ORDERS:
        yield gap(
            "layout.rank_order",
            layout.rank_order,
            f"Megatron's command line has only {' and '.join(ORDERS)}, so it is tp-cp-ep-dp-pp",
        )
    if not layout.sequence_parallel and layout.tp == 1:
        yield gap("layout.sequence_parallel", False, "with tp 1 there is nothing to cut, so no option says it")
    if not layout.sequence_parallel and layout.tp > 1 and scenario.model.experts:
        yield gap(
            "layout.sequence_parallel",
            False,
            "Megatron refuses to train experts with tensor parallelism without it; add --sequence-parallel",
        )
    if layout.hsdp_shard == layout.data_width * layout.cp:
        yield gap("layout.hsdp_shard", layout.hsdp_shard, "these are all the ranks there are, so nothing is replicated")
    if scenario.precision not in ("bf16", HALF, *EIGHT_BITS):
        yield gap("precision", scenario.precision, "Megatron-LM has no such products, so it computes in BF16")
    if scenario.stack_name != "megatron":
        yield gap("stack", scenario.stack_name, "the command runs Megatron's own software")
    yield from shape_gaps(scenario)
    yield from length_gaps(scenario)
    yield from launch_gaps(scenario)
    yield from unknown_gaps(scenario.model)
    yield from STAND_INS
    yield by_hand(scenario)


def _schedule_gaps(layout: Layout) -> Iterator[str]:
    here = _here(layout)
    if here != layout.runs:
        runs = " or ".join(schedule.title for schedule in SCHEDULES.values() if schedule.megatron)
        yield gap("layout.schedule", layout.schedule, f"Megatron-LM runs {runs}, so the command runs {here.title}")
    elif here.name != layout.schedule:
        yield gap("layout.schedule", layout.schedule, f"with one chunk a stage it is {here.title}")
    if layout.vp > 1 and not here.takes_chunks:
        yield gap("layout.vp", layout.vp, f"{here.title} takes {here.chunks_text}")
