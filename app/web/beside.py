"""Refusals dealt out: each to the control it is about, the rest to the page."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from engine.language.refusal import Refusal


@dataclass(frozen=True)
class Said:
    """What is wrong with what was asked.

    beside   control -> what stands under it, which shows its own name and value
    page     sentences about none of them
    """

    beside: Mapping[str, str] = field(default_factory=dict)
    page: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        return (*self.page, *self.beside.values())


def dealt(
    refusal: Refusal | None,
    controls: Iterable[str],
    place: Callable[[Refusal], str] = lambda each: each.field,
    holding: Iterable[str] = (),
) -> Said:
    """Every sentence of a refusal where it belongs; the first one wins where a control has two.

    place     which control a refusal is about
    holding   controls that hold a whole document: what is said of a key inside names the key

    >>> dealt(Refusal("tp", 6, "must divide the 64 heads", "8"), ["tp", "pp"])
    Said(beside={'tp': 'must divide the 64 heads; the nearest that works: 8'}, page=())
    """
    known, whole = set(controls), set(holding)
    beside: dict[str, str] = {}
    page: dict[str, None] = {}
    for each in refusal.all if refusal else ():
        if (name := place(each)) in known:
            beside.setdefault(name, each.sentence if each.value is None or name in whole else each.advice)
        else:
            page[each.sentence] = None
    return Said(beside, tuple(page))
