"""Plans that were pinned, side by side: what differs between them, and what each answers.

A pin is a plan's query, and beside it the version that answered and what it answered then. All of it is in the address.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import parse_qsl, urlencode

from app import __version__
from app.plan.form import FIELDS, document_of, query_of, state_of
from engine.estimate import Estimate, estimate
from engine.language.formula import Value
from engine.language.held import told_text
from engine.language.refusal import Refusal
from engine.layout.simplicity import layout_name
from engine.scenario import scenario_from
from engine.step.parts import share_of_step

PARTS = ("plan", "was")  # of a pin in an address
MOST = 6  # columns that a screen carries
APART = "~"
SHARES: dict[str, str] = {"share of peak": "share", "share of the step": "share"}  # of what, the row says
SAME = 5e-6  # relative: pins keep six digits


@dataclass(frozen=True)
class Result:
    """A number that pinned plans are compared by.

    less   whether less of it is better
    held   bytes that a GPU holds, in the unit that the reader chose
    """

    name: str
    label: str
    of: Callable[[Estimate], Value]
    less: bool = True
    held: bool = False

    def text(self, value: float, unit: str) -> str:
        return told_text(value, SHARES.get(unit, unit), self.held)


RESULTS = (
    Result("step", "one step", lambda found: found.step.seconds),
    Result("mfu", "MFU, causal", lambda found: found.mfu.causal, less=False),
    Result("memory", "needs per GPU", lambda found: found.fullest.needed, held=True),
    Result(
        "bubble", "bubble", lambda found: share_of_step.explain("bubble", x=found.step.bubble, s=found.step.seconds)
    ),
    Result("days", "days", lambda found: found.training.days),
    Result("usd", "price", lambda found: found.training.usd),
)


@dataclass(frozen=True)
class Pin:
    """One plan.

    query   of the planner
    was     the version that answered when it was pinned, and its numbers in the order of RESULTS; empty if not said
    """

    query: str
    was: str = ""

    @cached_property
    def state(self) -> dict[str, str]:
        return state_of(dict(parse_qsl(self.query)))

    @cached_property
    def _found(self) -> Estimate | Refusal:
        try:
            return estimate(scenario_from(document_of(self.state)))
        except Refusal as refusal:
            return refusal

    @property
    def estimate(self) -> Estimate | None:
        return self._found if isinstance(self._found, Estimate) else None

    @property
    def refusal(self) -> str:
        """Why it has no meaning; nothing if it has one."""
        return self._found.sentence if isinstance(self._found, Refusal) else ""

    @property
    def name(self) -> str:
        return layout_name(self.estimate.scenario.layout) if self.estimate else "no plan"

    @cached_property
    def version(self) -> str:
        return self.was.partition(APART)[0]

    @cached_property
    def then(self) -> tuple[float, ...]:
        """The numbers it had when it was pinned; none where the address does not say them."""
        try:
            numbers = tuple(float(text) for text in self.was.split(APART)[1:])
        except ValueError:
            return ()
        return numbers if len(numbers) == len(RESULTS) else ()

    def value(self, result: Result) -> Value | None:
        return result.of(self.estimate) if self.estimate else None

    def moved(self, result: Result) -> str:
        """What this number was when the plan was pinned, where it is another now."""
        now = self.value(result)
        if now is None or not self.then:
            return ""
        then = self.then[RESULTS.index(result)]
        if abs(now.value - then) <= SAME * max(abs(then), abs(now.value)):
            return ""
        return f"was {result.text(then, now.unit)} with {self.version}"

    def text(self, result: Result) -> str:
        """This number as it is now."""
        value = self.value(result)
        return result.text(value.value, value.unit) if value else "–"


def pin_of(query: str, found: Estimate) -> Pin:
    """A plan as it is pinned now: with this version, and what it answers.

    >>> from app.plan.form import query_of, state_of
    >>> found = estimate(scenario_from(document_of(state_of({}))))
    >>> pin_of("", found).moved(RESULTS[0])
    ''
    """
    numbers = (f"{result.of(found).value:.6g}" for result in RESULTS)
    return Pin(query, APART.join((__version__, *numbers)))


def address_of(pins: Sequence[Pin]) -> str:
    """The page of these pins."""
    return f"/plan/pins?{query_text(pins)}" if pins else "/plan/pins"


def query_text(pins: Sequence[Pin]) -> str:
    return urlencode([pair for pin in pins for pair in zip(PARTS, (pin.query, pin.was), strict=True)])


@dataclass(frozen=True)
class Row:
    """One line of the table: a label, and what each plan has there.

    differs   which of them are not as the first
    """

    label: str
    texts: tuple[str, ...]
    differs: tuple[bool, ...]


@dataclass(frozen=True)
class Pins:
    """Plans side by side, the first what the others are held against."""

    pins: tuple[Pin, ...]

    @classmethod
    def of(cls, given: Sequence[tuple[str, str]]) -> "Pins":
        """The pins of an address: each `plan` with the `was` that follows it."""
        pins: list[Pin] = []
        for name, text in given:
            if name == PARTS[0]:
                pins.append(Pin(query_of(state_of(dict(parse_qsl(text))))))
            elif name == PARTS[1] and pins:
                pins[-1] = Pin(pins[-1].query, text[:200])
        if len(pins) > MOST:
            raise Refusal("plan", len(pins), f"at most {MOST} plans stand side by side", str(MOST))
        return cls(tuple(pins))

    def without(self, pin: Pin) -> str:
        return address_of([each for each in self.pins if each is not pin])

    @property
    def rows(self) -> tuple[Row, ...]:
        """The fields in which the plans differ."""
        every = (self._row(field.label, [pin.state[name] for pin in self.pins]) for name, field in FIELDS.items())
        return tuple(row for row in every if any(row.differs))

    def _row(self, label: str, texts: list[str]) -> Row:
        shown = tuple(text if len(text) < 40 else "a pasted file" for text in texts)
        return Row(label, shown, tuple(text != texts[0] for text in texts))

    def against_first(self, pin: Pin, result: Result) -> tuple[str, str]:
        """How far this plan's number is from the first one's, and "good" or "bad"; nothing where they are the same."""
        first, value = self.pins[0].value(result), pin.value(result)
        if first is None or value is None or abs(value.value - first.value) <= SAME * abs(first.value):
            return "", ""
        away = value.value - first.value
        text = f"{100 * abs(away):.1f} points" if value.unit in SHARES else result.text(abs(away), value.unit)
        return f"{'+' if away > 0 else '−'}{text}", "good" if (away < 0) == result.less else "bad"
