"""What training state costs each GPU, stage by stage of sharding, measured in GPUs: the front page's table and notes."""

from dataclasses import dataclass

from engine.language.units import bytes_text


@dataclass(frozen=True)
class Part:
    """One kind of state: its name and bytes per parameter."""

    kind: str
    bytes_per_parameter: float


@dataclass(frozen=True)
class Row:
    """One way of sharding: its name, and the bytes of each part on one GPU, in the order of parts."""

    name: str
    part_bytes: tuple[float, ...]

    @property
    def total_bytes(self) -> float:
        return sum(self.part_bytes)


@dataclass(frozen=True)
class Wall:
    """Ways of sharding, the parts of the state, and the memory of one GPU."""

    rows: tuple[Row, ...]
    parts: tuple[Part, ...]
    gpu_bytes: float

    def verdict(self, row: Row) -> str:
        """How a row compares with one GPU."""
        spare = self.gpu_bytes - row.total_bytes
        if spare >= 0:
            return f"fits: {bytes_text(spare)} to spare"
        return f"{row.total_bytes / self.gpu_bytes:.1f} GPUs' worth"
