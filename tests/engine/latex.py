"""LaTeX as SymPy reads it. Reading one text takes tens of milliseconds, so what it came to is kept from run to run."""

import hashlib
from pathlib import Path
from typing import Any

import sympy
from sympy.parsing.latex import parse_latex

KEPT = Path(__file__).parents[2] / ".cache" / "latex"


def parsed(text: str) -> Any:
    """The expression or the relation that a text says."""
    kept = KEPT / hashlib.sha256(f"{sympy.__version__} {text}".encode()).hexdigest()
    if kept.exists():
        return sympy.sympify(kept.read_text(encoding="utf-8"))
    found = sympy.sympify(parse_latex(text, backend="lark"))
    KEPT.mkdir(parents=True, exist_ok=True)
    written = kept.with_suffix(
        f".{id(found)}"
    )  # two processes may read the same text: each puts its own in place whole
    written.write_text(sympy.srepr(found), encoding="utf-8")
    written.replace(kept)
    return found
