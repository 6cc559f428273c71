"""The memory of each pipeline stage, every part with its working."""

from dataclasses import dataclass
from functools import cached_property

from engine.catalog.calibration import Calibration
from engine.catalog.model import Model
from engine.language.formula import Term, number_of
from engine.layout.layout import Layout
from engine.layout.stages import Chunk, Stage
from engine.memory.activations import layer_kept_term
from engine.memory.buffers import buffers_term
from engine.memory.held import gpu_parameters, stage_parameter_terms
from engine.memory.state import (
    activation_bytes,
    held_bytes,
    held_with_experts_bytes,
    needed_bytes,
    stage_state_bytes,
    stage_total_bytes,
)


@dataclass(frozen=True)
class StageMemory:
    """What one GPU of a stage holds; each part is a Term in bytes."""

    stage: int
    parameters: float
    weights: Term
    gradients: Term
    optimizer: Term
    activations: Term
    buffers: Term
    known: Calibration

    @property
    def parts(self) -> tuple[Term, ...]:
        return (self.weights, self.gradients, self.optimizer, self.activations, self.buffers)

    @cached_property
    def state(self) -> Term:
        """Weights, gradients and optimizer together."""
        return stage_state_bytes.explain("training state", w=self.weights, g=self.gradients, o=self.optimizer)

    @cached_property
    def total(self) -> Term:
        return stage_total_bytes.explain(
            f"stage {self.stage}",
            w=self.weights,
            g=self.gradients,
            o=self.optimizer,
            a=self.activations,
            u=self.buffers,
        )

    @cached_property
    def needed(self) -> Term:
        """What the GPU must have: the total, what the allocator reserves, and the context."""
        context = self.known.factor("context_bytes") + self.known.factor("nccl_bytes")
        return needed_bytes.explain("needed", p=self.total, f=self.known.factor("allocator_share"), c=context)


def stage_memory(
    model: Model,
    layout: Layout,
    sequence_tokens: int,
    stage: Stage,
    in_flight: float,
    known: Calibration,
    *,
    fp8: bool,
    fused: bool,
    copies: int = 1,
) -> StageMemory:
    """The memory of one stage.

    in_flight   micro-batches whose activations the stage holds at its peak, in full stages
    known       what the allocator, CUDA and NCCL take besides
    copies      copies of a stage's weights that a device holds (2 in DualPipe: counted in the stage's chunks)
    """
    own, experts = stage_parameter_terms(model, layout, stage.whole)
    weights, gradients, optimizer = _state(layout, own, experts)
    tokens = layout.micro_batch * sequence_tokens / layout.cp
    held = gpu_parameters.explain("parameters per GPU", o=own, x=experts)
    return StageMemory(
        stage=stage.index,
        parameters=held.value,
        weights=weights,
        gradients=gradients,
        optimizer=optimizer,
        activations=_activations(model, layout, sequence_tokens, stage.whole, in_flight / copies, fp8),
        buffers=buffers_term(model, layout, stage.whole, tokens, fused, held, fp8),
        known=known,
    )


def _state(layout: Layout, own: Term, experts: Term) -> tuple[Term, Term, Term]:
    """Weights, gradients and optimizer state. FSDP keeps FP32 weights, which are the optimizer's master copy."""
    fsdp = layout.zero == 3
    sizes = {"weights": 4 if fsdp else 2, "gradients": layout.gradient_bytes, "optimizer": 8 if fsdp else 12}
    first_sharded_at = {"weights": 3, "gradients": 2, "optimizer": 1}

    def part(name: str) -> Term:
        sharded = layout.zero >= first_sharded_at[name]
        width, expert_width = (layout.shard_width, layout.expert_shard_width) if sharded else (1, 1)
        if experts.value == 0:
            return held_bytes.explain(name, b=sizes[name], P=own, D=width)
        return held_with_experts_bytes.explain(name, b=sizes[name], P=own, D=width, E=experts, X=expert_width)

    return part("weights"), part("gradients"), part("optimizer")


def _activations(model: Model, layout: Layout, tokens: int, chunk: Chunk, in_flight: float, fp8: bool) -> Term:
    def kept(moe: bool, recompute: str) -> Term | float:
        present = chunk.moe if moe else chunk.dense
        return layer_kept_term(model, layout, tokens, moe, fp8, recompute) if present else 0.0

    dense, moe = kept(False, layout.recompute), kept(True, layout.recompute)
    working = 0.0
    if layout.recompute == "full":  # one layer at a time is run again, whose input is kept already
        working = max(number_of(kept(m, "none")) - number_of(kept(m, "full")) for m in (False, True))
    return activation_bytes.explain("activations", i=in_flight, n=chunk.dense, d=dense, m=chunk.moe, x=moe, w=working)
