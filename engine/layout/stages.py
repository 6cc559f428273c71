"""What each pipeline stage holds: which layers, and which end of the model."""

from dataclasses import dataclass
from functools import cached_property

from engine.catalog.model import Model
from engine.language.kept import kept
from engine.language.units import MB
from engine.layout.layout import Layout
from engine.pipeline.schedules import schedule_named

STAGE_BYTES = 800  # of memory


@dataclass(frozen=True)
class Chunk:
    """A run of layers at one position of a pipe.

    dense, moe   layers without and with experts   [count]
    embedding    whether the input embedding is here
    head         whether the output head and the loss are here
    """

    dense: int
    moe: int
    embedding: bool
    head: bool

    @property
    def layers(self) -> int:
        return self.dense + self.moe


@dataclass(frozen=True)
class Stage:
    """The chunks one stage holds, in the order of its schedule's chunk numbers."""

    index: int
    chunks: tuple[Chunk, ...]

    @cached_property
    def whole(self) -> Chunk:
        """All its chunks as one."""
        return Chunk(
            sum(c.dense for c in self.chunks),
            sum(c.moe for c in self.chunks),
            any(c.embedding for c in self.chunks),
            any(c.head for c in self.chunks),
        )


def split_layers(layers: int, positions: int) -> list[int]:
    """Layers of each position of a pipe.   [count each]

    Even where they divide. Where two more would, each end holds one fewer, since the embedding and the head are there
    (Llama 3 405B has 126 layers for this reason). Otherwise the remainder goes to the middle first, the ends last.

    >>> split_layers(80, 4), split_layers(126, 16)[:2], split_layers(61, 4)
    ([20, 20, 20, 20], [7, 8], [15, 16, 15, 15])
    """
    if layers % positions == 0:
        return [layers // positions] * positions
    if positions > 1 and (layers + 2) % positions == 0:
        size = (layers + 2) // positions
        return [size - 1, *[size] * (positions - 2), size - 1]
    base, rest = divmod(layers, positions)
    order = [*range(1, positions - 1), 0, positions - 1]
    extra = set(order[:rest])
    return [base + (position in extra) for position in range(positions)]


@kept(8 * MB, lambda stages: STAGE_BYTES * len(stages))
def stages_of(model: Model, layout: Layout) -> tuple[Stage, ...]:
    """The stages of a layout with what each holds.

    >>> from engine.catalog.model import model_named
    >>> [stage.whole.layers for stage in stages_of(model_named("llama-3-70b"), Layout())]
    [20, 20, 20, 20]
    """
    placement = schedule_named(layout.schedule).placement(layout.pp, layout.vp)
    sizes = split_layers(model.layers, placement.positions)
    firsts = [sum(sizes[:position]) for position in range(placement.positions)]

    def chunk(position: int) -> Chunk:
        first, size = firsts[position], sizes[position]
        moe = model.moe_layers_before(first + size) - model.moe_layers_before(first)
        return Chunk(size - moe, moe, position == 0, position == placement.positions - 1)

    return tuple(
        Stage(index, tuple(chunk(place.position) for place in places)) for index, places in enumerate(placement.places)
    )
