"""Launch texts, one small file per framework. To add one: copy the smallest sibling and list it here; the page, the CLI
and the tests read this list."""

from dataclasses import replace

from engine.export import deepspeed, fsdp2, megatron, torchtitan
from engine.export.base import Export, File, Target
from engine.export.beside import with_gaps
from engine.language.choice import choose
from engine.scenario import Scenario

TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Target(megatron.NAME, megatron.TITLE, megatron.write),
        Target(torchtitan.NAME, torchtitan.TITLE, torchtitan.write),
        Target(deepspeed.NAME, deepspeed.TITLE, deepspeed.write, says_layout=False),
        Target(fsdp2.NAME, fsdp2.TITLE, fsdp2.write, says_layout=False),
    )
}

__all__ = ["TARGETS", "Export", "File", "Target", "export"]


def export(scenario: Scenario, target: str) -> Export:
    """A scenario as launch files, or a Refusal with the nearest target.

    >>> from engine.scenario import scenario_from
    >>> export(scenario_from({"model": "llama-3-70b", "cluster": "hgx-h100", "gpus": 1024}), "megatron").files[0].name
    'train.sh'
    """
    into = choose("target", target, TARGETS, "there is no such target; there are {names}")
    made = into.write(scenario)
    first, *others = made.files
    # each says beside its options what they cannot, so that it can be read back
    return replace(made, files=(with_gaps(first, scenario, made.left_out, whole=not into.says_layout), *others))
