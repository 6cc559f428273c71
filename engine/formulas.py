"""Every formula by its name, for those who ask by name: each module that holds some is listed here, the quick ones first."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from engine.language.choice import choose
from engine.language.domain import domain_of
from engine.language.formula import FORMULAS, Formula

HOLDERS = (
    "memory.state",
    "run.training",
    "run.speed",
    "compute.flops",
    "pipeline.bubble",
    "pipeline.in_flight",
    "network.collectives",
    "run.goodput",
    "run.finetune",
    "memory.parameters",
    "memory.held",
    "memory.activations",
    "memory.buffers",
    "lens.napkin",
    "network.issued",
    "network.payloads",
    "network.counts",
    "step.parts",
    "pipeline.timeline",
    "lens.conventions",
    "lens.half_blocks",
    "lens.routing",
    "network.groups",
    "run.failures",
    "lens.precision",
    "lens.sharded",
    "lens.ring_attention",
    "lens.slots",
    "step.overlap",
    "network.link_load",
    "lens.demo_model",
    "lens.demo_traffic",
)


def all_formulas() -> dict[str, Formula]:
    """Every formula there is, by name, in the order of the alphabet.

    >>> "state_bytes" in all_formulas()
    True
    """
    for holder in HOLDERS:
        import_module(f"engine.{holder}")
    return dict(sorted(FORMULAS.items()))


def formula_named(name: str) -> Formula:
    """The formula of this name, or a Refusal with the name most like it. Loads no more modules than it must.

    >>> formula_named("run_usd").unit
    'USD'
    """
    for holder in HOLDERS:
        import_module(f"engine.{holder}")
        if name in FORMULAS:
            return FORMULAS[name]
    return choose(
        "formula", name, FORMULAS, "there is no formula of this name; formulas lists them all", "unknown-formula"
    )


def formula_answer(name: str, given: Mapping[str, object]) -> dict[str, Any]:
    """The document about one case of a formula.

    given   a value for each parameter without a default, as a number or as text

    >>> formula_answer("bubble_of_total", {"p": "4", "m": "16"})["substituted"]
    '\\\\frac{4-1}{1 \\\\cdot 16+4-1}'
    """
    told = formula_named(name).answer(given).document()
    return {"name": name} | {"symbolic" if key == "formula" else key: told[key] for key in told if key != "label"}


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
