"""What Megatron-LM itself refuses at the start, although a plan of it has a meaning."""

from collections.abc import Callable, Iterator
from typing import Any

from engine.catalog.model import Model
from engine.importing.options import Options

Rule = Callable[[Options, Model, dict[str, Any], int], str | None]


def stops(options: Options, model: Model, layout: dict[str, Any], sequence: int) -> Iterator[str]:
    """A sentence, without its full stop, for each rule of Megatron's that a command breaks."""
    for rule in RULES:
        if why := rule(options, model, layout, sequence):
            yield f"Megatron-LM stops at this: {why}"


def _experts(options: Options, model: Model, layout: dict[str, Any], _: int) -> str | None:
    if model.experts and layout["tp"] > 1 and not layout["sequence_parallel"]:
        return "experts with tensor parallelism need --sequence-parallel"
    return None


def _groups(options: Options, model: Model, layout: dict[str, Any], _: int) -> str | None:
    groups, tp = model.kv_heads, layout["tp"]
    if not model.latent and groups % tp and tp % groups:
        return f"--num-query-groups {groups} and --tensor-model-parallel-size {tp}: one must divide the other"
    return None


def _interleaved(options: Options, model: Model, layout: dict[str, Any], _: int) -> str | None:
    pp, rounds = layout["pp"], layout["micro_batches"]
    if layout["vp"] > 1 and pp == 1:
        return "chunks of a stage need --pipeline-model-parallel-size above 1"
    if layout["vp"] > 1 and rounds % pp:
        near = max(1, rounds // pp) * pp
        return f"an interleaved pipeline of {pp} stages needs a multiple of {pp} micro-batches, and has {rounds}; {near} works"
    return None


def _context(options: Options, model: Model, layout: dict[str, Any], sequence: int) -> str | None:
    if layout["cp"] > 1 and sequence % (2 * layout["cp"]):
        return f"--seq-length {sequence} must be a multiple of 2 x --context-parallel-size = {2 * layout['cp']}"
    return None


def _cut_tokens(options: Options, model: Model, layout: dict[str, Any], sequence: int) -> str | None:
    if layout["tp"] > 1 and layout["sequence_parallel"] and sequence // layout["cp"] % layout["tp"]:
        return f"--sequence-parallel cuts {sequence // layout['cp']} tokens over {layout['tp']} ranks, which they are no multiple of"
    return None


def _method(options: Options, model: Model, layout: dict[str, Any], _: int) -> str | None:
    if options.text("--recompute-granularity") == "full" and "--recompute-method" not in options:
        return "--recompute-granularity full needs --recompute-method uniform or block"
    return None


def _schemes(options: Options, model: Model, layout: dict[str, Any], _: int) -> str | None:
    if layout["zero"] > 1 and layout["pp"] > 1 and "--zero-stage" in options:
        return f"{options.spelled('--zero-stage')} {layout['zero']}: DeepSpeed's pipeline works with ZeRO 0 and 1 only"
    if "--use-torch-fsdp2" in options and layout["pp"] > 1:
        return "--use-torch-fsdp2 works without a pipeline only"
    return None


RULES: tuple[Rule, ...] = (_experts, _groups, _interleaved, _context, _cut_tokens, _method, _schemes)
