"""A formula is written once and has three readings: a number, an array, and its own explanation.

    @formula(r"\\frac{<p>-1}{<m>+<p>-1}", unit="share of the step", source="Narayanan et al. 2021, section 2.2")
    def bubble_of_total(p, m): ...

    bubble_of_total(4, 16)                    a number; NumPy arrays go in and come out as well
    bubble_of_total.explain(p=4, m=16)        a Term: the value, the LaTeX in symbols and with values, unit, source

`<p>` in the LaTeX stands for a parameter. What each parameter means, and its unit, is read from the docstring, so
the words on the page are the words beside the code. The unit also says which values have a meaning (see domain.py).
"""

import functools
import inspect
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.language.choice import strangers
from engine.language.parameter import Parameter
from engine.language.refusal import Refusal
from engine.language.units import latex_number, quantity_text

Number = Any  # a float, an int or a NumPy array of them: every formula takes all three

FORMULAS: dict[str, "Formula"] = {}

_LEGEND = re.compile(r"^\s*(\w+)\s{2,}(.+?)\s*\[([^\]]+)\]\s*$", re.MULTILINE)
_PLACE = re.compile(r"<(\w+)>(\^?)")


@dataclass(frozen=True)
class WrongModel:
    """A mistake that people make, as a formula of the same parameters: what it forgets, and what it answers."""

    name: str
    title: str
    why: str
    function: Callable[..., Number]


@dataclass(frozen=True)
class Given:
    """A number that nobody computed: the scenario, the catalogue or a paper gives it. It has a source and no working."""

    label: str
    value: float
    unit: str
    source: str

    @property
    def text(self) -> str:
        return quantity_text(self.value, self.unit)

    def document(self) -> dict[str, Any]:
        """The number as the API gives it: like a term, without a formula."""
        return _document(self, None, None)


@dataclass(frozen=True)
class Term:
    """A value that knows how it was computed. Arguments may be Terms: a working opens into further workings."""

    formula: "Formula"
    arguments: Mapping[str, "float | Value"]
    label: str
    value: float

    @property
    def unit(self) -> str:
        return self.formula.unit

    @property
    def source(self) -> str:
        return self.formula.source

    @property
    def symbolic(self) -> str:
        return self.formula.symbolic(self.numbers if self.formula.case else {})

    @property
    def substituted(self) -> str:
        numbers = self.numbers
        return self.formula.latex(numbers, {name: latex_number(number) for name, number in numbers.items()})

    @property
    def numbers(self) -> dict[str, float]:
        return {name: number_of(argument) for name, argument in self.arguments.items()}

    @property
    def text(self) -> str:
        return quantity_text(self.value, self.unit)

    def document(self) -> dict[str, Any]:
        """The term as the API gives it."""
        return _document(self, self.symbolic, self.substituted)


Value = Term | Given  # a number that can be asked where it comes from


def _document(value: Value, symbolic: str | None, substituted: str | None) -> dict[str, Any]:
    return {
        "label": value.label,
        "value": value.value,
        "unit": value.unit,
        "formula": symbolic,
        "substituted": substituted,
        "source": value.source,
    }


def number_of(argument: "float | Value") -> float:
    """The number in an argument that may be a Term, or given."""
    return argument.value if isinstance(argument, (Term, Given)) else argument


@dataclass
class Formula:
    """A documented function with its LaTeX, unit and source. Calling it calls the function."""

    function: Callable[..., Number]
    templates: Mapping[Any, str]
    case: str | None
    unit: str
    source: str
    parameters: dict[str, Parameter]
    title: str
    wrongs: list[WrongModel] = field(default_factory=list)
    name: str = ""
    symbols: dict[Any, str] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.defaults = tuple((name, parameter.default) for name, parameter in self.parameters.items())

    def __call__(self, *args: Number, **kwargs: Number) -> Number:
        return self.function(*args, **kwargs)

    def latex(self, numbers: Mapping[str, float], shown: Mapping[str, str] | None = None) -> str:
        """The LaTeX of the case these numbers select, with symbols, or with what is shown in their place."""
        template = self.templates[numbers[self.case] if self.case else None]
        texts = shown or {name: parameter.symbol for name, parameter in self.parameters.items()}
        return _PLACE.sub(lambda match: _in_place(texts[match[1]], match[2]), template)

    def symbolic(self, numbers: Mapping[str, float]) -> str:
        """The LaTeX in symbols of the case these numbers select, written once for each case."""
        case = numbers[self.case] if self.case else None
        if case not in self.symbols:
            self.symbols[case] = self.latex(numbers)
        return self.symbols[case]

    def explain(self, label: str = "", /, **arguments: "float | Value") -> Term:
        """The value of these arguments together with its working."""
        full = {name: arguments.get(name, default) for name, default in self.defaults}
        value = self.function(**{n: a.value if isinstance(a, (Term, Given)) else a for n, a in full.items()})
        return Term(self, full, label or self.title, float(value))  # type: ignore[arg-type]

    def answer(self, given: Mapping[str, object]) -> Term:
        """The same for arguments that a person typed: anything without a meaning is refused in a sentence."""
        if strange := strangers(
            given, self.parameters, f"{self.name} takes {'{names}' if self.parameters else 'nothing'}"
        ):
            raise strange[0]
        missing = [p.name for p in self.parameters.values() if p.default is None and p.name not in given]
        if missing:
            parameter = self.parameters[missing[0]]
            raise Refusal(
                parameter.name, None, f"{self.name} needs {parameter.name}: {parameter.meaning} [{parameter.unit}]"
            )
        checked = {name: self.parameters[name].check(value, self.name) for name, value in given.items()}
        try:
            term = self.explain(**checked)
        except (OverflowError, ZeroDivisionError):
            term = None
        if term is None or not math.isfinite(term.value):
            largest = max(checked, key=lambda name: abs(checked[name]))
            raise Refusal(largest, given[largest], f"the result of {self.name} is too large to be written as a number")
        return term

    def wrong(self, title: str, why: str) -> Callable[[Callable[..., Number]], Callable[..., Number]]:
        """Attach a named wrong model: a function of the same parameters that makes a known mistake."""

        def attach(function: Callable[..., Number]) -> Callable[..., Number]:
            self.wrongs.append(WrongModel(function.__name__, title, why, function))
            return function

        return attach

    def recognise(self, answer: float, tolerance: float = 0.02, **numbers: float) -> WrongModel | None:
        """The wrong model that gives this answer (within a relative tolerance), if one does."""
        for wrong in self.wrongs:
            if math.isclose(wrong.function(**numbers), answer, rel_tol=tolerance):
                return wrong
        return None


def formula(
    latex: str | Mapping[Any, str], *, unit: str, source: str, case: str | None = None, **symbols: str
) -> Callable[[Callable[..., Number]], Formula]:
    """Turn a documented function into a Formula and list it under its name.

    latex     the right-hand side, `<name>` for each parameter; a mapping gives one text for each value of `case`
    unit      of the result
    source    paper and section, or where it was measured
    symbols   LaTeX of parameters whose name is not their symbol
    """

    def wrap(function: Callable[..., Number]) -> Formula:
        doc = inspect.getdoc(function) or ""
        legend = {name: (meaning, unit) for name, meaning, unit in _LEGEND.findall(doc)}
        parameters = {
            name: Parameter(
                name,
                symbols.get(name, _symbol(name)),
                *legend[name],
                default=None if given.default is inspect.Parameter.empty else given.default,
            )
            for name, given in inspect.signature(function).parameters.items()
        }
        title = doc.splitlines()[0].partition("   [")[0].rstrip(" .")
        templates = dict(latex) if isinstance(latex, Mapping) else {None: latex}
        made = Formula(function, templates, case, unit, source, parameters, title, name=function.__name__)
        functools.update_wrapper(made, function)
        if made.name in FORMULAS and FORMULAS[made.name].function.__module__ != function.__module__:
            raise ValueError(f"two formulas are called {made.name}")
        FORMULAS[made.name] = made
        return made

    return wrap


def _in_place(text: str, power: str) -> str:
    """A number with a sign, or with a power that is raised again, stands in brackets."""
    bare = not text.startswith("-") and not (power and r"\times" in text)
    return (text if bare else rf"\left({text}\right)") + power


def _symbol(name: str) -> str:
    return name if len(name) == 1 else r"\text{" + name.replace("_", " ") + "}"
