"""Megatron-LM: a pasted command line as a scenario document."""

import re
from math import gcd
from typing import Any

from engine.catalog.hardware import LIMITS, cluster_named
from engine.catalog.model import model_named
from engine.export.megatron import NAME
from engine.export.run_length import training_of
from engine.importing.imported import Imported, assumed_cluster
from engine.importing.launched import Launched, launched
from engine.importing.megatron_shape import model_of
from engine.importing.options import Options
from engine.language.document import beside
from engine.language.refusal import Refusal
from engine.pipeline.schedules import USUAL
from engine.pipeline.schedules.interleaved import INTERLEAVED

USUAL_TOKENS = 8192
STRATEGIES = ("no_shard", "optim", "optim_grads", "optim_grads_params")  # ZeRO 0 to 3
REPEATED = re.compile(r"\(([^()]+)\)\*([0-9]{1,3})")

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
    command, notes = launched(text), list[str]()
    options = command.options
    tokens = options.whole("--seq-length")
    if tokens is None:
        notes.append(f"--seq-length: it is not given, so {USUAL_TOKENS:,} tokens are assumed")
    sequence = tokens or USUAL_TOKENS
    degrees = {axis: options.whole(name) or 1 for axis, name in DEGREES}
    model = model_of(options, sequence, notes)
    gpus, batch = _batch(command, degrees, notes)
    layers = model["layers"] if isinstance(model, dict) else model_named(model).layers
    precision = _precision(options, notes)
    layout = {
        **degrees,
        **batch,
        **_schedule(options, degrees["pp"], layers, notes),
        **_sharding(options, batch["dp"] * degrees["cp"], notes),
        "recompute": _recompute(options, notes),
        "gradient_bytes": _gradient_bytes(options, precision),
        "sequence_parallel": options.flag("--sequence-parallel") or degrees["tp"] == 1,
        "rank_order": "tp-cp-ep-pp-dp" if options.flag("--use-tp-pp-dp-mapping") else "tp-cp-ep-dp-pp",
    }
    _expert_tp(options, degrees, notes)
    document = {
        "model": model,
        "cluster": _cluster(command, precision, notes),
        "gpus": gpus,
        "sequence_tokens": sequence,
        "precision": precision,
        "stack": "megatron",
        "layout": layout,
        **_training(options, layout, sequence),
    }
    if len(options.unasked()) == len(options.given):
        raise Refusal(
            "text", None, "names no option of Megatron-LM that this board knows", "--tensor-model-parallel-size 8"
        )
    notes += [f"{f'{name} {value}'.strip()[:80]}: it has no place on this board" for name, value in options.unasked()]
    return Imported(NAME, document, tuple(f"{note}." for note in notes))


def _batch(command: Launched, degrees: dict[str, int], notes: list[str]) -> tuple[int, dict[str, int]]:
    """GPUs, and what they make of the global batch: data-parallel ranks and micro-batches of each."""
    micro, whole = command.options.whole("--micro-batch-size"), command.options.whole("--global-batch-size")
    if micro is None:
        notes.append("--micro-batch-size: it is not given, so 1 is assumed")
    micro, rest = micro or 1, degrees["tp"] * degrees["cp"] * degrees["pp"]
    dp = _width(command, degrees, rest, notes)
    ranks = dp * micro
    if whole is None:
        notes.append(
            f"--global-batch-size: it is not given, so each pipeline runs one micro-batch ({ranks} sequences a step)"
        )
    elif whole % ranks:
        rule = f"must be a multiple of {ranks}: {dp} data-parallel ranks with micro-batches of {micro}"
        near = beside(whole, [number for number in (whole // ranks * ranks, (whole // ranks + 1) * ranks) if number])
        raise Refusal("--global-batch-size", whole, rule, near)
    return rest * dp, {"dp": dp, "micro_batch": micro, "micro_batches": (whole or ranks) // ranks}


def _width(command: Launched, degrees: dict[str, int], rest: int, notes: list[str]) -> int:
    """Data-parallel ranks: what the other degrees leave of the launcher's GPUs; else as few as the experts allow."""
    if (gpus := command.gpus) is None:
        dp = degrees["ep"] // gcd(degrees["ep"], rest // degrees["pp"])
        notes.append(
            f"gpus: the text does not say how many; the fewest that the degrees allow are assumed, {rest * dp}"
        )
        return dp
    if gpus % rest:
        rule = f"must be a multiple of tp {degrees['tp']} x cp {degrees['cp']} x pp {degrees['pp']} = {rest}"
        raise Refusal("gpus", gpus, rule, str(max(1, gpus // rest) * rest))
    return gpus // rest


def _cluster(command: Launched, precision: str, notes: list[str]) -> str | dict[str, Any]:
    base = assumed_cluster(precision)
    notes.append(f"cluster: a command line names no GPUs; assumed is {cluster_named(base).title}")
    each, usual = command.gpus_per_node, cluster_named(base).gpus_per_node
    if each is None or each == usual or (command.nodes or 1) == 1:
        return base
    if each != LIMITS["gpus_per_node"].nearest(each):
        raise Refusal("--nproc-per-node", each, f"must be {LIMITS['gpus_per_node'].rule}")
    return {"base": base, "gpus_per_node": each}


def _precision(options: Options, notes: list[str]) -> str:
    half, brain = options.flag("--fp16"), options.flag("--bf16")
    eight, recipe = options.text("--fp8-format", ("e4m3", "hybrid")), options.text("--fp8-recipe")
    if half and brain:
        raise Refusal("--fp16", None, "stands beside --bf16; give one of them")
    if not (half or brain):
        notes.append(
            "--bf16: neither it nor --fp16 is given, which Megatron runs in FP32; this board has no FP32, so bf16 is assumed"
        )
    if eight:
        return "mxfp8" if recipe == "mxfp8" else "fp8"
    return "fp16" if half else "bf16"


def _gradient_bytes(options: Options, precision: str) -> int:
    """Megatron keeps gradients in FP32 beside BF16 weights unless told otherwise, and in FP16 beside FP16 ones."""
    low, high = options.flag("--grad-reduce-in-bf16"), options.flag("--accumulate-allreduce-grads-in-fp32")
    return (4 if high else 2) if precision == "fp16" else (2 if low else 4)


def _schedule(options: Options, pp: int, layers: int, notes: list[str]) -> dict[str, Any]:
    names = (
        "--num-virtual-stages-per-pipeline-rank",
        "--num-layers-per-virtual-pipeline-stage",
        "--pipeline-model-parallel-layout",
    )
    if len(given := [name for name in names if name in options]) > 1:
        raise Refusal(given[1], None, f"stands beside {given[0]}; give one of them")
    ends = options.flag("--account-for-embedding-in-pipeline-split") + options.flag(
        "--account-for-loss-in-pipeline-split"
    )
    chunks, thin, text = options.whole(names[0]), options.whole(names[1]), options.text(names[2])
    if thin:
        if (layers + ends) % (pp * thin):
            raise Refusal(names[1], thin, f"must divide the {layers + ends} layers over {pp} stages")
        chunks = (layers + ends) // pp // thin
    if text:
        chunks = _dealt(text, pp)
        notes.append(f"{names[2]}: only its number of chunks is taken; this board deals layers as evenly as they go")
    vp = chunks or 1
    return {"vp": vp, "schedule": (INTERLEAVED if vp > 1 else USUAL).name}


def _dealt(text: str, pp: int) -> int:
    """Chunks of a stage in a pipeline layout such as Et*3|(tt|)*6L.

    >>> _dealt("Et*3|(tt|)*6L", 4)
    2
    """
    name, bare = "--pipeline-model-parallel-layout", text.replace(",", "")
    if re.sub(r"[EtmL|()]|\*[0-9]{1,3}", "", bare):
        raise Refusal(name, text, "must be made of E, t, m, L, bars, brackets and *number", "E|(t|)*3L")
    stages = (
        1 + _bars(REPEATED.sub("", bare)) + sum(_bars(match[1]) * int(match[2]) for match in REPEATED.finditer(bare))
    )
    if stages % pp:
        raise Refusal(name, text, f"has {stages} stages, which must be a multiple of the {pp} of the pipeline")
    return stages // pp


def _bars(text: str) -> int:
    return sum(int(match[1] or 1) for match in re.finditer(r"\|(?:\*([0-9]+))?", text))


def _sharding(options: Options, width: int, notes: list[str]) -> dict[str, Any]:
    spread, own = options.flag("--use-distributed-optimizer"), options.flag("--use-megatron-fsdp")
    own = options.flag("--use-custom-fsdp") or own
    torch, kept = options.flag("--use-torch-fsdp2"), options.flag("--torch-fsdp2-no-reshard-after-forward")
    strategy = options.text("--data-parallel-sharding-strategy", STRATEGIES)
    copies = options.whole("--num-distributed-optimizer-instances") or 1
    zero = STRATEGIES.index(strategy or STRATEGIES[3]) if own else (2 if kept else 3) if torch else int(spread)
    if strategy and not own:
        notes.append("--data-parallel-sharding-strategy counts only with --use-megatron-fsdp, so it is ignored")
    if copies == 1 or zero != 3:
        if copies > 1:
            notes.append(
                f"--num-distributed-optimizer-instances {copies}: only FSDP replicates groups on this board, so it is ignored"
            )
        return {"zero": zero}
    if width % copies:
        raise Refusal("--num-distributed-optimizer-instances", copies, f"must divide dp x cp = {width}")
    return {"zero": zero, "hsdp_shard": width // copies}


def _recompute(options: Options, notes: list[str]) -> str:
    kind, short = (
        options.text("--recompute-granularity", ("full", "selective")),
        options.flag("--recompute-activations"),
    )
    method, layers = options.text("--recompute-method", ("uniform", "block")), options.whole("--recompute-num-layers")
    options.asked.add("--recompute-modules")
    modules = options.given.get("--recompute-modules", ())
    if kind == "full" and (method == "block" or (layers or 1) > 1):
        notes.append(
            f"--recompute-method {method} --recompute-num-layers {layers}: this board recomputes every layer by itself"
        )
    if kind == "selective" and modules not in ((), ("core_attn",)):
        notes.append(f"--recompute-modules {' '.join(modules)}: this board's selective recomputation is of core_attn")
    return kind or ("selective" if short else "none")


def _expert_tp(options: Options, degrees: dict[str, int], notes: list[str]) -> None:
    given = options.whole("--expert-tensor-parallel-size")
    cut, here = degrees["tp"] if given is None else given, degrees["tp"] if degrees["ep"] == 1 else 1
    if cut != here and "--num-experts" in options:
        notes.append(f"--expert-tensor-parallel-size {cut}: on this board an expert is cut over {here} ranks")


def _training(options: Options, layout: dict[str, Any], sequence: int) -> dict[str, Any]:
    steps, samples = options.whole("--train-iters"), options.whole("--train-samples")
    batch = layout["dp"] * layout["micro_batch"] * layout["micro_batches"]
    return training_of((samples or (steps or 0) * batch) * sequence)
