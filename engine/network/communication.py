"""Which collectives a layout issues in one step, axis by axis, and how much of each shows in the step time."""

from dataclasses import dataclass, replace
from functools import cached_property

from engine.catalog.hardware import Cluster
from engine.catalog.model import Model
from engine.compute.machine import Machine
from engine.compute.work import Work
from engine.language.formula import Term
from engine.layout.layout import Layout
from engine.layout.stages import Stage
from engine.memory.held import gpu_parameters, layer_parameter_terms, stage_end_term
from engine.network.counts import issued_count, issued_sends, ring_hops
from engine.network.issued import Collective, LayerTraffic, on_one_nic
from engine.network.links import collective_s, send_time_s
from engine.network.payloads import (
    activation_payload_bytes,
    copies_of_token,
    exchange_bytes,
    handover_bytes,
    keys_and_values_bytes,
    latents_bytes,
    parameter_payload_bytes,
    rank_tokens,
    shard_payload_bytes,
)
from engine.network.placement import Placement, Reach
from engine.pipeline.schedules import schedule_named

BF16_BYTES, FP8_BYTES = 2, 1  # of a number that travels


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

    @cached_property
    def tokens(self) -> Term:
        """Tokens of a micro-batch on one context-parallel rank."""
        layout = self.layout
        return rank_tokens.explain("tokens on one rank", b=layout.micro_batch, s=self.sequence_tokens, c=layout.cp)

    def collective(
        self, axis: str, op: str, what: str, payload: Term, times: Term | float, reach: Reach, exposed: float
    ) -> Collective:
        """A collective with the time that these links give it."""
        each = collective_s(op, payload.value, reach, self.cluster, self.machine.calibration)
        return Collective(axis, op, what, payload, times, reach, each, exposed)

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
        payload = activation_payload_bytes.explain("one sum", b=BF16_BYTES, T=self.tokens, w=self.model.hidden)
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
        c, payload, reach = self.layout.cp, self._keys_and_values(), self.placement.reach("cp")
        if c == 1:
            return ()
        known = self.machine.calibration
        hop = send_time_s(payload.value, reach, self.cluster, known) - known.factor("send_latency_s")
        each = hop + known.factor("context_hop_s")
        hidden = work.core / c
        share = max(0.0, 1 - hidden / each)
        there, back = (ring_hops.explain("hops of a pass", k=rounds, c=c) for rounds in (1, 2))
        forward = Collective("cp", "send", "CP keys and values", payload, there, reach, each, share)
        return forward, replace(forward, what="CP keys, values and gradients", times=back)

    def _keys_and_values(self) -> Term:
        model, given = self.model, {"b": BF16_BYTES, "T": self.tokens}
        if model.latent:
            return latents_bytes.explain("latents of a hop", **given, r=model.kv_lora_rank, p=model.qk_rope_head_dim)
        return keys_and_values_bytes.explain(
            "keys and values of a hop", **given, k=model.kv_heads, t=self.layout.tp, q=model.qk_dim, v=model.v_dim
        )

    def _experts(self, work: Work) -> tuple[Collective, ...]:
        """Tokens travel to their experts (in FP8 where products are) and back, each pass.

        Where a token's experts stand on few nodes, one copy a node crosses the network. DualPipe computes one direction
        while the other's tokens travel (DeepSeek-V3 report, section 3.2.1): only what outlasts that shows.
        """
        layout, reach = self.layout, self.placement.reach("ep")
        given = {"T": self.tokens, "t": layout.sp, "k": self._copies(reach), "h": self.model.hidden}
        sent, taken = (
            exchange_bytes.explain("tokens of an exchange", b=size, **given)
            for size in (FP8_BYTES if self.machine.fp8 else BF16_BYTES, BF16_BYTES)
        )
        there = self.collective("ep", "all_to_all", "EP dispatch", sent, 1, reach, 1.0)
        back = self.collective("ep", "all_to_all", "EP combine", taken, 1, reach, 1.0)
        if not layout.runs.paired or not there.each_s:
            return there, back
        beside = (work.forward + work.backward_input + work.backward_weight) / 2
        shown = max(0.0, 1 - beside / (there.each_s + back.each_s))
        return replace(there, exposed_share=shown), replace(back, exposed_share=shown)

    def _copies(self, reach: Reach) -> Term | float:
        """Copies of a token that travel: one an expert, or one a node where its experts stand on few."""
        model = self.model
        if not (reach.leaves_node and model.routed_nodes):
            return model.top_k
        return copies_of_token.explain("copies of a token", k=model.top_k, n=model.routed_nodes, g=reach.nodes)

    def _sharded(self, work: Work, moe: bool) -> tuple[tuple[Collective, ...], tuple[Collective, ...]]:
        """FSDP gathers a layer before each pass and scatters its gradients; what computation does not cover shows.

        Forward, then backward. Experts have copies on fewer ranks than the rest: they are gathered by themselves.
        """
        if self.layout.zero < 3:
            return (), ()
        gathers, scatters = [], []
        for what, held, reach in self._layer_shards(moe):
            weights, gradients = self._weights(held), self._gradients(held)
            gathers.append(self.collective("dp", "all_gather", f"FSDP {what}all-gather", weights, 1, reach, 0.0))
            scatters.append(
                self.collective("dp", "reduce_scatter", f"FSDP {what}reduce-scatter", gradients, 1, reach, 0.0)
            )
        back = work.backward_input + work.backward_weight
        return self._beside(gathers, work.forward), self._beside([*gathers, *scatters], back)

    def _weights(self, held: Term) -> Term:
        return parameter_payload_bytes.explain("weights", b=BF16_BYTES, P=held)

    def _gradients(self, held: Term) -> Term:
        return parameter_payload_bytes.explain("gradients", b=self.layout.gradient_bytes, P=held)

    def _layer_shards(self, moe: bool) -> list[tuple[str, Term, Reach]]:
        """Parameters of a layer on one rank, and the group they are sharded over: experts apart where they are spread."""
        whole = self.placement.reach("shard")
        rest, experts = layer_parameter_terms(self.model, self.layout, moe)
        if not experts.value:
            shards = [("", rest, whole)]
        elif self.layout.ep == 1:
            shards = [("", gpu_parameters.explain("a layer, per GPU", o=rest, x=experts), whole)]
        else:
            shards = [("", rest, whole), ("expert ", experts, self.placement.reach("expert-data"))]
        return [shard for shard in shards if shard[2].size > 1]

    def _beside(self, collectives: list[Collective], beside: float) -> tuple[Collective, ...]:
        """Collectives of one pass that follow each other beside its computation: what it does not cover shows."""
        each = sum(c.each_s for c in collectives)
        shown = max(0.0, each - beside) + self.machine.stack.contention * min(each, beside)
        return tuple(replace(c, exposed_share=shown / each if each else 0.0) for c in collectives)

    def pipeline_send(self) -> Collective | None:
        """One hand-over of a micro-batch between stages; how much of all of them shows is for the simulator to say."""
        reach, layout = self.placement.reach("pp"), self.layout
        if layout.pp == 1:
            return None
        payload = handover_bytes.explain("one hand-over", b=BF16_BYTES, T=self.tokens, h=self.model.hidden, t=layout.sp)
        placement = schedule_named(layout.schedule).placement(layout.pp, layout.vp)
        times = issued_sends.explain(v=len(placement.places[0]) // placement.pipes, m=layout.micro_batches)
        each = send_time_s(payload.value, reach, self.cluster, self.machine.calibration)
        return Collective("pp", "send", "PP sends", payload, times, reach, each, 0.0)

    def data_parallel(self, stage: Stage, own: Term, experts: Term, window_s: float) -> tuple[Collective, ...]:
        """Gradients once a step (each micro-batch under ZeRO-2), weights after it; hidden behind the last backward.

        own        parameters of one GPU of the stage, routed experts left out   [parameters]
        experts    and its routed experts, of which fewer GPUs hold copies       [parameters]
        window_s   computation left while gradients travel                       [s]
        """
        full = self.placement.reach("data")
        if self.layout.zero == 3:
            return (*self._ends(stage), *self._replicas(own, experts))
        few = self.placement.reach("expert-data")
        parts = [
            (what, held, reach)
            for what, held, reach in (("", own, full), ("expert ", experts, few))
            if held.value and reach.size > 1
        ]
        return tuple(
            c for part in parts for c in self._summed(*part, window_s / len(parts), max(1, stage.whole.layers))
        )

    def _summed(self, what: str, held: Term, reach: Reach, window_s: float, pieces: int) -> list[Collective]:
        layout, gradients, once = self.layout, self._gradients(held), issued_count.explain(c=1, m=1)
        if layout.zero == 0:
            whole = self.collective("dp", "all_reduce", f"DP {what}all-reduce", gradients, once, reach, 1.0)
            return [self._hidden(whole, window_s, pieces)]
        often = issued_count.explain(c=1, m=layout.micro_batches) if layout.zero == 2 else once
        scatter = self.collective("dp", "reduce_scatter", f"DP {what}reduce-scatter", gradients, often, reach, 1.0)
        gather = self.collective("dp", "all_gather", f"DP {what}all-gather", self._weights(held), once, reach, 1.0)
        return [self._hidden(scatter, window_s, pieces), self._hidden(gather, window_s / 2, pieces)]

    def _ends(self, stage: Stage) -> tuple[Collective, ...]:
        """FSDP's first gather and last scatter of a pass have no computation beside them."""
        reach, held = self.placement.reach("shard"), stage_end_term(self.model, self.layout, stage.whole)
        if reach.size == 1 or held.value == 0:
            return ()
        each = issued_count.explain(c=1, m=self.layout.micro_batches)
        return (
            self.collective("dp", "all_gather", "FSDP first all-gather", self._weights(held), each, reach, 1.0),
            self.collective(
                "dp", "reduce_scatter", "FSDP last reduce-scatter", self._gradients(held), each, reach, 1.0
            ),
        )

    def _replicas(self, own: Term, experts: Term) -> tuple[Collective, ...]:
        """HSDP sums gradients across groups as well: each rank its own shard."""
        layout, reach = self.layout, self.placement.reach("replica")
        if reach.size == 1:
            return ()
        payload = shard_payload_bytes.explain(
            "gradients of a shard",
            b=layout.gradient_bytes,
            P=gpu_parameters.explain("parameters per GPU", o=own, x=experts) if experts.value else own,
            D=layout.shard_width,
        )
        once = issued_count.explain(c=1, m=1)
        return (self.collective("dp", "all_reduce", "HSDP all-reduce", payload, once, reach, 1.0),)

    def _hidden(self, collective: Collective, window_s: float, pieces: int) -> Collective:
        """The share of a collective that its window does not cover; its last piece always shows."""
        if not self.machine.stack.overlapped or collective.each_s == 0:
            return collective
        covered = self.machine.calibration.factor("dp_hidden_share") * window_s
        shown = max(collective.each_s - covered, collective.each_s / pieces)
        return replace(collective, exposed_share=min(1.0, shown / collective.each_s))
