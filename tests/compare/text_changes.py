"""What changed between two texts or two pages: the lines that differ, those around them left out."""

import re
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from html import unescape

Found = tuple[str, str]  # lines that went, lines that came
MOST_PLACES = 40  # of one answer: a page that differs everywhere is one place
MOST_LINES, MOST_CHARACTERS = 8, 400
MOST_WORK = 4_000_000  # pairs of lines that are compared; beyond, lines are only counted
TAG = re.compile(r"(<[^>]*>)")
ATTRIBUTE = re.compile(r"[^\s=\"/]+(?:\s*=\s*\"[^\"]*\")?")


def html_changes(old: str, new: str) -> Iterator[Found]:
    """Places where two pages differ: each tag and each text between tags is a line.

    A browser reads the same whatever the order of attributes, the white space between them, and the way a sign is escaped.

    >>> list(html_changes("<p>two <b>GPUs</b></p>", "<p>three <b>GPUs</b></p>"))
    [('two', 'three')]
    >>> list(html_changes('<i a="1" b>it&#39;s</i>', '<i b a="1" >it\\'s</i>'))
    []
    """
    return _changes(*([line for part in TAG.split(page) if (line := _line(part))] for page in (old, new)))


def text_changes(old: str, new: str) -> Iterator[Found]:
    """Places where two texts differ.

    >>> list(text_changes("a\\nb\\nc", "a\\nx\\nc"))
    [('b', 'x')]
    """
    return _changes(old.splitlines(keepends=True), new.splitlines(keepends=True))


def _line(part: str) -> str:
    """A tag with its attributes in the order of the alphabet, or a text as it is shown."""
    name, _, rest = " ".join(part.strip("<>").split()).partition(" ")
    if part.startswith("<") and rest and not part.startswith("<!"):
        attributes = sorted(" ".join(each.split()) for each in ATTRIBUTE.findall(part[1 + len(name) : -1]))
        return unescape(f"<{name.strip()} {' '.join(attributes)}>")
    return unescape(" ".join(part.split()))


def _changes(old: list[str], new: list[str]) -> Iterator[Found]:
    start = next(
        (place for place, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), min(len(old), len(new))
    )
    old, new = old[start:], new[start:]
    pairs = zip(reversed(old), reversed(new), strict=False)
    end = next((place for place, pair in enumerate(pairs) if pair[0] != pair[1]), min(len(old), len(new)))
    old, new = old[: len(old) - end], new[: len(new) - end]
    if not old and not new:
        return
    if len(old) * len(new) > MOST_WORK:
        gone, come = Counter(old) - Counter(new), Counter(new) - Counter(old)
        yield _text(list(gone)), _text(list(come))
        return
    places = [each for each in SequenceMatcher(None, old, new, autojunk=False).get_opcodes() if each[0] != "equal"]
    for _, a, b, c, d in places[:MOST_PLACES]:
        yield _text(old[a:b]), _text(new[c:d])
    if len(places) > MOST_PLACES:
        yield f"more than {MOST_PLACES} places", f"more than {MOST_PLACES} places"


def _text(lines: list[str]) -> str:
    """The lines as one text, the first few of many."""
    shown = "\n".join(line.rstrip("\r\n") for line in lines[:MOST_LINES])
    more = f"\n… {len(lines)} lines" if len(lines) > MOST_LINES else ""
    return (shown if len(shown) <= MOST_CHARACTERS else shown[:MOST_CHARACTERS] + " …") + more
