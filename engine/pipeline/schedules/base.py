"""What a pipeline schedule is: an order of operations for each stage, and which part of the model each stage holds."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from engine.language.formula import Formula, Number
from engine.language.refusal import Refusal
from engine.pipeline.schedules.placement import ChunkPlacement, loop


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
Rounds = Callable[[Shape], int]


@dataclass(frozen=True)
class Closed:
    """What is known of a step without simulating it. None where nobody has written it down: ask the simulator.

    in_flight         most micro-batches that stage i holds, of some of p, m, v and i
    bubble_s          idle time of a stage, of some of p, m, v, F, B, W and FB = F + B + W
    bubble_of_total   its share of the step, of p, m and v
    bubble_of_ideal   idle time over working time, of some of p, m, v, F, B and W
    filled_from       stages -> micro-batches from which on the bubble is this one: fewer do not fill the pipe   [count]
    any_times         whether the bubble is exact for all F, B and W; if not, where they are equal
    """

    in_flight: Formula | None = None
    bubble_s: Formula | None = None
    bubble_of_total: Formula | None = None
    bubble_of_ideal: Formula | None = None
    filled_from: Callable[[int], int] = lambda stages: 1
    any_times: bool = True


def put_in(closed: Formula, **numbers: Number) -> dict[str, Number]:
    """Those of these numbers that a closed form takes.

    >>> from engine.pipeline.in_flight import in_flight_gpipe
    >>> put_in(in_flight_gpipe, p=4, m=16, v=1, i=0)
    {'m': 16}
    """
    return {name: number for name, number in numbers.items() if name in closed.parameters}


@dataclass(frozen=True, eq=False)
class Schedule:
    """A pipeline schedule: data and one function; `ops` is what a simulator or a real worker runs.

    Whatever else a module wants to know of a schedule stands here as well, so that none has to ask for its name.

    name                as in a scenario
    idea                in one line, why somebody invented it
    order               (stage, shape) -> the stage's operations in order
    arrange             (stages, chunks) -> ChunkPlacement
    chunks_text         which numbers of chunks it takes, in words
    own_chunks          number of chunks that it always uses; a layout's vp = 1 then means "the schedule's own".
                        None when the layout decides
    with_one_chunk      what it is when the layout decides on one chunk; None where it stays itself
    rules               further functions that refuse a shape
    splits_backward     whether it runs I and W apart
    round_of            shape -> micro-batches after which every order repeats, once the pipe is full   [count]
    parameter_copies    copies of a stage's weights that a device holds   [count]
    phased              whether all forwards come before all backwards, so that a step grows by the same time with
                        every micro-batch
    paired              whether a forward runs beside the backward of another micro-batch, each hiding what the other
                        sends
    simple              whether a team has nothing to tune about it
    closed              what is known of its step without simulating it
    torch_name          what torch.distributed.pipelining, and so torchtitan, calls it; empty where they have none
    megatron            whether Megatron-LM runs it
    stand_in            what a framework runs that lacks it; None for the usual one
    """

    name: str
    title: str
    idea: str
    source: str
    order: Order
    arrange: Callable[[int, int], ChunkPlacement] = loop
    chunks_text: str = "one chunk per stage"
    own_chunks: int | None = 1
    rules: tuple[Rule, ...] = ()
    splits_backward: bool = False
    round_of: Rounds = lambda shape: 1
    parameter_copies: int = 1
    phased: bool = False
    paired: bool = False
    simple: bool = False
    closed: Closed = Closed()
    with_one_chunk: "Schedule | None" = None
    torch_name: str = ""
    megatron: bool = False
    stand_in: "Schedule | None" = None

    @property
    def takes_chunks(self) -> bool:
        """Whether the layout decides how many chunks a stage holds."""
        return self.own_chunks is None

    def with_chunks(self, chunks: int) -> "Schedule":
        """The schedule that runs when the layout says vp = chunks."""
        return self.with_one_chunk if self.with_one_chunk and chunks == 1 else self

    def chunks_used(self, chunks: int = 1) -> int:
        """Chunks that a stage holds when the layout says vp = chunks."""
        return self.own_chunks or chunks

    def placement(self, stages: int, chunks: int = 1) -> ChunkPlacement:
        """Where each stage's chunks stand in the model."""
        return self.arrange(stages, self.chunks_used(chunks))

    def round_length(self, stages: int, chunks: int = 1) -> int:
        """Micro-batches after which every stage's order repeats, once the pipe is full.   [count]"""
        return self.round_of(Shape(stages, 0, self.chunks_used(chunks)))

    def ops(self, stages: int, micro_batches: int, chunks: int = 1) -> list[list[Op]]:
        """The order of operations of every stage, or a Refusal."""
        return list(self.one_by_one(stages, micro_batches, chunks))

    def one_by_one(self, stages: int, micro_batches: int, chunks: int = 1) -> Iterator[list[Op]]:
        """The same, stage after stage: those of a long pipeline are many, and need not all be there at once."""
        self.check(stages, micro_batches, chunks)
        shape = Shape(stages, micro_batches, self.chunks_used(chunks))
        return (self.order(stage, shape) for stage in range(stages))

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
