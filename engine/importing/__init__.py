"""Launch texts read back: a pasted command line or settings file as a scenario document."""

import re
from collections.abc import Callable

from engine.importing import megatron, torchtitan
from engine.importing.beside import take_gaps
from engine.importing.imported import Imported
from engine.language.refusal import Refusal

LONGEST = 20_000  # characters; a command line with every option of Megatron has half of it

__all__ = ["LONGEST", "Imported", "read"]

# how the first line of a TOML file begins, and what the others hold; each is matched line by line, in time that grows with the text
_TOML = re.compile(r"\[[\w. \[\"']+\]|[\w.\"'-]+[ \t]+=|[\w\"'-]+\.[\w.\"'-]+[ \t]*=")
_OPTION = re.compile(r"(^|[\s(\"'])--[A-Za-z]")
_YAML = re.compile(r"^(compute_environment|distributed_type|fsdp_config|num_processes)[ \t]*:", re.MULTILINE)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_READ = "a Megatron-LM command line and a torchtitan TOML file are read"


def read(text: str) -> Imported:
    """A pasted launch text as a scenario document, or a Refusal. Nothing in it is run, and no file or variable looked up.

    >>> read("torchrun --nproc-per-node 8 pretrain_gpt.py --tensor-model-parallel-size 8 --bf16").document["gpus"]
    8
    """
    if len(text) > LONGEST:
        raise Refusal("text", None, f"has {len(text):,} characters; at most {LONGEST:,} are read", code="too-large")
    if not text.strip():
        raise Refusal("text", None, f"is empty; {_READ}")
    if found := _CONTROL.search(text):
        raise Refusal("text", repr(found[0]), "control characters are no part of a launch text; paste it as plain text")
    return take_gaps(text, _reader(text)(text))


def _reader(text: str) -> Callable[[str], Imported]:
    """What reads this kind of text."""
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    if first.startswith("{"):
        raise Refusal("text", text.strip()[:40], f"JSON, such as DeepSpeed's, holds no whole layout; {_READ}")
    if _TOML.match(first):
        return torchtitan.read
    if _YAML.search(text):
        raise Refusal("text", text.strip()[:40], f"YAML, such as accelerate's, holds no whole layout; {_READ}")
    if _OPTION.search(text):
        return megatron.read
    raise Refusal(
        "text", text.strip()[:40], f"is neither arguments nor tables; {_READ}", "--tensor-model-parallel-size 8"
    )
