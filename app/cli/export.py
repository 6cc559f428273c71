"""Launch files of a scenario, and the scenario of a launch text, as documents of the command line."""

from typing import Any

from app.web.json_text import value_of
from engine.export import export
from engine.importing import LONGEST, read
from engine.language.refusal import Refusal
from engine.scenario import scenario_from

BYTES_OF_A_SIGN = 4  # at most, in UTF-8
LAUNCH_BYTES = LONGEST * BYTES_OF_A_SIGN


def export_answer(data: bytes, limit: int, target: str) -> dict[str, Any]:
    """The files of a scenario's JSON for one target, and a sentence for each thing that they cannot say.

    >>> answer = export_answer(b'{"model": "llama-3-8b", "cluster": "hgx-h100", "gpus": 32}', 1000, "torchtitan")
    >>> [file["name"] for file in answer["files"]]
    ['train.toml', 'train.sh', 'train.sbatch']
    """
    made = export(scenario_from(value_of(data, limit)), target)
    return {
        "target": made.target,
        "files": [{"name": file.name, "text": file.text} for file in made.files],
        "left_out": list(made.left_out),
    }


def import_answer(data: bytes) -> dict[str, Any]:
    """The scenario of a launch text, each setting that was read with its line, and what has to be said beside it.

    >>> import_answer(b"torchrun --nproc-per-node 8 pretrain_gpt.py --bf16")["scenario"]["gpus"]
    8
    """
    if len(data) > LAUNCH_BYTES:
        raise Refusal("text", None, f"has more than {LONGEST:,} characters, and no more are read", code="too-large")
    try:
        made = read(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise Refusal("text", None, f"is no UTF-8 text: byte {error.start + 1} cannot be read") from None
    return {
        "source": made.source,
        "scenario": made.document,
        "read": [{"line": taken.line, "said": taken.said, "place": taken.place} for taken in made.taken],
        "warned": list(made.warned),
        "unknown": list(made.unknown),
        "assumed": list(made.assumed),
        "harmless": list(made.harmless),
    }
