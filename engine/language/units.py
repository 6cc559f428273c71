"""Constants, and the only text formatters for quantities. Everything inside is in base units; people read these strings."""

import math
import re

KB, MB, GB, TB = 1e3, 1e6, 1e9, 1e12
KIB, MIB, GIB, TIB = 2**10, 2**20, 2**30, 2**40
MINUTE_S, HOUR_S, DAY_S = 60.0, 3600.0, 86400.0

_DECIMAL = (("PB", 1e15), ("TB", TB), ("GB", GB), ("MB", MB), ("kB", KB))
_BINARY = (("PiB", 2**50), ("TiB", TIB), ("GiB", GIB), ("MiB", MIB), ("KiB", KIB))
_SI = (("E", 1e18), ("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3))
MULTIPLES = ("times",)  # "1 times the mean" is no plural
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def digits_text(value: float, significant: int = 3) -> str:
    """A number with so many significant digits, thousands separated, no trailing zeros.

    >>> digits_text(1023.9876), digits_text(0.15789), digits_text(293.125, 4)
    ('1,024', '0.158', '293.1')
    """
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    places = max(0, significant - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def power_text(value: float, significant: int = 3) -> str:
    """A number as mantissa and power of ten.

    >>> power_text(6.3e24)
    '6.3 × 10²⁴'
    """
    if value == 0:
        return "0"
    mantissa, _, exponent = f"{value:.{significant - 1}e}".partition("e")
    return f"{float(mantissa):g} × 10{str(int(exponent)).translate(_SUPERSCRIPT)}"


def latex_number(value: float) -> str:
    """A number as LaTeX, short enough for a board: whole numbers in full below a million, else four digits.

    >>> latex_number(1024), latex_number(0.15789)
    ('1{,}024', '0.1579')
    """
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(value)))
    if -4 <= exponent < 6:
        text = digits_text(value, 4) if value != round(value) else f"{value:,.0f}"
        return text.replace(",", "{,}")
    mantissa, _, power = f"{value:.3e}".partition("e")
    return rf"{float(mantissa):g}\times 10^{{{int(power)}}}"


def _scaled_text(value: float, steps: tuple[tuple[str, float], ...], smallest: str) -> str:
    for name, size in steps:
        if abs(value) >= size * 0.9995:
            return f"{digits_text(value / size)} {name}" if abs(value) < 1e21 else f"{power_text(value / size)} {name}"
    return f"{digits_text(value)} {smallest}"


def bytes_text(value: float, binary: bool = False) -> str:
    """Bytes in decimal (GB = 1e9) or binary (GiB = 2**30) units.

    >>> bytes_text(1.12e12), bytes_text(4.54e9, binary=True)
    ('1.12 TB', '4.23 GiB')
    """
    return _scaled_text(value, _BINARY if binary else _DECIMAL, "B")


def within_text(value: float, most: float, binary: bool = False) -> str:
    """Bytes out of so many, in the unit of the latter.

    >>> within_text(22.5 * 2**30, 79.1 * 2**30, binary=True), within_text(1.2e12, 80e9)
    ('22.5 of 79.1 GiB', '1,200 of 80 GB')
    """
    steps = (*(_BINARY if binary else _DECIMAL), ("B", 1.0))
    name, size = next((step for step in steps if abs(most) >= step[1] * 0.9995), steps[-1])
    return f"{digits_text(value / size)} of {digits_text(most / size)} {name}"


def seconds_text(value: float) -> str:
    """A duration in the unit a person would choose.

    >>> seconds_text(0.0031), seconds_text(4.31), seconds_text(5400), seconds_text(15.5e6)
    ('3.1 ms', '4.31 s', '1.5 h', '179 days')
    """
    if abs(value) < 1e-3:
        return f"{digits_text(value * 1e6)} µs"
    if abs(value) < 1:
        return f"{digits_text(value * 1e3)} ms"
    for name, size, limit in (("s", 1.0, 120.0), ("min", MINUTE_S, 90 * MINUTE_S), ("h", HOUR_S, 48 * HOUR_S)):
        if abs(value) < limit:
            return f"{digits_text(value / size)} {name}"
    return f"{digits_text(value / DAY_S)} days"


def count_text(value: float, significant: int = 3) -> str:
    """A count: whole below a million, then M, B, T as the field says them.

    >>> count_text(1024), count_text(4.42e6), count_text(70.554e9, 4), count_text(999.9e6)
    ('1,024', '4.42 M', '70.55 B', '1 B')
    """
    short = 0.5 * 10**-significant  # what rounds up to the next size is written in it
    for name, size, least in (("T", 1e12, 1 - short), ("B", 1e9, 1 - short), ("M", 1e6, 1)):
        if abs(value) >= size * least:
            scaled = value / size
            return f"{digits_text(scaled, significant) if scaled < 1e5 else power_text(scaled)} {name}"
    return f"{value:,.0f}" if value == round(value) else digits_text(value, max(significant, 4))


def counted(number: float, noun: str) -> str:
    """A number and what it counts, the noun in the singular for one. The noun is given in the singular.

    >>> counted(1, "micro-batch"), counted(16, "micro-batch"), counted(2, "copy"), counted(1024, "GPU")
    ('1 micro-batch', '16 micro-batches', '2 copies', '1,024 GPUs')
    """
    text = count_text(number)
    return f"{text} {noun if text == '1' else _plural(noun)}"


def _plural(noun: str) -> str:
    if noun.endswith(("s", "x", "ch", "sh")):
        return f"{noun}es"
    return f"{noun[:-1]}ies" if re.search("[^aeiou]y$", noun) else f"{noun}s"


def opening(sentence: str) -> str:
    """The sentence with its first letter large, and nothing else changed: "GPU" and "GiB" keep theirs.

    >>> opening("stage 0 needs 78 GiB of each GPU")
    'Stage 0 needs 78 GiB of each GPU'
    """
    return sentence[:1].upper() + sentence[1:]


def share_text(value: float) -> str:
    """A share of one, in percent.

    >>> share_text(3 / 19)
    '15.8 %'
    """
    return f"{digits_text(value * 100)} %"


def usd_text(value: float) -> str:
    """Dollars.

    >>> usd_text(11.05e6), usd_text(2.5)
    ('$11.1 M', '$2.50')
    """
    return f"${value:,.2f}" if abs(value) < 1000 else f"${count_text(value)}"


def quantity_text(value: float, unit: str) -> str:
    """A value with its unit, as a person would write it on a board.

    value   in the base unit
    unit    a formula's unit, such as "bytes", "s", "FLOP", "share of the step"

    >>> quantity_text(1.12e12, "bytes"), quantity_text(0.158, "share of the step"), quantity_text(396e12, "FLOP/s")
    ('1.12 TB', '15.8 % of the step', '396 TFLOP/s')
    >>> quantity_text(1, "micro-batches"), quantity_text(1, "copies"), quantity_text(3, "layers")
    ('1 micro-batch', '1 copy', '3 layers')
    """
    first, _, rest = unit.partition(" ")
    tail = f" {rest}" if rest else ""
    if first == "bytes":
        return bytes_text(value) + tail
    if first == "bytes/s":
        return bytes_text(value) + "/s" + tail
    if first == "s":
        return seconds_text(value) + tail
    if first == "share":
        return share_text(value) + tail
    if first == "USD":
        return usd_text(value) + tail
    if first == "FLOP":
        return f"{power_text(value)} FLOP{tail}"
    if first == "FLOP/s":
        return f"{_scaled_text(value, tuple((f'{n}FLOP/s', s) for n, s in _SI), 'FLOP/s')}{tail}"
    if first == "tokens/s":
        return f"{_scaled_text(value, (('M', 1e6), ('k', 1e3)), '').rstrip()} {unit}"
    if first == "rank":
        return f"rank {count_text(value)}"  # a name, not a count
    text = count_text(value)
    return f"{text} {one_of(unit) if text == '1' else unit}"


def one_of(unit: str) -> str:
    """A unit that is named in the plural, for one of it.

    >>> one_of("sequences"), one_of("copies of each head"), one_of("micro-batches"), one_of("times the mean")
    ('sequence', 'copy of each head', 'micro-batch', 'times the mean')
    """
    first, _, rest = unit.partition(" ")
    if first not in MULTIPLES:
        first = re.sub("(?<=ch|sh)es$|(?<=[^s])s$", "", re.sub("ies$", "y", first))
    return f"{first} {rest}".strip()
