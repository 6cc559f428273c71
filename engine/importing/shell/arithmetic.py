"""The whole-number arithmetic of a shell, in $(( … )): reckoned here, never handed to a shell."""

import ast
import operator
from collections.abc import Callable, Mapping

LONGEST = 200  # characters of an expression
LARGEST = 10**15


class Undecided(ValueError):
    """Why an expression has no value here."""


def _divided(a: int, b: int) -> int:
    """A shell's division drops what is left over, towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


OPERATIONS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: _divided,
    ast.Mod: lambda a, b: a - b * _divided(a, b),
}


def reckoned(text: str, value: Callable[[str], str]) -> int:
    """The number that an expression makes.

    value   gives the text of a variable

    >>> reckoned("A*(B+1) / 3", {"A": "8", "B": "2"}.__getitem__)
    8
    """
    if len(text) > LONGEST:
        raise Undecided(f"has more than {LONGEST} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Undecided("is no sum, difference, product, quotient or remainder of whole numbers") from None
    return _of(tree.body, value, LONGEST)


def _of(node: ast.expr, value: Callable[[str], str], deep: int) -> int:
    if not deep:
        raise Undecided("refers to itself")
    match node:
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            found = number
        case ast.Name(id=name):
            inside = value(name).strip() or "0"
            found = int(inside) if inside.lstrip("-").isdigit() and inside.isascii() and len(inside) < 17 else None
            if found is None:
                raise Undecided(f"{name} is no whole number")
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            found = -_of(inner, value, deep - 1)
        case ast.UnaryOp(op=ast.UAdd(), operand=inner):
            found = _of(inner, value, deep - 1)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in OPERATIONS:
            a, b = _of(left, value, deep - 1), _of(right, value, deep - 1)
            if b == 0 and isinstance(sign, ast.Div | ast.Mod):
                raise Undecided("divides by zero")
            found = OPERATIONS[type(sign)](a, b)
        case _:
            raise Undecided("is no sum, difference, product, quotient or remainder of whole numbers")
    if abs(found) > LARGEST:
        raise Undecided(f"is larger than {LARGEST:g}")
    return found
