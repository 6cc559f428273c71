"""What starts a pasted command: torchrun or Python, the script, and how many GPUs that makes."""

import re
from dataclasses import dataclass

from engine.importing.options import Options, options_of, whole_of
from engine.importing.words import one_command
from engine.language.refusal import Refusal

STARTERS = re.compile(r"(torchrun|python[0-9.]*)\Z")
TITAN = "torchtitan.train"
MODULES = ("torch.distributed.run", "torch.distributed.launch")


@dataclass(frozen=True)
class Launched:
    """A command: the options of its script, and of the launcher where they say so nodes and GPUs of each.   [count]"""

    options: Options
    nodes: int | None
    gpus_per_node: int | None

    @property
    def gpus(self) -> int | None:
        return None if self.gpus_per_node is None else (self.nodes or 1) * self.gpus_per_node


def launched(text: str) -> Launched:
    """A command line taken apart.

    >>> launched("torchrun --nnodes 2 --nproc-per-node=8 pretrain_gpt.py --bf16").gpus
    16
    """
    words = one_command(text)
    if words and words[0].startswith("--"):
        return Launched(options_of(words), None, None)
    script = next((place for place, word in enumerate(words) if word.endswith(".py")), None)
    if not words or not STARTERS.match(words[0].rpartition("/")[2]):
        rule = "the command must be torchrun, python -m torch.distributed.run or python, or only the arguments"
        raise Refusal("command", words[0] if words else None, rule, "torchrun")
    if TITAN in words:
        raise Refusal("command", TITAN, "its settings stand in the TOML file; paste that instead", "train.toml")
    if script is None:
        raise Refusal("command", " ".join(words[:4]), "the script is missing; name one", "pretrain_gpt.py")
    before = words[1:script]
    if words[0].rpartition("/")[2].startswith("python") and not _is_launcher(before):
        return Launched(options_of(words[script + 1 :]), None, None)
    return _of_torchrun(before, options_of(words[script + 1 :]))


def _is_launcher(words: list[str]) -> bool:
    """Whether Python is asked to run torchrun's module, which is then taken out of the words."""
    if words[:1] == ["-m"] and len(words) > 1:
        if words[1] not in MODULES:
            raise Refusal("python -m", words[1], f"must be {' or '.join(MODULES)}", MODULES[0])
        del words[:2]
        return True
    return False


def _of_torchrun(before: list[str], options: Options) -> Launched:
    """torchrun takes hyphens and underscores alike; `-m` in front of a script is no part of Megatron's lines."""
    named = [re.sub(r"\A(--?[\w-]+)", lambda match: match[1].replace("_", "-"), word) for word in before]
    own = options_of(named)
    standalone = own.flag("--standalone")
    nodes, processes = own.text("--nnodes"), own.text("--nproc-per-node")
    if processes in ("gpu", "auto", "cpu"):
        return Launched(options, None, None)
    count = None if nodes is None else whole_of("--nnodes", _fixed(nodes))
    each = None if processes is None else whole_of("--nproc-per-node", processes)
    return Launched(options, 1 if standalone else count, each)


def _fixed(nodes: str) -> str:
    """The number in --nnodes, where both ends of a range are the same."""
    low, colon, high = nodes.partition(":")
    if colon and low != high:
        raise Refusal("--nnodes", nodes, "a range of nodes has no one layout; give one number", high)
    return low
