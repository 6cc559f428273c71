"""Shell text taken apart: statements of words, each word made of what stands as it is and of what has to be put in."""

import re
from dataclasses import dataclass, field
from typing import Literal

from engine.language.refusal import Refusal

Kind = Literal["text", "variable", "arithmetic", "command", "array"]
SEPARATORS = {"\n", ";", "&", "|"}
HEREDOC = re.compile(r"<<-?[ \t]*(['\"]?)([A-Za-z_]\w*)\1")
NAME = re.compile(r"[A-Za-z_]\w*|[0-9@*#?!$-]")
DEEPEST = 20  # expansions inside one another
BRACKETS = "brackets mean something to a shell; quote a pattern such as '([0]*3+[1]*58)'"


@dataclass(frozen=True)
class Part:
    """A piece of a word.

    text     itself; the name and what follows it of a variable; the inside of an arithmetic expression
    line     where it stands, counted from 1
    quoted   whether its blanks are no gaps between words
    items    the words of an array
    """

    kind: Kind
    text: str
    line: int
    quoted: bool = False
    items: "tuple[Word, ...]" = ()


Word = tuple[Part, ...]


@dataclass(frozen=True)
class Statement:
    """The words of one command, the line that it begins on, and the signs that stand before and behind it."""

    words: tuple[Word, ...]
    line: int
    before: str = ""
    behind: str = ""


@dataclass
class Reader:
    """The text, the place that is read and its line, the words that are finished, and the word that grows."""

    text: str
    at: int = 0
    line: int = 1
    words: list[Word] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    begun: int = 1
    before: str = ""

    def done(self) -> bool:
        return self.at >= len(self.text)

    def peek(self, more: int = 0) -> str:
        return self.text[self.at + more : self.at + more + 1]

    def next(self) -> str:
        sign = self.text[self.at]
        self.at += 1
        self.line += sign == "\n"
        return sign

    def add(self, kind: Kind, text: str, line: int, quoted: bool = False, items: tuple[Word, ...] = ()) -> None:
        if not self.parts and not self.words:
            self.begun = line
        last = self.parts[-1] if self.parts else None
        if kind == "text" and last and last.kind == "text" and (last.line, last.quoted) == (line, quoted):
            self.parts[-1] = Part("text", last.text + text, line, quoted)
        else:
            self.parts.append(Part(kind, text, line, quoted, items))

    def end_word(self) -> None:
        if self.parts:
            self.words.append(tuple(self.parts))
            self.parts = []

    def statement(self, behind: str = "") -> list[Statement]:
        self.end_word()
        words, self.words = tuple(self.words), []
        found = [Statement(words, self.begun, self.before, behind)] if words else []
        if words or behind not in ("\n", ""):
            self.before = behind
        return found

    def until(self, end: str, begun: int, opening: str = "") -> str:
        """What stands before a closing sign, others of its kind inside it passed over."""
        start, depth = self.at, 1
        while not self.done():
            if opening and self.text.startswith(opening, self.at):
                depth += 1
            elif self.text.startswith(end, self.at):
                depth -= 1
                if not depth:
                    inside = self.text[start : self.at]
                    for _ in end:
                        self.next()
                    return inside
            self.next()
        what = (
            f"the quote {end} is not closed; close it or leave it out"
            if end in "'`"
            else f"{end} is missing after this"
        )
        raise Refusal("text", self.text[max(0, start - 1) : start + 40], f"line {begun}: {what}")


def statements_of(text: str) -> list[Statement]:
    r"""The statements of shell text.

    >>> [len(statement.words) for statement in statements_of("A=8 # eight\ntorchrun --nnodes 2 \\\n  train.py; exit")]
    [1, 4, 1]
    """
    reader, found = Reader(text.replace("\r\n", "\n")), list[Statement]()
    heredocs: list[str] = []
    while not reader.done():
        sign, line = reader.peek(), reader.line
        if sign in SEPARATORS or (sign == ")" and not reader.parts):
            reader.next()
            found += reader.statement(sign + reader.next() if sign == reader.peek() and sign in "&|" else sign)
            if sign == "\n":
                for name in heredocs:
                    _skip_heredoc(reader, name)
                heredocs = []
        elif sign.isspace():
            reader.next()
            reader.end_word()
        elif sign == "#" and not reader.parts:
            _skip_comment(reader)
        elif sign in "<>":
            heredocs += _redirected(reader)
        elif sign in "()":
            found += _bracket(reader, line)
        else:
            take_part(reader)
    return found + reader.statement()


def _skip_comment(reader: Reader) -> None:
    while not reader.done() and reader.peek() != "\n":
        reader.next()


def _skip_heredoc(reader: Reader, name: str) -> None:
    while not reader.done():
        end = reader.text.find("\n", reader.at)
        line = reader.text[reader.at : end if end >= 0 else len(reader.text)]
        while not reader.done() and reader.next() != "\n":
            pass
        if line.strip() == name:
            return


def _redirected(reader: Reader) -> list[str]:
    """Passes over where output goes or input comes from; the names of here-documents that begin."""
    if found := HEREDOC.match(reader.text, reader.at):
        for _ in found[0]:
            reader.next()
        return [found[2]]
    if reader.parts and all(part.kind == "text" and part.text in ("1", "2") for part in reader.parts):
        reader.parts = []
    reader.end_word()
    while reader.peek() in ("<", ">", "&", "|", " ", "\t") and not reader.done():
        reader.next()
    kept, reader.parts = reader.parts, []
    while not reader.done() and not reader.peek().isspace() and reader.peek() not in ";|&()<>":
        take_part(reader)
    reader.parts = kept
    return []


def _bracket(reader: Reader, line: int) -> list[Statement]:
    """An array, a function's head, arithmetic by itself, or a group of commands."""
    sign = reader.next()
    last = reader.parts[-1] if reader.parts else None
    if sign == "(" and last and last.kind == "text" and re.fullmatch(r"[A-Za-z_]\w*\+?=", last.text):
        reader.add("array", "", line, items=_items(reader, line))
        return []
    if sign == "(" and reader.peek() == "(" and not reader.words and not reader.parts:
        reader.next()
        _arithmetic(reader, line)
        return []
    if sign == "(" and any(part.text.startswith("--") for word in reader.words for part in word[:1]):
        around = reader.text[max(0, reader.at - 24) : reader.at + 16].split("\n")[0]
        raise Refusal("text", around, f"line {line}: {BRACKETS}")
    if sign == "(" and reader.peek() == ")" and last:
        reader.next()
        reader.add("text", "()", line)
        return []
    return reader.statement()


def _items(reader: Reader, begun: int) -> tuple[Word, ...]:
    """The words of an array, up to its closing bracket."""
    outer, reader.words, kept = reader.words, [], reader.parts
    reader.parts = []
    while not reader.done():
        sign = reader.peek()
        if sign == ")":
            reader.next()
            reader.end_word()
            items, reader.words, reader.parts = tuple(reader.words), outer, kept
            return items
        if sign.isspace():
            reader.next()
            reader.end_word()
        elif sign == "#" and not reader.parts:
            _skip_comment(reader)
        elif sign == "(":
            around = reader.text[max(0, reader.at - 24) : reader.at + 16].split("\n")[0]
            raise Refusal("text", around, f"line {reader.line}: {BRACKETS}")
        else:
            take_part(reader)
    raise Refusal("text", None, f"line {begun}: the array that begins here is not closed; close it with a bracket")


def take_part(reader: Reader) -> None:
    """One sign of a word, or all that stands in quotes, or one expansion."""
    line, sign = reader.line, reader.next()
    if sign == "'":
        _lines(reader, reader.until("'", line), line, quoted=True)
    elif sign == '"':
        take_quoted(reader, line)
    elif sign == "\\":
        if not reader.done() and (following := reader.next()) != "\n":
            reader.add("text", following, line, quoted=True)
    elif sign in "$`":
        _expansion(reader, sign, line, quoted=False)
    else:
        reader.add("text", sign, line)


def _lines(reader: Reader, text: str, line: int, quoted: bool) -> None:
    """Text of several lines, a part for each, so that each knows where it stands."""
    for number, each in enumerate(text.split("\n")):
        reader.add("text", ("\n" if number else "") + each, line + number, quoted)


def take_quoted(reader: Reader, begun: int, end: str = '"') -> None:
    """What stands in double quotes; an empty end takes all there is."""
    reader.add("text", "", begun, quoted=True)
    while not reader.done():
        line, sign = reader.line, reader.next()
        if sign == end:
            return
        if sign == "\\" and not reader.done():
            following = reader.next()
            if following != "\n":
                reader.add("text", following if following in '"\\$`' else f"\\{following}", line, quoted=True)
        elif sign in "$`":
            _expansion(reader, sign, line, quoted=True)
        else:
            reader.add("text", sign, line, quoted=True)
    if end:
        raise Refusal(
            "text", reader.text[-40:], f"line {begun}: the quote {end} is not closed; close it or leave it out"
        )


def _arithmetic(reader: Reader, line: int) -> str:
    """What stands between the two pairs of brackets."""
    inside = reader.until(")", line, "(")
    reader.until(")", line)
    return inside


def _expansion(reader: Reader, sign: str, line: int, quoted: bool) -> None:
    """What begins with a dollar sign or a backtick."""
    if sign == "`":
        reader.add("command", f"`{reader.until('`', line)}`", line, quoted)
    elif reader.text.startswith("((", reader.at):
        reader.at += 2
        reader.add("arithmetic", _arithmetic(reader, line), line, quoted)
    elif reader.peek() == "(":
        reader.next()
        reader.add("command", f"$({reader.until(')', line, '(')})", line, quoted)
    elif reader.peek() == "{":
        reader.next()
        reader.add("variable", reader.until("}", line, "{"), line, quoted)
    elif found := NAME.match(reader.text, reader.at):
        reader.at = found.end()
        reader.add("variable", found[0], line, quoted)
    else:
        reader.add("text", "$", line, quoted)
