"""A lesson as slides for the stage: of each section its picture, its table, and what to say, without what one would press.

The last row reads forty words, not four hundred: the text stays in the lesson.
"""

import re
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from app.lessons.lesson import Lesson, rendered

MOST_WORDS = 45
MOST_ROWS = 7
SECTION = re.compile(r'<h2 id="[^"]*">(.*?)</h2>(.*?)(?=<h2 id=|\Z)', re.DOTALL)
PICTURE = re.compile(
    r'<figure class="figure lesson-(?:scene|plan)"[^>]*>(.*?)<figcaption>(.*?)</figcaption>', re.DOTALL
)
FORMULA = re.compile(
    r'<figure class="lesson-formula"[^>]*>\s*(<math.*?</math>)\s*<figcaption>(.*?)</figcaption>', re.DOTALL
)
LIST = re.compile(r"<(ol|ul)>(.*?)</\1>", re.DOTALL)
ITEM = re.compile(r"<li>(.*?)</li>", re.DOTALL)
TABLE = re.compile(r"<table\b.*?</table>", re.DOTALL)
NOTE = re.compile(r'<aside class="note[^"]*">\s*<h3>(.*?)</h3>(.*?)</aside>', re.DOTALL)
PARAGRAPH = re.compile(r"<p>(.*?)</p>", re.DOTALL)
SENTENCE = re.compile(r"(?<=[.?!])\s+")
SLIP = re.compile(r'<span class="term-slip".*?</span>', re.DOTALL)
LINKS = re.compile(r'\s*<a class="cite".*?</a>|<a [^>]*>play it</a>|</?(?:a|button)\b[^>]*>', re.DOTALL)


EMPTY = Markup("")


@dataclass(frozen=True)
class Slide:
    """One slide: the section's heading, and a picture, a formula, a table, a note or a few words below it."""

    title: Markup
    kind: Literal["picture", "formula", "list", "table", "note", "words"]
    body: Markup
    caption: Markup = EMPTY


def slides(lesson: Lesson) -> tuple[Slide, ...]:
    """The slides of a lesson, in its order."""
    html = still(str(rendered(lesson).html))
    return tuple(slide for title, body in SECTION.findall(html) for slide in _section(Markup(title), body))


def still(html: str) -> str:
    """The text without definitions, citations and links: a projector has no pointer.

    >>> still('by <a class="value" href="/x">5 GB</a> <a class="cite" href="/y">[2020]</a>')
    'by 5 GB'
    """
    return LINKS.sub("", SLIP.sub("", html))


def _section(title: Markup, body: str) -> list[Slide]:
    found = [Slide(title, "picture", Markup(drawing), Markup(words)) for drawing, words in PICTURE.findall(body)]
    found += [Slide(title, "formula", Markup(math), Markup(words)) for math, words in FORMULA.findall(body)]
    found += [
        Slide(title, "table", Markup(table)) for table in TABLE.findall(body) if table.count("<tr>") <= MOST_ROWS + 1
    ]
    found += [Slide(title, "list", Markup(_leads(kind, items))) for kind, items in LIST.findall(body)]
    found += [Slide(title, "note", Markup(words), Markup(name)) for name, words in NOTE.findall(body)]
    return found or [Slide(title, "words", Markup(f"<p>{_opening(body)}</p>"))]


def _leads(kind: str, items: str) -> str:
    """A list with the first sentence of each entry."""
    leads = [SENTENCE.split(item.strip(), maxsplit=1)[0] for item in ITEM.findall(items)]
    return f"<{kind}>{''.join(f'<li>{lead}</li>' for lead in leads)}</{kind}>"


def _opening(body: str) -> str:
    """The first sentences of a section, as many as the last row reads."""
    text = next((words for words in PARAGRAPH.findall(body)), "")
    kept: list[str] = []
    for sentence in SENTENCE.split(text):
        if kept and sum(len(each.split()) for each in (*kept, sentence)) > MOST_WORDS:
            break
        kept.append(sentence)
    whole = [
        sentence for sentence in kept if sentence.rstrip().endswith((".", "?", "!"))
    ]  # none that leads on to a list
    return " ".join(whole or kept)
