"""The parameters of a stage, matrix by matrix, and what tensor parallelism and FSDP2 leave of each on a rank."""

from dataclasses import dataclass

from engine.catalog.model import Model
from engine.layout.stages import Chunk

FSDP_CUT = "FSDP2 cuts the rows of each matrix and pads the last piece"


@dataclass(frozen=True)
class Matrix:
    """One parameter: a matrix, or a vector with one column.

    cut   dimension that tensor parallelism cuts, None for what every rank keeps whole
    """

    rows: int
    columns: int
    cut: int | None

    @property
    def parameters(self) -> int:
        return self.rows * self.columns

    def on_rank(self, tp: int) -> tuple[int, int]:
        """Rows and columns after tensor parallelism."""
        return self.rows // (tp if self.cut == 0 else 1), self.columns // (tp if self.cut == 1 else 1)

    def shard(self, tp: int, dp: int) -> int:
        """Parameters that the first of dp ranks keeps: rows are dealt in equal pieces, the last one short."""
        rows, columns = self.on_rank(tp)
        return -(-rows // dp) * columns

    def gathered(self, tp: int, dp: int) -> int:
        """Parameters that a gather yields, padding included."""
        return dp * self.shard(tp, dp)


@dataclass(frozen=True)
class Unit:
    """Parameters that FSDP2 gathers and scatters together: a layer, or the ends of the model."""

    name: str
    matrices: tuple[Matrix, ...]

    @property
    def parameters(self) -> int:
        return sum(matrix.parameters for matrix in self.matrices)

    def shard(self, tp: int, dp: int) -> int:
        return sum(matrix.shard(tp, dp) for matrix in self.matrices)

    def gathered(self, tp: int, dp: int) -> int:
        return sum(matrix.gathered(tp, dp) for matrix in self.matrices)

    @property
    def norms(self) -> int:
        """Vectors that every tensor-parallel rank keeps whole, as sequence parallelism does with norms."""
        return sum(matrix.cut is None for matrix in self.matrices)


def units_of(model: Model, chunk: Chunk) -> tuple[Unit, ...]:
    """The units of a stage, in the order of its pass.

    >>> from engine.catalog.model import model_named
    >>> sum(unit.parameters for unit in units_of(model_named("llama-3-70b"), Chunk(80, 0, True, True))) / 1e9
    70.553706496
    """
    layer = layer_unit(model)
    units = (layer,) * chunk.layers
    ends: tuple[Matrix, ...] = ()
    if chunk.embedding:
        ends += (Matrix(model.vocab, model.hidden, 0),)
    if chunk.head:
        ends += (Matrix(model.hidden, 1, None), Matrix(model.vocab, model.hidden, 0))
    return (Unit("ends", ends), *units) if ends else units


def layer_unit(model: Model) -> Unit:
    """One layer: what comes out of a column-wise cut matrix stays on its rank, a row-wise cut one adds up over ranks."""
    h, query, key, inner = model.hidden, model.heads * model.head_dim, model.kv_heads * model.head_dim, model.ffn
    norm = Matrix(h, 1, None)
    return Unit(
        "layer",
        (
            norm,
            Matrix(query, h, 0),
            Matrix(key, h, 0),
            Matrix(key, h, 0),
            Matrix(h, query, 1),
            norm,
            Matrix(inner, h, 0),
            Matrix(inner, h, 0),
            Matrix(h, inner, 1),
        ),
    )
