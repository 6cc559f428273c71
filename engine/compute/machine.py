"""What computes: the GPU, what it multiplies in, the software, and how many GPUs wait for each other."""

from dataclasses import dataclass

import numpy as np

from engine.catalog.calibration import Calibration, Stack
from engine.catalog.hardware import Gpu
from engine.catalog.precision import PRECISIONS


@dataclass(frozen=True)
class Machine:
    """What computes: the GPU, the precision of its matrix products, the software, how many GPUs wait for each other, and
    what is known of all that."""

    gpu: Gpu
    precision: str
    stack: Stack
    gpus: int
    calibration: Calibration

    @property
    def fp8(self) -> bool:
        """Whether matrix products take eight-bit numbers."""
        return PRECISIONS[self.precision].eight_bits

    @property
    def jitter(self) -> float:
        """How much slower the slowest of all GPUs makes a step than one alone."""
        return 1 + self.stack.jitter * max(0.0, float(np.log2(self.gpus / 8)))
