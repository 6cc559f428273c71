"""Which token of a batch visits which experts, and so what each expert-parallel rank sends and receives.

Who goes where is scripted, by the skew that was asked for: a learned router would take many steps to become so uneven. How
much an expert's answer counts is learned.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.lens.routing import Routing, routed

TOP_K, BUSIEST = 2, 0


@dataclass(frozen=True)
class RankedRouting:
    """A routing, and ranks that hold equal parts of the tokens and of the experts."""

    routing: Routing
    ranks: int

    @property
    def experts_each(self) -> int:
        return self.routing.experts // self.ranks

    @property
    def tokens_each(self) -> int:
        return len(self.routing.choices) // self.ranks

    def experts_of(self, rank: int) -> range:
        return range(rank * self.experts_each, (rank + 1) * self.experts_each)

    def choices_of(self, rank: int) -> tuple[tuple[int, ...], ...]:
        """The experts of each of this rank's tokens."""
        return self.routing.choices[rank * self.tokens_each : (rank + 1) * self.tokens_each]

    def visits(self, source: int, target: int) -> list[int]:
        """Experts on one rank that tokens of another visit, lowest first, each as often as it is visited."""
        here = self.experts_of(target)
        return sorted(expert for chosen in self.choices_of(source) for expert in chosen if expert in here)

    def sent(self, rank: int) -> list[int]:
        """Visits from this rank's tokens to each rank."""
        return [len(self.visits(rank, target)) for target in range(self.ranks)]

    def received(self, rank: int) -> list[int]:
        """Visits from each rank's tokens to this rank."""
        return [len(self.visits(source, rank)) for source in range(self.ranks)]


def ranked_routing(params: Mapping[str, int | str], ranks: int) -> RankedRouting:
    """The routing that these knobs ask for.

    >>> even = ranked_routing({"batch": 2, "sequence": 8, "experts": 4, "skew": 100}, 2)
    >>> even.routing.loads, even.sent(0), even.received(0)
    ((8, 8, 8, 8), [7, 9], [7, 9])
    """
    tokens, skew = int(params["batch"]) * int(params["sequence"]), int(params["skew"]) / 100
    return RankedRouting(routed(tokens, int(params["experts"]), TOP_K, skew, BUSIEST), ranks)
