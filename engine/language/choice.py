"""One of a few names: looked up in its family, or refused in a sentence that names the one most like it."""

import difflib
from collections.abc import Iterable, Mapping
from typing import TypeVar

from engine.language.refusal import Refusal

Member = TypeVar("Member")
LONGEST = 80  # characters of a name nobody knows that are read at all


def choose(
    field: str, given: object, family: Mapping[str, Member], rule: str = "must be one of {names}", code: str = "invalid"
) -> Member:
    """The member of a family with this name, or a Refusal.

    field   where the name stands, dotted
    rule    said of a name that is none of them; `{names}` stands for all there are

    >>> choose("cut", "whole", {"whole": 1, "split": 2})
    1
    >>> choose("cut", "hole", {"whole": 1, "split": 2})
    Traceback (most recent call last):
    engine.language.refusal.Refusal: cut = hole: must be one of whole, split; the nearest that works: whole
    """
    return family[one_of(field, given, family, rule, code)]


def one_of(
    field: str, given: object, names: Iterable[str], rule: str = "must be one of {names}", code: str = "invalid"
) -> str:
    """The name itself, if it is one of these.

    >>> one_of("axis", "tp", ("tp", "dp"))
    'tp'
    """
    known = list(names)
    if isinstance(given, str) and given in known:
        return given
    raise Refusal(field, given, rule.replace("{names}", ", ".join(known)), nearest(given, known), code)


def strangers(given: Mapping[str, object], known: Iterable[str], rule: str) -> list[Refusal]:
    """A Refusal for each name in what was given that nobody knows.

    >>> [str(refusal) for refusal in strangers({"tpp": 8}, ("tp", "dp"), "known are {names}")]
    ['tpp = 8: known are tp, dp; the nearest that works: tp']
    """
    names = list(known)
    told = rule.replace("{names}", ", ".join(names))
    return [
        Refusal(str(name)[:LONGEST], value, told, nearest(name, names))
        for name, value in given.items()
        if name not in names
    ]


def nearest(name: object, names: Iterable[str]) -> str | None:
    """The known name most like the one given, if any is close."""
    close = difflib.get_close_matches(str(name)[:LONGEST], list(names), n=1, cutoff=0.5)
    return close[0] if close else None
