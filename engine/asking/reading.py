"""How an answer is read: a number and a unit, as people write them."""

import math
import re

from engine.language.units import DAY_S, GB, GIB, HOUR_S, KB, KIB, MB, MIB, MINUTE_S, TB, TIB

LONGEST = 60  # characters of an answer
PREFIXES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "p": 1e15}
BYTES = {"b": 1.0, "kb": KB, "mb": MB, "gb": GB, "tb": TB, "pb": 1e15, "kib": KIB, "mib": MIB, "gib": GIB, "tib": TIB}
SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "min": MINUTE_S, "h": HOUR_S, "d": DAY_S, "days": DAY_S}
NUMBER = re.compile(r"^\s*([+-]?[0-9.,\s]*[0-9](?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,3})?)\s*([a-zA-Zµ%]*)\s*(?:/s)?\s*$")


def amount(text: str, unit: str) -> float | None:
    """The number somebody wrote, in the base unit; None if it is none. A bare number is in the base unit.

    >>> amount("21 GB", "bytes"), amount("1,120e9", "bytes"), amount("15.8 %", "share of the step"), amount("x", "bytes")
    (21000000000.0, 1120000000000.0, 0.158, None)
    """
    match = NUMBER.match(text[:LONGEST])
    if not match:
        return None
    try:
        number = float(match[1].replace(",", "").replace(" ", ""))
    except ValueError:
        return None
    scale = _scale(match[2], unit)
    return number * scale if scale is not None and math.isfinite(number * scale) else None


def _scale(written: str, unit: str) -> float | None:
    """What one of the unit written is in the base unit. Bytes know GB from Gb: a lone small b is a bit."""
    kind, lower = unit.partition(" ")[0], written.lower()
    if not written:
        return 1.0
    if kind.startswith("bytes"):
        bits = 8.0 if written.endswith("b") and len(written) <= 2 and written != "b" else 1.0
        return BYTES[lower] / bits if lower in BYTES else None
    if kind == "s":
        return SECONDS.get(lower)
    if kind == "share":
        return 0.01 if written == "%" else None
    return PREFIXES.get(lower)
