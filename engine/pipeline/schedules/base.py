"""What a pipeline schedule is: an order of operations for each stage, and which part of the model each stage holds."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from engine.language.refusal import Refusal
from engine.pipeline.schedules.placement import Placement, loop


class Op(NamedTuple):
    """One entry of a stage's order.

    kind     F forward, B full backward, I its input-gradient part, W its weight-gradient part
    chunk    which of the stage's model parts, from 0
    joined   runs beside the operation that follows: both wait for both inputs, both results leave when both are done
    """

    kind: str
    micro_batch: int
    chunk: int
    joined: bool = False


class Shape(NamedTuple):
    """The size of a case."""

    stages: int
    micro_batches: int
    chunks: int


Order = Callable[[int, Shape], list[Op]]
Rule = Callable[[Shape], None]


@dataclass(frozen=True)
class Schedule:
    """A pipeline schedule: data and one function; `ops` is what a simulator or a real worker runs.

    name                as in a scenario
    idea                in one line, why somebody invented it
    order               (stage, shape) -> the stage's operations in order
    arrange             (stages, chunks) -> Placement
    chunks_text         which numbers of chunks it takes, in words
    own_chunks          number of chunks that it always uses; a layout's vp = 1 then means "the schedule's own".
                        None when the layout decides
    rules               further functions that refuse a shape
    splits_backward     whether it runs I and W apart
    parameter_copies    copies of a stage's weights that a device holds   [count]
    phased              whether all forwards come before all backwards, so that a step grows by the same time with
                        every micro-batch
    """

    name: str
    title: str
    idea: str
    source: str
    order: Order
    arrange: Callable[[int, int], Placement] = loop
    chunks_text: str = "one chunk per stage"
    own_chunks: int | None = 1
    rules: tuple[Rule, ...] = ()
    splits_backward: bool = False
    parameter_copies: int = 1
    phased: bool = False

    def chunks_used(self, chunks: int = 1) -> int:
        """Chunks that a stage holds when the layout says vp = chunks."""
        return self.own_chunks or chunks

    def placement(self, stages: int, chunks: int = 1) -> Placement:
        """Where each stage's chunks stand in the model."""
        return self.arrange(stages, self.chunks_used(chunks))

    def ops(self, stages: int, micro_batches: int, chunks: int = 1) -> list[list[Op]]:
        """The order of operations of every stage, or a Refusal."""
        self.check(stages, micro_batches, chunks)
        shape = Shape(stages, micro_batches, self.chunks_used(chunks))
        return [self.order(stage, shape) for stage in range(stages)]

    def check(self, stages: int, micro_batches: int, chunks: int = 1) -> None:
        """Refuse a shape that this schedule cannot run."""
        for field, value in (("pp", stages), ("micro_batches", micro_batches), ("vp", chunks)):
            if value < 1:
                raise Refusal(f"layout.{field}", value, "a pipeline needs at least one", "1")
        if self.own_chunks is not None and chunks not in (1, self.own_chunks):
            rule = f"{self.title} runs {self.chunks_text}"
            raise Refusal("layout.vp", chunks, rule, "1, or the interleaved schedule", "interleave-illegal")
        for rule in self.rules:
            rule(Shape(stages, micro_batches, self.chunks_used(chunks)))


def nearest_multiples(value: int, of: int) -> str:
    """The multiples on either side, as text.

    >>> nearest_multiples(6, 4), nearest_multiples(3, 4)
    ('4 or 8', '4')
    """
    below = value // of * of
    return f"{below} or {below + of}" if below else str(of)
