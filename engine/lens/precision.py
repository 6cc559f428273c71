"""What a number format can hold, what a scale beside it costs, and how far faster products carry a step."""

from engine.language.formula import Number, formula

FORMATS = "IEEE 754 for FP16; Micikevicius et al. 2022 (FP8), table 1, for E4M3 and E5M2; BF16 is FP32 cut to 16 bits"


@formula(r"2^{<x>} \cdot \left(2 - \frac{1 + <u>}{2^{<m>}}\right)", unit="largest", source=FORMATS)
def largest_number(x: Number, m: Number, u: Number = 0) -> Number:
    """Largest number of a floating point format.   [number]

    x   largest exponent                                                   [count or none]
    m   bits of the mantissa                                               [count]
    u   1 where the last mantissa at the largest exponent is not a number  [yes or no]

    BF16 has x = 127 and m = 7, FP16 15 and 10, E5M2 15 and 2; E4M3 uses its top exponent, so 8, 3 and u = 1.

    >>> largest_number(8, 3, 1), largest_number(15, 2), largest_number(15, 10)
    (448.0, 57344.0, 65504.0)

    Breaks down for formats without a hidden leading one.
    """
    return 2.0**x * (2 - (1 + u) / 2.0**m)


@formula(r"\frac{1}{2^{<m> + 1}}", unit="share of the number", source=FORMATS)
def rounding_share(m: Number) -> Number:
    """Largest error of rounding to the nearest number of a format, over the number itself.   [share]

    m   bits of the mantissa   [count]

    An update to a weight kept in the format is always lost if it is a smaller share of it than half of this; between half
    and all of this it depends on where between two powers of two the weight lies.

    >>> rounding_share(7), rounding_share(3)
    (0.00390625, 0.0625)

    Breaks down below the smallest normal number, where steps no longer shrink.
    """
    return 1 / 2.0 ** (m + 1)


@formula(r"<b> + \frac{<s>}{<k>}", unit="bytes per number", source="Rouhani et al. 2023 (MX), section 2")
def scaled_block_bytes(b: Number, s: Number, k: Number) -> Number:
    """Storage of a number when every block of numbers shares a scale.   [bytes per number]

    b   bytes of a number itself   [bytes]
    s   bytes of the scale         [bytes]
    k   numbers in a block         [count]

    >>> scaled_block_bytes(1, 1, 32)
    1.03125
    """
    return b + s / k


@formula(r"\frac{1}{1 - <x> + \frac{<x>}{<f>}}", unit="times as fast", source="Amdahl's law")
def faster_in_part(x: Number, f: Number) -> Number:
    """How much faster a step becomes when one part of it does.   [times]

    x   share of the step that becomes faster   [share]
    f   how many times faster that part is      [times above 0]

    >>> faster_in_part(0.6, 2), faster_in_part(1.0, 2)
    (1.4285714285714286, 2.0)

    Breaks down where the part overlaps with what does not change.
    """
    return 1 / (1 - x + x / f)


@faster_in_part.wrong(
    "the whole step twice as fast", "Only the matrix products are faster; the rest takes as long as before."
)
def all_faster(x: Number, f: Number) -> Number:
    return f + 0 * x
