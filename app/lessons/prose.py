"""Markdown whose figures are calls: Jinja puts a mark where a call stands, Markdown makes HTML, marks become what calls gave.

Markdown itself may hold no HTML. A blockquote is a sticky note: "> ### Title" names it, otherwise it is what to say at
the board; a title that begins with "Red flag" makes it a warning.
"""

import re
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError, Undefined
from jinja2.sandbox import SandboxedEnvironment
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup
from mdit_py_plugins.dollarmath import dollarmath_plugin

from app.web.render import mathml
from engine.language.formula import Value
from engine.language.refusal import Refusal

OPEN, CLOSE = "\ue000", "\ue001"  # private signs, which no text contains
MARK = re.compile(f"{OPEN}(\\d+){CLOSE}")
ENDED = re.compile(MARK.pattern + r"([.,;:!?)]*)")
ALONE = re.compile(f"<p>{OPEN}(\\d+){CLOSE}</p>")
SAY = "Say this at the board"


class ProseError(ValueError):
    """A text that cannot be shown: which file, which line, and why."""

    def __init__(self, file: str, line: int, why: str):
        self.file, self.line, self.why = file, line, why
        super().__init__(f"{file}, line {line}: {why}")


class Shown(str):
    """The mark of a call in a text. Given to another call it counts as its number, with its working."""

    number: "float | Value | None" = None


@dataclass
class Pieces:
    """What calls gave, by the number in their mark: as part of a sentence, and as a block of its own."""

    inline: list[str] = field(default_factory=list)
    block: list[str] = field(default_factory=list)

    def add(self, *, inline: str = "", block: str = "", number: "float | Value | None" = None) -> Shown:
        """Keep one piece and give its mark. A piece without `inline` must stand in a paragraph of its own."""
        shown = Shown(f"{OPEN}{len(self.inline)}{CLOSE}")
        shown.number = number
        self.inline.append(inline)
        self.block.append(block)
        return shown

    def filled(self, html: str) -> str:
        """The HTML with every mark replaced."""
        html = ALONE.sub(lambda match: self.block[int(match[1])] or match[0], html)
        return ENDED.sub(lambda match: self._inside(int(match[1]), match[2]), html)

    def _inside(self, number: int, stop: str) -> str:
        """A piece in a sentence with the stop after it: a line may not break between a button and its comma."""
        if not self.inline[number]:
            raise MisplacedBlock(number)
        kept = stop and self.inline[number].startswith("<button")
        return f'<span class="kept">{self.inline[number]}{stop}</span>' if kept else self.inline[number] + stop


class MisplacedBlock(ValueError):
    """A figure in the middle of a sentence."""


@dataclass(frozen=True)
class Heading:
    """A heading of the second level, for the list of contents."""

    anchor: str
    words: str


@dataclass(frozen=True)
class Prose:
    """A text made ready."""

    html: Markup
    headings: tuple[Heading, ...]


Calls = Mapping[str, Callable[..., object]]


@lru_cache(maxsize=1)
def _environment() -> SandboxedEnvironment:
    made = SandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=True, finalize=_from_a_call)
    made.globals.clear()
    return made


def _from_a_call(given: object) -> object:
    """Only what a call gave is printed: a number typed between braces is still a number typed."""
    if isinstance(given, Undefined):
        return given
    if not isinstance(given, Shown):
        raise TypeError(f"{given!r} is no call")
    return given


@lru_cache(maxsize=1)
def _markdown() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False}).enable("table")
    dollarmath_plugin(
        made,
        allow_labels=False,
        allow_space=False,
        allow_digits=False,
        renderer=lambda latex, options: mathml(latex, bool(options.get("display_mode"))),
    )
    made.add_render_rule("blockquote_open", _note_open)
    made.add_render_rule(
        "table_open",
        lambda *given: f'<div class="scroll-x" tabindex="0" role="group" aria-label="table">{_plain(*given)}',
    )
    made.add_render_rule("table_close", lambda *given: f"{_plain(*given)}</div>")
    return made


def _plain(renderer: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    return renderer.renderToken(tokens, at, options, env)


def _note_open(renderer: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    return _plain(renderer, tokens, at, options, env) + tokens[at].meta["title"]


def marked(text: str, calls: Calls, file: str, first_line: int = 1) -> str:
    """The text with a mark for each call: what is left was typed by hand.

    first_line   where the text begins in its file, for errors
    """
    name = f"<prose {file}>"
    try:
        code = _environment().compile(text, name=file, filename=name)
    except TemplateSyntaxError as error:
        raise ProseError(file, error.lineno + first_line - 1, str(error.message)) from None
    try:
        return _environment().template_class.from_code(_environment(), code, dict(calls)).render()
    except (TemplateError, Refusal, TypeError, ValueError, LookupError, ArithmeticError) as error:
        lines = [frame.lineno or 1 for frame in traceback.extract_tb(error.__traceback__) if frame.filename == name]
        raise ProseError(file, (lines[-1] if lines else 1) + first_line - 1, str(error)) from error


def prose(text: str, calls: Calls, pieces: Pieces, file: str, first_line: int = 1) -> Prose:
    """A whole text as HTML, with its headings."""
    with_marks = marked(text, calls, file, first_line)
    tokens = _markdown().parse(with_marks)
    headings = tuple(_prepare(tokens))
    html = _markdown().renderer.render(tokens, _markdown().options, {})
    try:
        return Prose(Markup(pieces.filled(html)), headings)
    except MisplacedBlock as error:
        before = with_marks.partition(f"{OPEN}{error.args[0]}{CLOSE}")[0]
        line = before.count("\n") + first_line
        raise ProseError(file, line, "a figure or an exercise needs a paragraph of its own") from None


def sentence(text: str, calls: Calls, pieces: Pieces, file: str) -> Markup:
    """A text of one paragraph, without the paragraph."""
    return Markup(pieces.filled(_markdown().renderInline(marked(text, calls, file))))


def _prepare(tokens: list[Token]) -> list[Heading]:
    """Give headings their anchors, notes and tables their classes; the headings of the second level are listed."""
    headings, inside_note = [], False
    for at, token in enumerate(tokens):
        if token.type == "blockquote_open":
            inside_note = True
            _make_note(token, tokens[at + 2] if tokens[at + 1].type == "heading_open" else None)
        elif token.type == "blockquote_close":
            inside_note, token.tag = False, "aside"
        elif token.type == "table_open":
            token.attrSet("class", "cell-table")
        elif token.type in ("th_open", "td_open") and token.attrs.pop("style", ""):
            token.attrSet("class", "number")  # a column aligned in any way is one of numbers
        elif token.type == "heading_open" and not inside_note:
            words = tokens[at + 1].content
            token.attrSet("id", anchor(words))
            if token.tag == "h2":
                headings.append(Heading(anchor(words), MARK.sub("", words)))
    return headings


def _make_note(token: Token, title: Token | None) -> None:
    """A blockquote becomes a sticky note with a title."""
    bad = title is not None and title.content.startswith("Red flag")
    token.tag = "aside"
    token.attrSet("class", f"note note-{'warning' if bad else 'advice'}")
    token.meta["title"] = "" if title else f"<h3>{SAY}</h3>\n"


def anchor(words: str) -> str:
    """A heading as an id.

    >>> anchor("ZeRO-3 pays one extra trip")
    'zero-3-pays-one-extra-trip'
    """
    return re.sub(r"[^a-z0-9]+", "-", MARK.sub("", words).lower()).strip("-") or "part"
