"""A shell script followed as far as its text decides: variables, arrays and the commands that stand in it. Nothing is run."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from engine.importing.shell.conditions import decided
from engine.importing.shell.parts import Part, Statement, Word, statements_of
from engine.importing.shell.values import Chunk, Said, Text, Value, Values

SETS = re.compile(r"(?P<name>[A-Za-z_]\w*)(?P<adds>\+?)=(?P<text>.*)\Z", re.DOTALL)
DECLARES = ("export", "declare", "local", "readonly", "typeset")
OPENS = {"if": "fi", "for": "done", "while": "done", "until": "done", "case": "esac", "select": "done"}
CLOSES = {"fi", "done", "esac", "}"}
SBATCH = re.compile(r"^#SBATCH[ \t]+(--[\w-]+|-[A-Za-z])[ \t=]*(\S+)?", re.MULTILINE)
SLURM = {  # what Slurm sets in the environment of a job
    "nodes": ("SLURM_NNODES", "SLURM_JOB_NUM_NODES"),
    "each": ("SLURM_GPUS_ON_NODE", "SLURM_GPUS_PER_NODE"),
}


@dataclass(frozen=True)
class Command:
    """A command with all values put in, what is set in front of it, and whether the text decides that it is reached."""

    words: tuple[Said, ...]
    line: int
    environment: dict[str, str]
    certain: bool


@dataclass(frozen=True)
class Setting:
    """What sets a variable: whether it adds to what is there, and whether it is an array that does."""

    name: str
    adds: bool
    value: Value
    array: bool = False


@dataclass
class Block:
    """A block that is open: what kind, whether it is gone through (None: the text does not decide), and if any branch was."""

    kind: str
    taken: bool | None
    any_taken: bool | None = False
    note: str = ""


@dataclass
class Script:
    """What a text sets and the commands in it."""

    values: Values = field(default_factory=Values)
    commands: list[Command] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)

    @property
    def state(self) -> bool | None:
        """Whether the place that is read is reached; None where the text does not decide."""
        states = [block.taken for block in self.blocks]
        return False if False in states else None if None in states else True


def script_of(text: str) -> Script:
    """A text followed from its first line to its last.

    >>> [said.text for said in script_of("A=8\\nARGS=(--x $A)\\nARGS+=(--y $((A*2)))\\nrun ${ARGS[@]}").commands[0].words]
    ['run', '--x', '8', '--y', '16']
    """
    script = Script()
    for name, value in _of_slurm(text):
        script.values.known[name] = ((Chunk(value, 1),),)
    for statement in statements_of(text):
        _follow(script, statement)
    return script


def sbatch(text: str) -> dict[str, Said]:
    """The settings of a Slurm job that stand in comments, by their long names.

    >>> sbatch("#!/bin/sh\\n#SBATCH -N 4")
    {'--nodes': Said(text='4', line=2, unknown='')}
    """
    short = {"-N": "--nodes", "-n": "--ntasks", "-G": "--gpus"}
    found: dict[str, Said] = {}
    for match in SBATCH.finditer(text):
        name, value = match[1], match[2] or ""
        found[short.get(name, name)] = Said(value, text.count("\n", 0, match.start()) + 1)
    return found


def _of_slurm(text: str) -> Iterator[tuple[str, str]]:
    asked = sbatch(text)
    for what, names in (("nodes", ("--nodes",)), ("each", ("--gpus-per-node", "--gres", "--ntasks-per-node"))):
        said = next((asked[name].text.rpartition(":")[2] for name in names if name in asked), "")
        if re.fullmatch(r"[0-9]{1,7}", said):
            yield from ((name, said) for name in SLURM[what])


def _plain(word: Word) -> str:
    """The text of a word without expansions; nothing where it has some."""
    return "".join(part.text for part in word) if all(part.kind == "text" for part in word) else ""


def _follow(script: Script, statement: Statement) -> None:
    words = list(statement.words)
    while words:
        first = _plain(words[0])
        if first in ("then", "do", "!", "time", "{"):
            if first == "{" and not (script.blocks and script.blocks[-1].kind == "head"):
                script.blocks.append(Block("}", True))
            elif first == "{":
                script.blocks[-1].kind = "}"
            words = words[1:]
        elif first in ("if", "elif", "else"):
            words = _branch(script, first, words[1:], statement)
        elif first in OPENS:
            script.blocks.append(Block(OPENS[first], None))
            words = []
        elif first in CLOSES:
            if script.blocks:
                script.blocks.pop()
            words = words[1:]
        else:
            _plain_statement(script, words, statement)
            words = []


def _branch(script: Script, word: str, test: list[Word], statement: Statement) -> list[Word]:
    """Opens a branch of an `if`; gives what stands behind `else` on its line."""
    if word == "if":
        script.blocks.append(Block("fi", False))
    block = script.blocks[-1] if script.blocks and script.blocks[-1].kind == "fi" else Block("fi", False)
    if word == "else":
        block.taken = None if block.any_taken is None else not block.any_taken
        return test
    answer = _answer(script, test, statement.behind) if block.any_taken is False else (block.any_taken and False)
    shown = " ".join(_shown(each) for each in test)[:60]
    block.note = f"line {statement.line}: whether `{shown}` holds is not decided by the text"
    block.taken = answer
    block.any_taken = True if True in (answer, block.any_taken) else None if answer is None else block.any_taken
    return []


def _shown(word: Word) -> str:
    return "".join(f"${part.text}" if part.kind == "variable" else part.text for part in word)


def _answer(script: Script, test: list[Word], behind: str) -> bool | None:
    """Whether a test holds; of several in a row the first decides, or none does."""
    said = [_whole(text) for word in test for text in script.values.fields(word)]
    answer = None if any(each.unknown for each in said) else decided([each.text for each in said])
    return None if (behind, answer) in (("&&", True), ("||", False)) else answer


def _whole(text: Text) -> Said:
    """A word that is not split."""
    unknown = next((chunk.unknown for chunk in text if chunk.unknown), "")
    return Said("".join(chunk.text for chunk in text), text[0].line if text else 0, unknown)


def _plain_statement(script: Script, words: list[Word], statement: Statement) -> None:
    """Settings, or a command with settings in front of it."""
    if any(_plain(word).endswith("()") for word in words[:2]) or _plain(words[0]) == "function":
        script.blocks.append(Block("}" if _plain(words[-1]) == "{" else "head", None))
        return
    if script.state is False:
        return
    declares = _plain(words[0]) in DECLARES
    rest = [word for word in words[1:] if not _plain(word).startswith("-")] if declares else words
    state = None if statement.before in ("&&", "||") else script.state
    alone = declares or all(_sets(word) for word in rest)
    environment: dict[str, str] = {}
    while rest and (setting := _setting(script, rest[0])):
        rest = rest[1:]
        if alone:
            _set(script, setting, state, statement.line)
        elif setting.value:
            environment[setting.name] = _whole(setting.value[0]).text
    if alone:
        return
    said = [each for word in rest for each in _said(script, word)]
    if said:
        script.commands.append(Command(tuple(said), statement.line, environment, script.state is True))


def _said(script: Script, word: Word) -> list[Said]:
    """A word of a command, split; one in quotes is kept whole."""
    if any(part.quoted for part in word):
        return [_whole(text) for text in script.values.fields(word) if text]
    return script.values.words(word)


def _sets(word: Word) -> re.Match[str] | None:
    """The name that a word sets, with what stands before its value."""
    return SETS.match(word[0].text) if word[0].kind == "text" and not word[0].quoted else None


def _setting(script: Script, word: Word) -> Setting | None:
    first, found = word[0], _sets(word)
    if not found:
        return None
    adds = bool(found["adds"])
    if len(word) == 2 and word[1].kind == "array":
        return Setting(
            found["name"], adds, tuple(text for text in script.values.fields((word[1],)) if text), array=True
        )
    rest = (Part("text", found["text"], first.line, True), *word[1:])
    text = tuple(chunk for each in script.values.fields(rest) for chunk in each)
    return Setting(found["name"], adds, (text,))


def _set(script: Script, setting: Setting, state: bool | None, line: int) -> None:
    known, name = script.values.known, setting.name
    if state is None:
        # what it would become is not decided: what it was stays, and whoever finds nothing is told why
        why = next((block.note for block in reversed(script.blocks) if block.note), "")
        if why:
            script.notes[f"{why}, so what it sets there, {name}, is left as it was"] = None
        script.values.unknown.setdefault(name, f"{name} is set on line {line}, under what the text does not decide")
    elif not setting.adds or name not in known:
        known[name] = setting.value
    elif setting.array:
        known[name] = (*known[name], *setting.value)
    else:
        first, *others = known[name] or ((),)
        known[name] = ((*first, *setting.value[0]), *others)
