"""A pasted command line as words. Nothing is run and nothing looked up: what a shell would do more than split is refused."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from engine.language.refusal import Refusal

MEANT = {
    "$": "a variable or a command in its place is not looked up; write the value itself",
    "`": "a command in backticks is not run; write its result",
    ";": "only one command is read; leave out what stands after it",
    "|": "pipes are not followed; leave out what stands after the command",
    "&": "only one command is read, in the foreground; leave out what stands after it",
    ">": "output is not redirected; leave out the file",
    "<": "no file is read; paste its contents",
    "(": "arrays and subshells are not read; paste the arguments themselves, and quote a pattern such as '([0]*3+[1]*58)'",
    ")": "arrays and subshells are not read; paste the arguments themselves, and quote a pattern such as '([0]*3+[1]*58)'",
}
ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
IN_QUOTES = "$`"  # what a shell does inside double quotes


@dataclass
class _Reader:
    """The text with the place that is read, the word that grows, and the line of words that it will join."""

    text: str
    at: int = 0
    word: list[str] = field(default_factory=list)
    begun: bool = False

    def done(self) -> bool:
        return self.at >= len(self.text)

    def next(self) -> str:
        self.at += 1
        return self.text[self.at - 1]

    def add(self, sign: str) -> None:
        self.word.append(sign)
        self.begun = True

    def finished(self) -> list[str]:
        """The word that has grown, in a list; none where there is none."""
        words = ["".join(self.word)] if self.begun else []
        self.word, self.begun = [], False
        return words


def lines_of(text: str) -> list[list[str]]:
    r"""The lines of a command as a shell would split them into words; a backslash joins a line to the next.

    >>> lines_of("torchrun --nnodes 2 \\\n  train.py  # the script\n")
    [['torchrun', '--nnodes', '2', 'train.py']]
    """
    reader, lines, line = _Reader(text.replace("\r\n", "\n")), [], []
    while not reader.done():
        sign = reader.next()
        if sign == "\n":
            lines.append(line + reader.finished())
            line = []
        elif sign.isspace():
            line += reader.finished()
        elif sign == "#" and not reader.begun:
            _skip_comment(reader)
        else:
            _part(reader, sign)
    return [words for words in [*lines, line + reader.finished()] if words]


def _skip_comment(reader: _Reader) -> None:
    end = reader.text.find("\n", reader.at)
    reader.at = len(reader.text) if end < 0 else end


def _part(reader: _Reader, sign: str) -> None:
    """One sign of a word, or all that stands in quotes."""
    if sign in "'\"":
        reader.begun = True
        _quoted(reader, sign)
    elif sign == "\\":
        following = "" if reader.done() else reader.next()
        if following and following != "\n":
            reader.add(following)
    elif sign in MEANT:
        raise _meant(reader, sign)
    else:
        reader.add(sign)


def _quoted(reader: _Reader, quote: str) -> None:
    start = reader.at
    while not reader.done():
        sign = reader.next()
        if sign == quote:
            return
        if quote == '"' and sign == "\\" and not reader.done():
            following = reader.next()
            sign = following if following in '"\\$`' else f"\\{following}" if following != "\n" else ""
        elif quote == '"' and sign in IN_QUOTES:
            raise _meant(reader, sign)
        reader.word.append(sign)
    raise Refusal("text", reader.text[start - 1 :], f"the quote {quote} is not closed; close it or leave it out")


def _meant(reader: _Reader, sign: str) -> Refusal:
    """The refusal of a sign that means something to a shell, with the words around it."""
    start = reader.text.rfind("\n", 0, reader.at) + 1
    before = reader.text[max(start, reader.at - 1 - 24) : reader.at - 1].lstrip()
    return Refusal("text", before + reader.text[reader.at - 1 : reader.at + 16].split("\n")[0], MEANT[sign])


def one_command(text: str) -> list[str]:
    """The words of the only command: settings of the environment in front of it are passed over.

    >>> one_command("export CUDA_DEVICE_MAX_CONNECTIONS=1\\nOMP_NUM_THREADS=8 python train.py\\n--bf16")
    ['python', 'train.py', '--bf16']
    """
    words: list[str] = []
    for line in lines_of(text):
        rest = list(_after_settings(line))
        if words and rest and not rest[0].startswith("--"):
            rule = "only one command is read, and arguments begin with --; end a line with a backslash where the next belongs to it"
            raise Refusal("text", " ".join(rest), rule)
        words += rest
    return words


def _after_settings(line: list[str]) -> Iterator[str]:
    begun = False
    given = line[1:] if line[0] in ("export", "env") and len(line) > 1 else line
    for word in given:
        begun = begun or not ASSIGNMENT.match(word)
        if begun:
            yield word
