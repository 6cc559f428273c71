"""Which collectives a layout issues in one step, axis by axis, and how much of each shows in the step time."""

from dataclasses import dataclass, replace
from functools import cached_property

from engine.catalog import calibration
from engine.catalog.hardware import Cluster
from engine.catalog.model import Model
from engine.compute.work import Machine, Work
from engine.layout.layout import Layout
from engine.layout.stages import Stage
from engine.memory.parameters import count
from engine.network.issued import Collective, LayerTraffic, on_one_nic
from engine.network.links import collective_s, send_time_s
from engine.network.placement import Placement, Reach
from engine.pipeline.schedules import schedule_named


@dataclass(frozen=True)
class Traffic:
    """Everything that decides collectives: model, layout, cluster, placement and software."""

    model: Model
    layout: Layout
    cluster: Cluster
    machine: Machine
    sequence_tokens: int

    @cached_property
    def placement(self) -> Placement:
        return Placement(self.layout, self.cluster, self.machine.gpus)

    @property
    def tokens(self) -> float:
        """Tokens of a micro-batch on one context-parallel rank."""
        return self.layout.micro_batch * self.sequence_tokens / self.layout.cp

    def collective(
        self, axis: str, op: str, what: str, payload: float, count: float, reach: Reach, exposed: float
    ) -> Collective:
        """A collective with the time that these links give it."""
        each = collective_s(op, payload, reach, self.cluster)
        return Collective(axis, op, what, payload, count, reach, each, exposed)

    def layer(self, work: Work, moe: bool) -> LayerTraffic:
        """Collectives of one layer and micro-batch that stand between its computations."""
        layout = self.layout
        forward, backward = self._tensor()
        context = self._context(work)
        experts = self._experts(work) if moe else ()
        sharded = self._sharded(work, moe)
        ahead, behind = work.forward, work.backward_input + work.backward_weight
        if layout.runs.paired:  # a forward runs beside a backward
            ahead = behind = (ahead + behind) / 2
        return LayerTraffic(
            forward=on_one_nic((*forward, *context[:1], *experts, *sharded[0]), ahead),
            backward=on_one_nic((*backward, *context[1:], *experts, *sharded[1]), behind),
        )

    def _tensor(self) -> tuple[tuple[Collective, ...], tuple[Collective, ...]]:
        """Two sums a pass: after attention and after the MLP. With sequence parallelism each is a scatter and a gather."""
        reach, exposed = self.placement.reach("tp"), self.machine.stack.tp
        payload = 2 * self.tokens * self.model.hidden
        if not self.layout.sequence_parallel:
            both = (self.collective("tp", "all_reduce", "TP all-reduce", payload, 2, reach, exposed),)
            return both, both
        gather = self.collective("tp", "all_gather", "TP all-gather", payload, 2, reach, exposed)
        scatter = self.collective("tp", "reduce_scatter", "TP reduce-scatter", payload, 2, reach, exposed)
        # the inputs are gathered once more for the weight gradients, beside other work where software overlaps
        again = replace(gather, what="TP gather again", exposed_share=0.0 if self.machine.stack.overlapped else 0.5)
        return (gather, scatter), (gather, scatter, again)

    def _context(self, work: Work) -> tuple[Collective, ...]:
        """Ring attention: keys and values travel while the block at hand is computed; backward they travel twice."""
        layout, model, c = self.layout, self.model, self.layout.cp
        reach = self.placement.reach("cp")
        if c == 1:
            return ()
        width = (
            model.kv_lora_rank + model.qk_rope_head_dim
            if model.latent
            else max(1.0, model.kv_heads / layout.tp) * (model.qk_dim + model.v_dim)
        )
        payload = 2 * self.tokens * width
        hop = send_time_s(payload, reach, self.cluster) - calibration.factor("send_latency_s")
        each = hop + calibration.factor("context_hop_s")
        hidden = work.core / c
        share = max(0.0, 1 - hidden / each)
        forward = Collective("cp", "send", "CP keys and values", payload, c - 1, reach, each, share)
        return forward, replace(forward, what="CP keys, values and gradients", count=2 * (c - 1))

    def _experts(self, work: Work) -> tuple[Collective, ...]:
        """Tokens travel to their experts (in FP8 where products are) and back, each pass.

        Where a token's experts stand on few nodes, one copy a node crosses the network. DualPipe computes one direction
        while the other's tokens travel (DeepSeek-V3 report, section 3.2.1): only what outlasts that shows.
        """
        model, layout, reach = self.model, self.layout, self.placement.reach("ep")
        copies = model.top_k
        if reach.leaves_node and model.routed_nodes:  # one copy a node, of those that the group spans
            copies = min(model.top_k, model.routed_nodes, reach.nodes)
        numbers = self.tokens / layout.sp * copies * model.hidden
        there = self.collective(
            "ep", "all_to_all", "EP dispatch", (1 if self.machine.fp8 else 2) * numbers, 1, reach, 1.0
        )
        back = self.collective("ep", "all_to_all", "EP combine", 2 * numbers, 1, reach, 1.0)
        if not layout.runs.paired or not there.each_s:
            return there, back
        beside = (work.forward + work.backward_input + work.backward_weight) / 2
        shown = max(0.0, 1 - beside / (there.each_s + back.each_s))
        return replace(there, exposed_share=shown), replace(back, exposed_share=shown)

    def _sharded(self, work: Work, moe: bool) -> tuple[tuple[Collective, ...], tuple[Collective, ...]]:
        """FSDP gathers a layer before each pass and scatters its gradients; what computation does not cover shows.

        Forward, then backward. Experts have copies on fewer ranks than the rest: they are gathered by themselves.
        """
        if self.layout.zero < 3:
            return (), ()
        gathers, scatters = [], []
        for what, held, reach in self._layer_shards(moe):
            size = self.layout.gradient_bytes * held
            gathers.append(self.collective("dp", "all_gather", f"FSDP {what}all-gather", 2 * held, 1, reach, 0.0))
            scatters.append(self.collective("dp", "reduce_scatter", f"FSDP {what}reduce-scatter", size, 1, reach, 0.0))
        back = work.backward_input + work.backward_weight
        return self._beside(gathers, work.forward), self._beside([*gathers, *scatters], back)

    def _layer_shards(self, moe: bool) -> list[tuple[str, float, Reach]]:
        """Parameters of a layer on one rank, and the group they are sharded over: experts apart where they are spread."""
        layout, parts, whole = self.layout, count(self.model), self.placement.reach("shard")
        rest = (parts.moe_rest if moe else parts.dense_layer) / layout.tp
        experts = self.model.experts * parts.expert / (layout.ep * layout.expert_tp) if moe else 0.0
        if layout.ep == 1 or not experts:
            return [("", rest + experts, whole)] if whole.size > 1 else []
        shards = [("", rest, whole), ("expert ", experts, self.placement.reach("expert-data"))]
        return [shard for shard in shards if shard[2].size > 1]

    def _beside(self, collectives: list[Collective], beside: float) -> tuple[Collective, ...]:
        """Collectives of one pass that follow each other beside its computation: what it does not cover shows."""
        each = sum(c.each_s for c in collectives)
        shown = max(0.0, each - beside) + self.machine.stack.contention * min(each, beside)
        return tuple(replace(c, exposed_share=shown / each if each else 0.0) for c in collectives)

    def pipeline_send(self) -> Collective:
        """One hand-over of a micro-batch between stages; how much of all of them shows is for the simulator to say."""
        reach, layout = self.placement.reach("pp"), self.layout
        payload = 2 * self.tokens * self.model.hidden / layout.sp
        placement = schedule_named(layout.schedule).placement(layout.pp, layout.vp)
        chunks = len(placement.places[0]) / placement.pipes
        crossings = 2 * layout.micro_batches * chunks if layout.pp > 1 else 0
        return Collective(
            "pp", "send", "PP sends", payload, crossings, reach, send_time_s(payload, reach, self.cluster), 0.0
        )

    def data_parallel(self, stage: Stage, own: float, experts: float, window_s: float) -> tuple[Collective, ...]:
        """Gradients once a step (each micro-batch under ZeRO-2), weights after it; hidden behind the last backward.

        own        parameters of one GPU of the stage, routed experts left out   [parameters]
        experts    and its routed experts, of which fewer GPUs hold copies       [parameters]
        window_s   computation left while gradients travel                       [s]
        """
        full = self.placement.reach("data")
        if self.layout.zero == 3:
            return (*self._ends(stage), *self._replicas(own + experts))
        few = self.placement.reach("expert-data")
        parts = [
            (what, held, reach)
            for what, held, reach in (("", own, full), ("expert ", experts, few))
            if held and reach.size > 1
        ]
        return tuple(
            c for part in parts for c in self._summed(*part, window_s / len(parts), max(1, stage.whole.layers))
        )

    def _summed(self, what: str, held: float, reach: Reach, window_s: float, pieces: int) -> list[Collective]:
        layout, gradients = self.layout, self.layout.gradient_bytes * held
        if layout.zero == 0:
            whole = self.collective("dp", "all_reduce", f"DP {what}all-reduce", gradients, 1, reach, 1.0)
            return [self._hidden(whole, window_s, pieces)]
        often = layout.micro_batches if layout.zero == 2 else 1
        scatter = self.collective("dp", "reduce_scatter", f"DP {what}reduce-scatter", gradients, often, reach, 1.0)
        gather = self.collective("dp", "all_gather", f"DP {what}all-gather", 2 * held, 1, reach, 1.0)
        return [self._hidden(scatter, window_s, pieces), self._hidden(gather, window_s / 2, pieces)]

    def _ends(self, stage: Stage) -> tuple[Collective, ...]:
        """FSDP's first gather and last scatter of a pass have no computation beside them."""
        reach, parts, layout = self.placement.reach("shard"), count(self.model), self.layout
        held = (
            max(parts.embedding * stage.whole.embedding, (parts.head or parts.embedding) * stage.whole.head) / layout.tp
        )
        if reach.size == 1 or held == 0:
            return ()
        gather = self.collective(
            "dp", "all_gather", "FSDP first all-gather", 2 * held, layout.micro_batches, reach, 1.0
        )
        payload = layout.gradient_bytes * held
        scatter = self.collective(
            "dp", "reduce_scatter", "FSDP last reduce-scatter", payload, layout.micro_batches, reach, 1.0
        )
        return gather, scatter

    def _replicas(self, parameters: float) -> tuple[Collective, ...]:
        """HSDP sums gradients across groups as well: each rank its own shard."""
        layout, reach = self.layout, self.placement.reach("replica")
        if reach.size == 1:
            return ()
        payload = layout.gradient_bytes * parameters / layout.shard_width
        return (self.collective("dp", "all_reduce", "HSDP all-reduce", payload, 1, reach, 1.0),)

    def _hidden(self, collective: Collective, window_s: float, pieces: int) -> Collective:
        """The share of a collective that its window does not cover; its last piece always shows."""
        if not self.machine.stack.overlapped or collective.each_s == 0:
            return collective
        covered = calibration.factor("dp_hidden_share") * window_s
        shown = max(collective.each_s - covered, collective.each_s / pieces)
        return replace(collective, exposed_share=min(1.0, shown / collective.each_s))
