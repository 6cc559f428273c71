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
        Target(deepspeed.NAME, deepspeed.TITLE, deepspeed.write),
        Target(fsdp2.NAME, fsdp2.TITLE, fsdp2.write),
    )
}
READ_BACK = (megatron.NAME, torchtitan.NAME)

__all__ = ["READ_BACK", "TARGETS", "Export", "File", "Target", "export"]


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
    return replace(made, files=(with_gaps(first, made.left_out), *others)) if target in READ_BACK else made
