"""How Megatron's options deal layers to the stages of a pipeline."""

import re
from typing import Any

from engine.importing.imported import Remarks
from engine.importing.options import Options
from engine.language.refusal import Refusal
from engine.pipeline.schedules import USUAL
from engine.pipeline.schedules.interleaved import INTERLEAVED

CHUNKS = (
    "--num-virtual-stages-per-pipeline-rank",
    "--num-layers-per-virtual-pipeline-stage",
    "--pipeline-model-parallel-layout",
)
ENDS = ("--account-for-embedding-in-pipeline-split", "--account-for-loss-in-pipeline-split")
FIRST_LAST = ("--decoder-first-pipeline-num-layers", "--decoder-last-pipeline-num-layers")
REPEATED = re.compile(r"\(([^()]+)\)\*([0-9]{1,3})")
EVENLY = "this board deals layers as evenly as they go, so the stages' memory and the bubble differ"


def schedule_of(options: Options, pp: int, layers: int, remarks: Remarks) -> dict[str, Any]:
    """The schedule and its chunks; what would not come out even is told as Megatron tells it."""
    if len(given := [name for name in CHUNKS if name in options]) > 1:
        raise Refusal(given[1], None, f"stands beside {given[0]}; give one of them")
    counted = layers + sum(options.flag(name) for name in ENDS)
    chunks, thin, text = options.whole(CHUNKS[0]), options.whole(CHUNKS[1]), options.text(CHUNKS[2])
    own = [size for name in FIRST_LAST if (size := options.whole(name))]
    if own:
        remarks.warned.append(f"layers of the first or last stage are given ({', '.join(map(str, own))}): {EVENLY}")
    if thin:
        if counted % (pp * thin):
            raise Refusal(options.spelled(CHUNKS[1]), thin, f"must divide the {counted} layers over {pp} stages")
        chunks = counted // pp // thin
    if text:
        chunks = dealt(text, pp)
        remarks.warned.append(f"{CHUNKS[2]}: only its number of chunks is taken; {EVENLY}")
    vp = chunks or 1
    stages, left = pp - len(own), counted - sum(own)
    if not text and stages > 0 and left % (stages * vp):
        remarks.warned.append(
            f"--num-layers {layers}: Megatron-LM stops at this, since {left} layers are no multiple of {stages} stages"
            f"{f' of {vp} chunks' if vp > 1 else ''}; say --pipeline-model-parallel-layout, or take "
            f"{max(1, left // (stages * vp)) * stages * vp + layers - left} layers"
        )
    return {"vp": vp, "schedule": (INTERLEAVED if vp > 1 else USUAL).name}


def dealt(text: str, pp: int) -> int:
    """Chunks of a stage in a pipeline layout such as Et*3|(tt|)*6L.

    >>> dealt("Et*3|(tt|)*6L", 4)
    2
    """
    name, bare = CHUNKS[2], text.replace(",", "")
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
