"""What variables of a shell text hold, and words with those values put in. Nothing outside of the text is looked up."""

import re
from dataclasses import dataclass, field

from engine.importing.shell.arithmetic import Undecided, reckoned
from engine.importing.shell.parts import DEEPEST, Part, Reader, Word, take_quoted
from engine.language.refusal import Refusal

LONGEST = 100_000  # characters that all values put in may make together
NAMED = re.compile(r"(?P<name>[A-Za-z_]\w*|[0-9@*#?!$-])(?:\[(?P<index>[@*]|[0-9]{1,4})\])?(?P<rest>.*)\Z", re.DOTALL)
USUAL = re.compile(r":?(?P<sign>[-=+?])(?P<text>.*)\Z", re.DOTALL)


@dataclass(frozen=True)
class Chunk:
    """A run of characters with the line it stands on.

    quoted    whether its blanks are no gaps between words
    unknown   why its value is not known; its text is then what stands there
    """

    text: str
    line: int
    quoted: bool = False
    unknown: str = ""


@dataclass(frozen=True)
class Said:
    """A word with all values put in: its text, its line, and why it is not wholly known."""

    text: str
    line: int
    unknown: str = ""


Text = tuple[Chunk, ...]
Value = tuple[Text, ...]  # of an array; a plain variable has one member


@dataclass
class Values:
    """The variables of a text, and how many characters they have made so far."""

    known: dict[str, Value] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)
    made: int = 0

    def text(self, name: str) -> str:
        """The value of a variable as plain text, or Undecided."""
        chunks = [chunk for text in self.known.get(name, ())[:1] for chunk in text]
        if name not in self.known or any(chunk.unknown for chunk in chunks):
            raise Undecided(f"{name} is not set in the text")
        return "".join(chunk.text for chunk in chunks)

    def words(self, word: Word) -> list[Said]:
        """A word with its values put in, split where unquoted blanks stand.

        >>> from engine.importing.shell.parts import statements_of
        >>> values = Values({"A": ((Chunk("--lr 1", 3),),)})
        >>> [said.text for said in values.words(statements_of("$A")[0].words[0])]
        ['--lr', '1']
        """
        return [said for text in self.fields(word) for said in _split(text)]

    def fields(self, word: Word) -> list[Text]:
        """A word with its values put in, not yet split; members of a quoted array stand apart."""
        found: list[list[Chunk]] = [[]]
        for part in word:
            first, *others = self._part(part, DEEPEST) or [()]
            found[-1] += first
            found += [list(text) for text in others]
        return [tuple(text) for text in found]

    def _part(self, part: Part, deep: int) -> list[Text]:
        made = self._made(part, deep)
        self.made += sum(len(chunk.text) + 1 for text in made for chunk in text)
        if self.made > LONGEST:
            raise Refusal(
                "text", part.text, f"line {part.line}: with its variables put in, the text is too long to read"
            )
        return made

    def _made(self, part: Part, deep: int) -> list[Text]:
        if part.kind == "text":
            return [(Chunk(part.text, part.line, part.quoted),)]
        if part.kind == "command":
            return [_unknown(part, part.text, "a command is not run; write its result")]
        if part.kind == "arithmetic":
            return [self._reckoned(part, deep)]
        if part.kind == "variable":
            return self._variable(part, deep)
        return [text for item in part.items for text in self.fields(item)]

    def _reckoned(self, part: Part, deep: int) -> Text:
        shown = f"$(({part.text}))"
        try:
            inner = "".join(chunk.text for chunk in self._inside(part, part.text, deep))
            return (Chunk(str(reckoned(inner, self.text)), part.line, part.quoted),)
        except Undecided as why:
            return _unknown(part, shown, str(why))

    def _inside(self, part: Part, text: str, deep: int) -> Text:
        """Text inside an expansion, its own expansions made."""
        if not deep:
            raise Refusal("text", text, f"line {part.line}: values stand in one another more than {DEEPEST} deep")
        reader = Reader(text, line=part.line)
        take_quoted(reader, part.line, end="")
        return tuple(chunk for each in reader.parts for made in self._part(each, deep - 1) for chunk in made)

    def _variable(self, part: Part, deep: int) -> list[Text]:
        found = NAMED.match(part.text)
        shown = f"${part.text}" if found and not found["rest"] and not found["index"] else f"${{{part.text}}}"
        if not found:
            return [_unknown(part, shown, "what it makes of the value is not reckoned")]
        value = self.known.get(found["name"])
        known = value is not None and not any(chunk.unknown for text in value for chunk in text)
        usual = USUAL.match(found["rest"]) if found["rest"] else None
        if found["rest"] and not usual:
            return [_unknown(part, shown, "what it makes of the value is not reckoned; write the value itself")]
        if usual:
            empty = not known or not any(chunk.text for text in value or () for chunk in text)
            if usual["sign"] == "+":
                return [] if empty else [self._again(part, usual["text"], deep)]
            if usual["sign"] in "-=" and empty:
                return [self._again(part, usual["text"], deep)]
        if value is None:
            why = self.unknown.get(found["name"], f"{found['name']} is not set in the text; write the value itself")
            return [_unknown(part, shown, why)]
        return self._member(part, value, found["index"])

    def _again(self, part: Part, text: str, deep: int) -> Text:
        """The text that stands where a variable has no value; quotes around it are no part of it."""
        bare = text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text
        return tuple(
            Chunk(chunk.text, chunk.line, part.quoted, chunk.unknown) for chunk in self._inside(part, bare, deep)
        )

    def _member(self, part: Part, value: Value, index: str | None) -> list[Text]:
        chosen = value if index in ("@", "*") else value[int(index or 0) :][:1]
        # unquoted, each member is split again; quoted, each is a word of its own
        as_quoted = [tuple(Chunk(c.text, c.line, part.quoted, c.unknown) for c in text) for text in chosen]
        return as_quoted or []


def _unknown(part: Part, shown: str, why: str) -> Text:
    return (Chunk(shown, part.line, part.quoted, f"{shown}: {why}"),)


def _split(text: Text) -> list[Said]:
    """The words of a text: unquoted blanks end one."""
    words: list[list[Chunk]] = [[]]
    for chunk in text:
        if chunk.quoted or chunk.unknown:
            words[-1].append(chunk)
            continue
        for piece in re.split(r"(\s+)", chunk.text):
            if piece.isspace():
                words.append([])
            elif piece:
                words[-1].append(Chunk(piece, chunk.line + 0))
    return [
        Said("".join(c.text for c in word), word[0].line, next((c.unknown for c in word if c.unknown), ""))
        for word in words
        if word
    ]
