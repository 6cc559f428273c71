"""What a shell's `if` asks, where the text itself has the answer."""

from collections.abc import Callable

NUMBERS: dict[str, Callable[[int, int], bool]] = {
    "-eq": lambda a, b: a == b,
    "-ne": lambda a, b: a != b,
    "-gt": lambda a, b: a > b,
    "-ge": lambda a, b: a >= b,
    "-lt": lambda a, b: a < b,
    "-le": lambda a, b: a <= b,
}
BRACKETS = {"[": "]", "[[": "]]", "test": ""}


def decided(words: list[str]) -> bool | None:
    """Whether a test holds, or None where that is not known: only texts and whole numbers are compared.

    >>> decided(["[[", "fp8", "==", "fp8", "]]"]), decided(["[", "8", "-gt", "1", "]"]), decided(["[", "-f", "x.py", "]"])
    (True, True, None)
    """
    if not words or words[0] not in BRACKETS:
        return None
    inside = words[1:-1] if BRACKETS[words[0]] else words[1:]
    if BRACKETS[words[0]] and words[-1] != BRACKETS[words[0]]:
        return None
    match inside:
        case ["!", *rest]:
            inner = decided(["test", *rest])
            return None if inner is None else not inner
        case ["-n", text]:
            return bool(text)
        case ["-z", text]:
            return not text
        case [a, "=" | "==" | "!=" as sign, b] if not set(b) & set("*?["):
            return (a == b) == (sign != "!=")
        case [a, sign, b] if sign in NUMBERS and _whole(a) and _whole(b):
            return NUMBERS[sign](int(a), int(b))
    return None


def _whole(text: str) -> bool:
    return text.isascii() and text.lstrip("-").isdigit() and len(text) < 17
