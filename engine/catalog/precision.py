"""What matrix products are computed in. To add one: an entry here, and its peak beside each GPU that multiplies in it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Precision:
    """A format of the numbers that tensor cores multiply.

    input_bytes   of one number that goes in                                             [bytes]
    table         whose measured kernels speak for it                                    [name]
    grouping      how far a grouped matmul comes to the rate over all its rows           [share]
    """

    name: str
    title: str
    input_bytes: int
    table: str
    grouping: float

    @property
    def eight_bits(self) -> bool:
        """Whether a number that goes in takes a byte: activations are then kept and sent in bytes as well."""
        return self.input_bytes == 1


PRECISIONS = {
    precision.name: precision
    for precision in (
        Precision("bf16", "BF16", 2, "bf16", 0.5),
        Precision("fp16", "FP16", 2, "bf16", 0.5),
        Precision("fp8", "FP8", 1, "fp8", 1.0),
        Precision("mxfp8", "MXFP8", 1, "fp8", 1.0),
    )
}
