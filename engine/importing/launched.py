"""What starts a pasted command: torchrun, DeepSpeed or Python, the script, and how many GPUs that makes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from engine.importing.imported import Remarks, Taken
from engine.importing.kinds import Kinds
from engine.importing.options import Options, options_of, whole_of
from engine.importing.shell.arithmetic import Undecided
from engine.importing.shell.script import Command, Script, sbatch, script_of
from engine.importing.shell.values import Said, Text
from engine.language.refusal import Refusal

STARTERS = re.compile(r"(torchrun|deepspeed|accelerate|python[0-9.]*)\Z")
WRAPPERS = {
    "srun",
    "mpirun",
    "mpiexec",
    "nohup",
    "exec",
    "sudo",
    "env",
    "numactl",
    "singularity",
    "apptainer",
    "eval",
    "nice",
    "stdbuf",
    "command",
    "timeout",
    "time",
    "bash",
    "sh",
}
SPEAKERS = {
    "echo",
    "printf",
    "cat",
    "ls",
    "mkdir",
    "cd",
    "source",
    ".",
    "cp",
    "rm",
    "set",
    "tee",
    "wget",
    "pip",
    "export",
}
TITAN = "torchtitan.train"
MODULES = ("torch.distributed.run", "torch.distributed.launch")
NODES = ("NNODES", "NUM_NODES", "NNODE", "N_NODES", "NODES", "SLURM_NNODES", "SLURM_JOB_NUM_NODES")
EACH = (
    "GPUS_PER_NODE",
    "NPROC_PER_NODE",
    "NUM_GPUS_PER_NODE",
    "N_GPUS_PER_NODE",
    "GPUS_PER_HOST",
    "SLURM_GPUS_ON_NODE",
)
OF_LAUNCHERS = Kinds(
    {"--nnodes": "gpus", "--nproc-per-node": "gpus", "--standalone": "gpus"},
    harmless=("--.*",),
    spellings={"--num-nodes": "--nnodes", "--num-gpus": "--nproc-per-node", "--num-machines": "--nnodes"},
)


@dataclass
class Launched:
    """A command: the options of its script, and nodes and GPUs of each where the text says so.   [count]"""

    options: Options
    nodes: int | None = None
    gpus_per_node: int | None = None
    world: int | None = None
    taken: list[Taken] = field(default_factory=list)

    @property
    def gpus(self) -> int | None:
        if self.gpus_per_node is None:
            return self.world
        return (self.nodes or 1) * self.gpus_per_node


def launched(text: str, kinds: Kinds, remarks: Remarks) -> Launched:
    """A command line, or a script with one in it, taken apart.

    >>> from engine.importing.megatron_kinds import KINDS
    >>> launched("NNODES=2\\ntorchrun --nnodes $NNODES --nproc-per-node=8 pretrain_gpt.py --bf16", KINDS, Remarks()).gpus
    16
    """
    script = script_of(text)
    command = _chosen(_joined(script.commands), script, kinds, remarks)
    remarks.unknown += script.notes
    before, after = _at_script(command.words)
    found = _started(before, options_of(after, kinds, remarks), remarks)
    _count_around(found, command, script, text)
    return found


def _joined(commands: Sequence[Command]) -> list[Command]:
    """Commands with the lines of bare options that follow them."""
    found: list[Command] = []
    for command in commands:
        if found and command.words[0].text.startswith("--") and command.certain == found[-1].certain:
            last = found[-1]
            found[-1] = Command((*last.words, *command.words), last.line, last.environment, last.certain)
        else:
            found.append(command)
    return found


def _chosen(commands: list[Command], script: Script, kinds: Kinds, remarks: Remarks) -> Command:
    """The command that starts the training: of several, the first that names most of what is read here."""
    starts = [each for each in (_bare(command) for command in commands) if each]
    if not starts:
        return _without_command(commands, script)
    sure = [each for each in starts if each.certain] or starts
    best = max(sure, key=lambda command: _known(command, kinds))
    for other in sure:
        if other is not best and _known(other, kinds):
            remarks.unknown.append(
                f"line {other.line}: a second command starts a script; only the one on line {best.line} is read"
            )
    return best


def _known(command: Command, kinds: Kinds) -> int:
    return sum("--" + word.text[2:].replace("_", "-").partition("=")[0] in kinds.acts for word in command.words)


def _bare(command: Command) -> Command | None:
    """A command without what it is wrapped in, if it starts a script or is made of options alone."""
    words = list(command.words)
    for _ in range(8):
        name = words[0].text.rpartition("/")[2] if words else "echo"
        if STARTERS.match(name) or name.startswith("--"):
            return Command(tuple(words), command.line, command.environment, command.certain)
        if name in SPEAKERS:
            return None
        if name not in WRAPPERS:
            break
        words = _inside(words[1:])
    place = next((at for at, word in enumerate(words) if word.text.endswith(".py")), None)
    if place is None or not any(word.text.startswith("--") for word in words[place:]):
        return None
    return Command((Said("python", words[0].line), *words[place:]), command.line, command.environment, command.certain)


def _inside(words: list[Said]) -> list[Said]:
    """What a wrapper starts: words in one string are taken apart."""
    for at, word in enumerate(words):
        if " " in word.text.strip() and re.search(r"(torchrun|deepspeed|python[0-9.]*)\s|\.py\s", word.text):
            return [Said(piece, word.line) for piece in word.text.split()] + words[at + 1 :]
        name = word.text.rpartition("/")[2]
        if STARTERS.match(name) or name in WRAPPERS or name.endswith(".py"):
            return words[at:]
    return []


def _without_command(commands: list[Command], script: Script) -> Command:
    """The options that variables of the text hold, where no command starts anything."""
    held = [value for value in script.values.known.values() if value and value[0] and _begins(value[0])]
    words = [
        Said("".join(chunk.text for chunk in text), text[0].line, next((c.unknown for c in text if c.unknown), ""))
        for value in held
        for text in value
        if text
    ]
    if not words:
        given = " ".join(word.text for word in commands[0].words) if commands else None
        rule = "no command here starts a script; it must be torchrun, deepspeed or python, or only the arguments"
        raise Refusal("command", given, rule, "torchrun")
    apart = [Said(piece, word.line, word.unknown) for word in words for piece in word.text.split()]
    return Command(tuple(apart), words[0].line, {}, certain=True)


def _begins(text: Text) -> bool:
    return "".join(chunk.text for chunk in text).lstrip().startswith("--")


def _at_script(words: Sequence[Said]) -> tuple[list[Said], list[Said]]:
    """The words up to the script, and those behind it."""
    if words[0].text.startswith("--"):
        return [], list(words)
    if any(word.text == TITAN for word in words):
        raise Refusal("command", TITAN, "its settings stand in the TOML file; paste that instead", "train.toml")
    place = next((at for at, word in enumerate(words) if word.text.endswith(".py")), None)
    if place is None:
        place = next(
            (at for at, word in enumerate(words) if at and word.unknown and not word.text.startswith("--")), None
        )
    if place is None:
        shown = " ".join(word.text for word in words[:4])
        raise Refusal("command", shown, "the script is missing; name one", "pretrain_gpt.py")
    return list(words[:place]), list(words[place + 1 :])


def _started(before: list[Said], options: Options, remarks: Remarks) -> Launched:
    name = before[0].text.rpartition("/")[2] if before else ""
    rest = before[1:]
    if name.startswith("python") and rest[:1] and rest[0].text == "-m":
        if len(rest) > 1 and rest[1].text not in MODULES:
            raise Refusal("python -m", rest[1].text, f"must be {' or '.join(MODULES)}", MODULES[0])
        rest = rest[2:]
    elif name.startswith("python") or not name:
        return Launched(options)
    if name == "accelerate":
        rest = rest[1:]
    own = options_of([word for word in rest if word.text.startswith("--") or not word.unknown], OF_LAUNCHERS, Remarks())
    found = Launched(options, _count(own, "--nnodes", remarks), _count(own, "--nproc-per-node", remarks))
    found.nodes = 1 if own.flag("--standalone") else found.nodes
    found.taken = [Taken(own.given[key].line, own.given[key].said, "gpus") for key in OF_LAUNCHERS.acts if key in own]
    return found


def _count(own: Options, name: str, remarks: Remarks) -> int | None:
    """A launcher's number of nodes or GPUs; None where it leaves that to the machine."""
    given = own.given.get(name)
    if given is None or given.values in (("gpu",), ("auto",), ("cpu",)):
        return None
    if given.unknown:
        remarks.unknown.append(f"line {given.line}: {given.said}: {given.unknown}")
        return None
    return whole_of(given.spelled, _fixed(given.spelled, own.text(name) or ""))


def _fixed(name: str, nodes: str) -> str:
    """The number in --nnodes, where both ends of a range are the same."""
    low, colon, high = nodes.partition(":")
    if colon and low != high:
        raise Refusal(name, nodes, "a range of nodes has no one layout; give one number", high)
    return low


def _count_around(found: Launched, command: Command, script: Script, text: str) -> None:
    """Nodes and GPUs that stand around the command: in front of it, in variables, in the lines for Slurm."""
    around = dict(_numbers(script, command.environment))
    asked = {name: said for name, said in sbatch(text).items() if re.fullmatch(r"[1-9][0-9]{0,6}", _last(said))}
    if found.nodes is None:
        found.nodes = _first(found, around, NODES) or _asked(found, asked, "--nodes")
    if found.gpus_per_node is None:
        found.gpus_per_node = _first(found, around, EACH) or next(
            (
                each
                for name in ("--gpus-per-node", "--gres", "--ntasks-per-node")
                if (each := _asked(found, asked, name))
            ),
            None,
        )
    if found.gpus_per_node is None:
        found.world = _first(found, around, ("WORLD_SIZE",))


def _numbers(script: Script, environment: Mapping[str, str]) -> Iterator[tuple[str, tuple[int, int]]]:
    for name in (*NODES, *EACH, "WORLD_SIZE"):
        try:
            value = environment[name] if name in environment else script.values.text(name)
        except Undecided:
            continue
        if re.fullmatch(r"[1-9][0-9]{0,6}", value):
            line = next((chunk.line for part in script.values.known.get(name, ()) for chunk in part), 1)
            yield name, (int(value), line)


def _first(found: Launched, around: Mapping[str, tuple[int, int]], names: Sequence[str]) -> int | None:
    name = next((name for name in names if name in around), None)
    if name is None:
        return None
    found.taken.append(Taken(around[name][1], f"{name}={around[name][0]}", "gpus"))
    return around[name][0]


def _last(said: Said) -> str:
    """The number of gpu:h100:8."""
    return said.text.rpartition(":")[2]


def _asked(found: Launched, asked: Mapping[str, Said], name: str) -> int | None:
    if name not in asked:
        return None
    found.taken.append(Taken(asked[name].line, f"#SBATCH {name}={asked[name].text}", "gpus"))
    return int(_last(asked[name]))
