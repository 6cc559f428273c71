"""Launch texts, one small file per framework. To add one: copy the smallest sibling and list it here; the page, the CLI
and the tests read this list."""

import re
from collections.abc import Callable
from dataclasses import replace

from engine.export import deepspeed, fsdp2, megatron, megatron_read, torchtitan, torchtitan_read
from engine.export.base import Export, File, Imported, Target
from engine.export.beside import take_gaps, with_gaps
from engine.language.choice import choose
from engine.language.refusal import Refusal
from engine.scenario import Scenario

TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Target(megatron.NAME, megatron.TITLE, megatron.write, megatron_read.read),
        Target(torchtitan.NAME, torchtitan.TITLE, torchtitan.write, torchtitan_read.read),
        Target(deepspeed.NAME, deepspeed.TITLE, deepspeed.write),
        Target(fsdp2.NAME, fsdp2.TITLE, fsdp2.write),
    )
}
LONGEST = 20_000  # characters; a command line with every option of Megatron has half of it

__all__ = ["LONGEST", "TARGETS", "Export", "File", "Imported", "Target", "export", "read"]


def export(scenario: Scenario, target: str) -> Export:
    """A scenario as launch files, or a Refusal with the nearest target.

    >>> from engine.scenario import scenario_from
    >>> export(scenario_from({"model": "llama-3-70b", "cluster": "hgx-h100", "gpus": 1024}), "megatron").files[0].name
    'train.sh'
    """
    into = choose("target", target, TARGETS, "there is no such target; there are {names}")
    made = into.write(scenario)
    first, *others = made.files
    # what can be read back says in comments what its options cannot
    return replace(made, files=(with_gaps(first, made.left_out), *others)) if into.read else made


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
        return torchtitan_read.read
    if _YAML.search(text):
        raise Refusal("text", text.strip()[:40], f"YAML, such as accelerate's, holds no whole layout; {_READ}")
    if _OPTION.search(text):
        return megatron_read.read
    raise Refusal(
        "text", text.strip()[:40], f"is neither arguments nor tables; {_READ}", "--tensor-model-parallel-size 8"
    )
