"""How what a GPU holds is written. The board counts in GB, powers of ten; only the memory of a GPU may be shown in GiB, as
tools print it. Which of the two is the reader's choice and no part of a plan, so it goes beside the numbers, not through them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from engine.language.units import GB, GIB, bytes_text, quantity_text

UNITS = {"GiB": GIB, "GB": GB}
_CHOSEN: ContextVar[str] = ContextVar("held_in", default="GiB")  # of one request: others beside it do not see it


def show_held_in(unit: str) -> None:
    """From here on, in this request, what a GPU holds is written in GiB or GB. Any other word leaves what was chosen."""
    if unit in UNITS:
        _CHOSEN.set(unit)


@contextmanager
def held_in(unit: str) -> Iterator[None]:
    """The same for a while."""
    token = _CHOSEN.set(unit)
    try:
        yield
    finally:
        _CHOSEN.reset(token)


def held_unit() -> tuple[str, float]:
    """The unit chosen, and its size.   [bytes]"""
    return _CHOSEN.get(), UNITS[_CHOSEN.get()]


def held_text(held_bytes: float) -> str:
    """Bytes that a GPU holds, in the unit chosen.

    >>> held_text(79.1 * 2**30)
    '79.1 GiB'
    >>> with held_in("GB"):
    ...     held_text(79.1 * 2**30)
    '84.9 GB'
    """
    return bytes_text(held_bytes, binary=_CHOSEN.get() == "GiB")


def told_text(value: float, unit: str, held: bool) -> str:
    """A value with its unit; bytes that are held, in the unit chosen.

    >>> told_text(2**30, "bytes", held=True), told_text(2**30, "bytes", held=False), told_text(4, "s", held=True)
    ('1 GiB', '1.07 GB', '4 s')
    """
    return held_text(value) if held and unit == "bytes" else quantity_text(value, unit)


def other_text(held_bytes: float, held: bool) -> str:
    """The same bytes in the unit that is not chosen; of what is not held, in binary units.

    >>> other_text(79.1 * 2**30, held=True)
    '84.9 GB'
    """
    return bytes_text(held_bytes, binary=not held or _CHOSEN.get() != "GiB")
