"""What eager PyTorch keeps for the backward pass, part by part, beside the engine's formula for fused software."""

from dataclasses import dataclass

from engine.catalog.model import Model
from engine.language.formula import Term
from engine.layout.layout import Layout
from engine.layout.stages import Chunk
from engine.memory.activations import layer_kept_term


@dataclass(frozen=True)
class Kept:
    """One kind of tensor kept for the backward pass.

    bytes   on one rank, of one micro-batch
    fused   what the engine's formula counts for it
    why     eager PyTorch keeps more
    """

    what: str
    bytes: float
    fused: float
    why: str = ""


def layer_parts(model: Model, layout: Layout, sequence_tokens: int) -> tuple[Kept, ...]:
    """One layer and micro-batch, part by part.   [bytes]"""
    tokens, t, h = layout.micro_batch * sequence_tokens, layout.tp, model.hidden
    own, query = tokens / t, model.heads * model.head_dim
    attention, keys = 2 * tokens * query / t, 4 * tokens * model.kv_heads * model.head_dim / t
    inner = 2 * tokens * model.ffn / t
    return (
        Kept(
            "norms' inputs",
            2 * own * (8 * h + 4),
            4 * own * h,
            "RMSNorm runs as single operations: an FP32 copy of the input, the FP32 result before its weight and one "
            "FP32 number a token stay, where a fused kernel keeps the BF16 input",
        ),
        Kept(
            "norms' outputs",
            4 * tokens * h,
            4 * own * h,
            "autograd keeps the gathered inputs of the products; Megatron-LM keeps its own slice and gathers again backward",
        ),
        Kept("Q, K and V", attention + keys, attention + keys),
        Kept(
            "attention output",
            2 * attention,
            attention,
            "the CPU's flash kernel gives heads first and the next product wants tokens first: a copy stays beside it",
        ),
        Kept("softmax statistics", 4 * tokens * model.heads / t, 4 * tokens * model.heads / t),
        Kept("MLP", 4 * inner, 3 * inner, "gate, SiLU of it, up and their product: a fused SwiGLU computes SiLU again"),
    )


def layer_bytes(model: Model, layout: Layout, sequence_tokens: int) -> int:
    """All of them.   [bytes]

    >>> from engine.catalog.model import model_named
    >>> round(layer_bytes(model_named("llama-3-70b"), Layout(), 8192) / (8192 * 8192), 2)
    10.32
    """
    return round(sum(part.bytes for part in layer_parts(model, layout, sequence_tokens)))


def fused_layer(model: Model, layout: Layout, sequence_tokens: int) -> Term:
    """The engine's formula for the same layer, with its working."""
    return layer_kept_term(model, layout, sequence_tokens, moe=False, fp8=False, recompute="none")


def stage_bytes(model: Model, layout: Layout, sequence_tokens: int, chunk: Chunk) -> int:
    """A stage's forward pass of one micro-batch: its layers, and its output, or the head's norm, input and logits.   [bytes]"""
    tokens, t, h = layout.micro_batch * sequence_tokens, layout.tp, model.hidden
    layers = chunk.layers * layer_bytes(model, layout, sequence_tokens)
    if not chunk.head:
        return round(layers + 2 * tokens * h / t)
    return round(layers + tokens / t * (8 * h + 4) + 2 * tokens * h + 2 * tokens * model.vocab / t)
