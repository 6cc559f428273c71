"""The passages of a step of the whole machine: what the engine does when, and how the camera goes in and out."""

from dataclasses import dataclass
from functools import cached_property

from app.board.film.film import Script
from app.board.film.lens import Lens, Span
from app.board.scenes.layout.case import GPUS, Case, ratio_text, stage_of, traffic_s, waiting
from engine.estimate import Estimate
from engine.language.units import count_text, counted, seconds_text, within_text
from engine.layout.stages import Chunk, stages_of
from engine.pipeline.timeline import Interval
from engine.step.chunk import ChunkTime, chunk_time
from engine.step.events import Event, events
from engine.step.tail import Tail, tail_of

EARLY = 0.4  # share of the passes after which the camera goes in: the middle repeats
WIRES = {"none": "no wire", "nvlink": "NVLink", "leaf": "its rail's leaf", "spine": "leaf, spine, leaf"}


@dataclass(frozen=True)
class Close:
    """What the camera goes into: one forward pass of a micro-batch on one stage.

    work     that operation
    before   the same micro-batch's forward on the stage before; none on the first
    arrives  when what it hands over is there   [s]
    """

    work: Interval
    before: Interval | None
    arrives: float


class Story:
    """The film of one setting of the knobs: its script, and the moments that its drawings need."""

    def __init__(self, case: Case):
        self.case, self.made, self.script = case, case.plain, Script()
        self._floor()
        self._inside()
        self._out()
        self.lens: Lens = self.script.lens

    @cached_property
    def tail(self) -> Tail:
        return tail_of(self.made.step)

    @cached_property
    def you(self) -> int:
        """Whose node is looked into: a GPU that is handed something, so none of the first stage where there are more."""
        placed = self.made.step.placement
        here = self.case.you
        return here + placed.stride("pp") if placed.degree("pp") > 1 and stage_of(placed, here) == 0 else here

    @cached_property
    def stage(self) -> int:
        return stage_of(self.made.step.placement, self.you)

    @cached_property
    def close(self) -> Close:
        step, timeline = self.made.step, self.made.step.timeline
        rows = timeline.by_stage
        own = [i for i in rows[self.stage] if i.kind == "F" and i.start >= EARLY * timeline.makespan]
        work = own[0] if own else next(i for i in reversed(rows[self.stage]) if i.kind == "F")
        if self.stage == 0:
            return Close(work, None, work.start)
        before = next(i for i in rows[self.stage - 1] if i.kind == "F" and i.micro_batch == work.micro_batch)
        return Close(work, before, min(before.end + step.send_s, work.start))

    @cached_property
    def chunk(self) -> Chunk:
        return stages_of(self.made.scenario.model, self.made.scenario.layout)[self.stage].chunks[0]

    @cached_property
    def time(self) -> ChunkTime:
        """What the operation that is looked into takes, and what its layers issue."""
        return chunk_time(self.made.traffic, self.chunk)

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """Of the operation that is looked into, since it began."""
        return events(self.made.traffic, self.chunk, "F")

    def layer_span(self, layer: int) -> tuple[float, float]:
        """When a layer begins and ends in the step.   [s]"""
        own = [e for e in self.events if e.layer == layer and e.kind != "beside"]
        return self.close.work.start + own[0].start, self.close.work.start + own[-1].end

    @property
    def last_layer(self) -> int:
        return self.chunk.layers - 1

    def _floor(self) -> None:
        case, made, script = self.case, self.made, self.script
        floor, placed = case.floor, made.step.placement
        tp, stages = placed.reach("tp"), placed.degree("pp")
        script.open(
            "empty floor",
            f"{count_text(GPUS)} GPUs in {floor.nodes} nodes, under leaves and a spine.",
            f"{floor.units} units of {floor.nodes_per_unit} nodes of {floor.gpus_per_node} GPUs. Above each unit one leaf "
            "switch a rail, above all the spine.",
        )
        inside = "stay in a node" if not tp.leaves_node else f"span {counted(tp.nodes, 'node')}"
        self.pour = script.passage(
            "ranks pour in",
            2.6,
            f"{counted(stages, 'stage')} of {count_text(GPUS // stages)} GPUs; TP groups of {tp.size} {inside}.",
            f"Rank order {', '.join(axis.upper() for axis in case.order)}: the GPUs of a stage take one colour after another. "
            f"Your GPU is rank {self.you}, in stage {self.stage}.",
        )
        until = self.close.before.end if self.close.before else self.close.work.start
        self.runs = script.passage(
            "the step runs",
            3.0,
            "Micro-batches run through the stages; below, the step is written.",
            f"One step takes {made.step.seconds.text}. Blue is a forward pass, orange a backward pass; the camera is about to "
            f"go into stage {self.stage}.",
            until=until,
        )

    def _inside(self) -> None:
        made, script, work = self.made, self.script, self.close.work
        hop = next((c for c in made.step.communication if c.axis == "pp"), None)
        self.unit: Span | None = None
        if hop and self.close.before:
            self.zoom_unit = script.run(0.9)
            self.unit = script.run(1.8, until=self.close.arrives)
            script.stop(
                "a hand-over",
                f"Stage {self.stage} is handed micro-batch {work.micro_batch}: {hop.payload.text} per GPU, {seconds_text(hop.each_s)}.",
                f"Every GPU of stage {self.stage - 1} sends its part to the GPU of the same place in stage {self.stage}, over "
                f"{WIRES[hop.reach.wire]}, all at once.",
            )
        self._one_layer()
        self._all_layers()

    def _one_layer(self) -> None:
        made, script = self.made, self.script
        first = self.layer_span(0)
        script.run(0.5, until=first[0])
        self.zoom_node = script.run(0.9)
        self.node = script.run(3.0, until=first[1])
        talks = [c for _, _, of_layer in self.time.traffic for c in of_layer.forward if c.axis == "tp"]
        said = f"{talks[0].payload.text}, {seconds_text(talks[0].each_s)} each" if talks else "nothing to sum"
        script.stop(
            "in the node",
            f"One layer: {counted(made.scenario.cluster.gpus_per_node, 'GPU')} compute, and their parts meet: {said}."
            if talks
            else "One layer: each GPU computes alone.",
            f"A layer takes {seconds_text(first[1] - first[0])}. Its sums go over {WIRES[made.step.placement.reach('tp').wire]}.",
        )

    def _all_layers(self) -> None:
        made, script = self.made, self.script
        first, last = self.layer_span(0), self.layer_span(self.last_layer)
        self.zoom_gpu = script.run(0.9)
        self.gpu = script.run(2.6, until=max(first[1], last[0]))
        held = made.stages[self.stage]
        script.stop(
            "in the GPU",
            "Layer after layer runs; its activations stay for the way back.",
            f"Weights, gradients and optimizer state lie below, activations above them: stage {self.stage} holds at most "
            f"{within_text(held.total.value, made.capacity_bytes, binary=True)}.",
        )
        self.zoom_layer = script.run(0.9)
        self.layer = script.run(3.0, until=max(first[1], last[1]))
        script.stop(
            "in the layer",
            "Attention, its sum; the MLP, its sum. Now back out.",
            f"The last of {self.chunk.layers} layers: each half computes on one of {made.scenario.layout.tp} parts of its columns, "
            "and a sum repairs the rest."
            if made.scenario.layout.tp > 1
            else f"The last of {self.chunk.layers} layers: attention, then the MLP, whole on this GPU.",
        )

    def _out(self) -> None:
        case, made, script, tail = self.case, self.made, self.script, self.tail
        self.back = script.run(1.0)
        self.rest = script.run(2.4, until=tail.passes)
        script.stop(
            "the rest",
            "The same for every micro-batch, until the pipeline has drained.",
            f"{counted(made.scenario.layout.micro_batches, 'micro-batch')} have gone forth and back through "
            f"{counted(made.scenario.layout.pp, 'stage')}.",
        )
        dp = made.step.placement.reach("dp")
        self.gradients = script.run(2.2, until=tail.end)
        script.stop(
            "gradients meet",
            f"Gradients of the copies meet over {WIRES[dp.wire]}: {seconds_text(traffic_s(made, 'dp'))}."
            if dp.size > 1
            else "There is one copy only: no gradients to sum.",
            f"Groups of {dp.size} hold the same part of the model. What nothing hides adds "
            f"{seconds_text(made.step.exposed_on('dp'))} to the step; then the optimizer steps.",
        )
        self._race()
        lost = waiting(case)
        self.lost = script.passage(
            "a node is lost",
            2.0,
            f"A node is gone: {lost.text} wait at their next call, then all.",
            f"The groups that have a member in node {case.floor.node_of(self.you)} stop at once; soon all {count_text(GPUS)} "
            "wait for them.",
        )

    @cached_property
    def other(self) -> Estimate:
        """The same plan in the other order, on the narrow spine."""
        return self.case.made(self.case.swapped, self.case.narrow)

    @cached_property
    def here(self) -> Estimate:
        """This order on the narrow spine."""
        return self.case.made(self.case.order, self.case.narrow)

    def _race(self) -> None:
        mine, other = (traffic_s(made, "dp") for made in (self.here, self.other))
        self.raced = max(mine, other)
        self.turn = self.script.run(0.7)
        self.race = self.script.run(2.4, engine=self.raced)
        self.script.stop(
            "the other order",
            f"Swap the outer axes, spine {ratio_text(self.case.narrow)}: {seconds_text(mine)} against {seconds_text(other)}.",
            f"{self._order(self.case.order)}: gradients over {WIRES[self.here.step.placement.reach('dp').wire]}. "
            f"{self._order(self.case.swapped)}: over {WIRES[self.other.step.placement.reach('dp').wire]}.",
        )

    @staticmethod
    def _order(order: tuple[str, ...]) -> str:
        return ", ".join(axis.upper() for axis in order)

    def clock(self, e: float) -> str:
        """The engine's time as words: of the step, then of the race."""
        return "" if e <= 0 else seconds_text(e if e <= self.tail.end else e - self.tail.end)
