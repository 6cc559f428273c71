"""Megatron-LM: a pasted command line, or a script with one in it, as a scenario document."""

from typing import Any

from engine.catalog.hardware import LIMITS, cluster_named
from engine.export.megatron import NAME, TITLE
from engine.export.run_length import training_of
from engine.importing.batch import batch_of
from engine.importing.imported import Imported, Remarks, assumed_cluster, imported
from engine.importing.launched import Launched, launched
from engine.importing.megatron_kinds import KINDS
from engine.importing.megatron_rules import stops
from engine.importing.megatron_shape import model_of
from engine.importing.megatron_stages import schedule_of
from engine.importing.options import Options
from engine.importing.source import Source
from engine.language.refusal import Refusal
from engine.scenario import model_from

USUAL_TOKENS = 8192
STRATEGIES = ("no_shard", "optim", "optim_grads", "optim_grads_params")  # ZeRO 0 to 3
DEGREES = (
    ("tp", "--tensor-model-parallel-size"),
    ("cp", "--context-parallel-size"),
    ("ep", "--expert-model-parallel-size"),
    ("pp", "--pipeline-model-parallel-size"),
)


def read(text: str) -> Imported:
    """The scenario document of a Megatron-LM command line.

    >>> read("--tensor-model-parallel-size 8 --pipeline-model-parallel-size 4 --bf16").document["layout"]["pp"]
    4
    """
    remarks = Remarks()
    command = launched(text, KINDS, remarks)
    found = read_options(NAME, command, remarks)
    if not any(name in KINDS.acts for name in command.options.given):
        raise Refusal(
            "text", None, "names no option of Megatron-LM that this board knows", "--tensor-model-parallel-size 8"
        )
    return found


def read_options(source: str, command: Launched, remarks: Remarks, stack: str = "megatron") -> Imported:
    """The same of options that are already taken apart: files of Megatron's relatives are read as its options."""
    options = command.options
    tokens = options.whole("--seq-length")
    if tokens is None:
        remarks.assumed.append(f"--seq-length: it is not given, so {USUAL_TOKENS:,} tokens are assumed")
    sequence = tokens or USUAL_TOKENS
    degrees = {axis: options.whole(name) or 1 for axis, name in DEGREES}
    model = model_of(options, sequence, remarks)
    shape = model_from(model)
    gpus, batch = batch_of(command, degrees, remarks)
    precision = _precision(options, remarks)
    layout = {
        **degrees,
        **batch,
        **schedule_of(options, degrees["pp"], shape.layers, remarks),
        **_sharding(options, batch["dp"] * degrees["cp"], remarks),
        "recompute": _recompute(options, remarks),
        "gradient_bytes": _gradient_bytes(options, precision),
        "sequence_parallel": options.flag("--sequence-parallel") or degrees["tp"] == 1,
        "rank_order": "tp-cp-ep-pp-dp" if options.flag("--use-tp-pp-dp-mapping") else "tp-cp-ep-dp-pp",
    }
    _expert_tp(options, degrees, remarks)
    remarks.warned += stops(options, shape, layout, sequence)
    document = {
        "model": model,
        "cluster": _cluster(command, precision, remarks),
        "gpus": gpus,
        "sequence_tokens": sequence,
        "precision": precision,
        "stack": stack,
        "layout": layout,
        **_training(options, layout, sequence),
    }
    options.sort(KINDS, command.taken, remarks)
    return imported(source, document, command.taken, remarks)


def _cluster(command: Launched, precision: str, remarks: Remarks) -> str | dict[str, Any]:
    base = assumed_cluster(precision)
    remarks.assumed.append(f"cluster: the text names no GPUs; {cluster_named(base).title} is assumed")
    each, usual = command.gpus_per_node, cluster_named(base).gpus_per_node
    if each is None or each == usual or (command.nodes or 1) == 1:
        return base
    if each != LIMITS["gpus_per_node"].nearest(each):
        raise Refusal("--nproc-per-node", each, f"must be {LIMITS['gpus_per_node'].rule}")
    return {"base": base, "gpus_per_node": each}


def _precision(options: Options, remarks: Remarks) -> str:
    half, brain = options.flag("--fp16"), options.flag("--bf16")
    eight, recipe = options.text("--fp8-format", ("e4m3", "hybrid")), options.text("--fp8-recipe")
    if half and brain:
        raise Refusal("--fp16", None, "stands beside --bf16; give one of them")
    if not (half or brain):
        remarks.warned.append(
            "--bf16: neither it nor --fp16 is given, which runs in FP32; this board has no FP32, so bf16 is assumed: memory "
            "and time are about half of FP32's"
        )
    # what the option was before it took a value
    if options.flag("--fp8-hybrid") or options.flag("--fp8-e4m3") or eight:
        return "mxfp8" if recipe == "mxfp8" else "fp8"
    return "fp16" if half else "bf16"


def _gradient_bytes(options: Options, precision: str) -> int:
    """Megatron keeps gradients in FP32 beside BF16 weights unless told otherwise, and in FP16 beside FP16 ones."""
    low, high = options.flag("--grad-reduce-in-bf16"), options.flag("--accumulate-allreduce-grads-in-fp32")
    return (4 if high else 2) if precision == "fp16" else (2 if low else 4)


def _sharding(options: Options, width: int, remarks: Remarks) -> dict[str, Any]:
    spread, own = options.flag("--use-distributed-optimizer"), options.flag("--use-megatron-fsdp")
    torch, kept = options.flag("--use-torch-fsdp2"), options.flag("--torch-fsdp2-no-reshard-after-forward")
    strategy = options.text("--data-parallel-sharding-strategy", STRATEGIES)
    copies, stage = options.whole("--num-distributed-optimizer-instances") or 1, options.whole("--zero-stage", least=0)
    zero = STRATEGIES.index(strategy or STRATEGIES[3]) if own else (2 if kept else 3) if torch else int(spread)
    if stage is not None:
        if stage > 3:
            raise Refusal(options.spelled("--zero-stage"), stage, "ZeRO has the stages 0 to 3", "3")
        zero = stage
    if strategy and not own:
        remarks.warned.append(
            "--data-parallel-sharding-strategy counts only with --use-megatron-fsdp, so it is ignored, as Megatron does"
        )
    if copies == 1 or zero != 3:
        if copies > 1:
            remarks.warned.append(
                f"--num-distributed-optimizer-instances {copies}: only FSDP replicates groups on this board, so it is not "
                "in the plan: optimizer state is cut over fewer ranks than is counted"
            )
        return {"zero": zero}
    if width % copies:
        raise Refusal("--num-distributed-optimizer-instances", copies, f"must divide dp x cp = {width}")
    return {"zero": zero, "hsdp_shard": width // copies}


def _recompute(options: Options, remarks: Remarks) -> str:
    kind = options.text("--recompute-granularity", ("full", "selective"))
    short, old = options.flag("--recompute-activations"), options.flag("--checkpoint-activations")
    method, layers = options.text("--recompute-method", ("uniform", "block")), options.whole("--recompute-num-layers")
    each, modules = options.whole("--checkpoint-num-layers"), options.values("--recompute-modules")
    if kind is None and (old or method):
        kind = "full"  # what the options of old mean
    together = layers or each or 1
    if kind == "full" and (method == "block" or together > 1):
        remarks.warned.append(
            f"--recompute-method {method or 'uniform'} --recompute-num-layers {together}: this board recomputes every layer "
            "by itself, so memory and time differ"
        )
    if kind == "selective" and modules not in ((), ("core_attn",)):
        remarks.warned.append(
            f"--recompute-modules {' '.join(modules)}: this board's selective recomputation is of core_attn, so memory and "
            "time differ"
        )
    return kind or ("selective" if short else "none")


def _expert_tp(options: Options, degrees: dict[str, int], remarks: Remarks) -> None:
    given = options.whole("--expert-tensor-parallel-size")
    cut, here = degrees["tp"] if given is None else given, degrees["tp"] if degrees["ep"] == 1 else 1
    if cut != here and "--num-experts" in options:
        remarks.warned.append(
            f"--expert-tensor-parallel-size {cut}: on this board an expert is cut over {here} ranks, so traffic differs"
        )


def _training(options: Options, layout: dict[str, Any], sequence: int) -> dict[str, Any]:
    steps, samples = options.whole("--train-iters"), options.whole("--train-samples")
    tokens = options.whole("--train-tokens")
    batch = layout["dp"] * layout["micro_batch"] * layout["micro_batches"]
    return training_of(tokens or (samples or (steps or 0) * batch) * sequence)


SOURCE = Source(
    NAME,
    TITLE,
    "a Megatron-LM command line or the script around it",
    lambda kind, text: kind == "shell",
    read,
    KINDS,
)
