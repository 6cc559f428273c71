"""Every formula by its name, for those who ask by name."""

import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from engine.language.choice import choose
from engine.language.domain import domain_of
from engine.language.formula import FORMULAS, Formula

PEAK, BEYOND_PEAK = "share of peak", "More than the peak: no GPU runs so fast, so a number that was given is wrong."
ENGINE = Path(__file__).parent
_DEFINED = re.compile(r"^@formula\(.*?^def (\w+)\(", re.MULTILINE | re.DOTALL)


@cache
def holders() -> dict[str, str]:
    """The module of each formula, found by reading the sources: a formula is listed by being written.

    >>> holders()["state_bytes"]
    'engine.memory.state'
    """
    return {
        name: ".".join(("engine", *path.relative_to(ENGINE).with_suffix("").parts))
        for path in sorted(ENGINE.rglob("*.py"))
        for name in _DEFINED.findall(path.read_text(encoding="utf-8"))
    }


def all_formulas() -> dict[str, Formula]:
    """Every formula there is, by name, in the order of the alphabet.

    >>> "state_bytes" in all_formulas()
    True
    """
    for module in dict.fromkeys(holders().values()):
        import_module(module)
    return dict(sorted(FORMULAS.items()))


def formula_named(name: str) -> Formula:
    """The formula of this name, or a Refusal with the name most like it. Loads no more modules than it must.

    >>> formula_named("run_usd").unit
    'USD'
    """
    rule = "there is no formula of this name; formulas lists them all"
    import_module(choose("formula", name, holders(), rule, "unknown-formula"))
    return FORMULAS[name]


def formula_answer(name: str, given: Mapping[str, object]) -> dict[str, Any]:
    """The document about one case of a formula.

    given   a value for each parameter without a default, as a number or as text

    >>> formula_answer("bubble_of_total", {"p": "4", "m": "16"})["substituted"]
    '\\\\frac{4-1}{1 \\\\cdot 16+4-1}'
    """
    told = formula_named(name).answer(given).document()
    said = {"name": name} | {"symbolic" if key == "formula" else key: told[key] for key in told if key != "label"}
    beyond = told["unit"] == PEAK and told["value"] > 1
    return said | ({"remark": BEYOND_PEAK} if beyond else {})


def formulas_answer() -> list[dict[str, Any]]:
    """The document about all formulas: what each gives, and what it takes."""
    return [formula_document(made) for made in all_formulas().values()]


def formula_document(made: Formula) -> dict[str, Any]:
    """What a formula gives and takes, without a case."""
    return {
        "name": made.name,
        "title": made.title,
        "unit": made.unit,
        "source": made.source,
        "symbolic": {str(case): made.symbolic({made.case: case}) for case in made.templates}
        if made.case
        else made.symbolic({}),
        "parameters": [
            {"name": p.name, "meaning": p.meaning, "unit": p.unit, "rule": domain_of(p.unit).rule, "default": p.default}
            for p in made.parameters.values()
        ],
    }
