"""Texts that are brought along, read back: one small file a source. To add one: copy deepspeed.py and list it here; the
page, the CLI and the tests read this list."""

import re

from engine.importing import accelerate, deepspeed, gpt_neox, hf_config, megatron, nanotron, nemo, torchtitan
from engine.importing.beside import take_gaps
from engine.importing.imported import Imported, Taken
from engine.importing.source import Source, kind_of
from engine.language.refusal import Refusal

LONGEST = 20_000  # characters; a command line with every option of Megatron has half of it
SOURCES: dict[str, Source] = {
    source.name: source
    for source in (
        # the first that knows the text for its own reads it, so the most particular stand first
        torchtitan.SOURCE,
        nemo.SOURCE,
        gpt_neox.SOURCE,
        nanotron.SOURCE,
        accelerate.SOURCE,
        deepspeed.SOURCE,
        hf_config.SOURCE,
        megatron.SOURCE,
    )
}
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
READ = "what is read: " + ", ".join(source.what for source in SOURCES.values())

__all__ = ["LONGEST", "SOURCES", "Imported", "Source", "Taken", "read"]


def read(text: str) -> Imported:
    """A pasted text as a scenario document, or a Refusal. Nothing in it is run, and no file or variable looked up.

    >>> read("torchrun --nproc-per-node 8 pretrain_gpt.py --tensor-model-parallel-size 8 --bf16").document["gpus"]
    8
    """
    if len(text) > LONGEST:
        raise Refusal("text", None, f"has {len(text):,} characters; at most {LONGEST:,} are read", code="too-large")
    if not text.strip():
        raise Refusal("text", None, f"is empty; {READ}")
    if found := _CONTROL.search(text):
        raise Refusal("text", repr(found[0]), "control characters are no part of a launch text; paste it as plain text")
    kind = kind_of(text)
    source = next((source for source in SOURCES.values() if source.recognises(kind, text)), None)
    if source is None:
        raise Refusal("text", text.strip()[:40], f"nobody knows it here; {READ}", "--tensor-model-parallel-size 8")
    return take_gaps(text, source.read(text))
