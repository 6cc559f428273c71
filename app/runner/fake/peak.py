"""The most memory of a role at once, as a sum of parts: the engine's breakdown with what eager PyTorch keeps instead."""

from dataclasses import dataclass

from app.runner.event_bounds import BytesReckoned, Sentence, Word
from app.runner.fake.predict import RolePrediction
from app.runner.fake.shapes import FSDP_CUT

PEAK_SHARE = 0.10  # temporaries of single operations; seen -0.076 to +0.035, at full depth within 0.02
VOCABULARY = "the embedding, cut by rows, gets its gradient for the whole vocabulary on every tensor-parallel rank: FP32, and BF16 beside it"
LOGITS = "the loss, going back, holds FP32 copies of this rank's logits: four where the vocabulary is cut, else three"
TURN = "a backward pass gives memory back as it fills gradients, so the peak is at its start or at its end"


@dataclass(frozen=True)
class Part:
    """One part of a peak, in bytes."""

    what: Word
    bytes: BytesReckoned
    why: Sentence


def peak_parts(said: RolePrediction) -> tuple[Part, ...]:
    """What is alive at the peak of a role."""
    layout, memory = said.request.layout, said.memory
    activations, gradients = _at_the_turn(said)
    buffers, logits = memory.buffers.value - memory.buffers.numbers["l"], _logits(said)
    return (
        Part("weights, gathered", memory.weights.value, "FSDP2 keeps them in BF16 from the first pass to the last"),
        Part("FP32 weights", said.parameter_bytes, FSDP_CUT),
        Part("gradients", gradients, VOCABULARY if _whole_vocabulary(said) else "FP32, summed over micro-batches"),
        Part("activations", activations, f"{said.in_flight} of {layout.micro_batches} micro-batches in flight. {TURN}"),
        Part("logits", logits, LOGITS) if logits > buffers else Part("working buffers", buffers, "the engine's"),
    )


def peak_bytes(said: RolePrediction) -> float:
    """All of them.   [bytes]"""
    return sum(part.bytes for part in peak_parts(said))


def _at_the_turn(said: RolePrediction) -> tuple[float, float]:
    """Activations and gradients at the fuller end of a backward pass. Later ones start with gradients in place."""
    w, kept, words = said.in_flight, said.kept_bytes, _whole_vocabulary(said)
    summed = said.memory.gradients.value + 4 * words * (1 - 1 / said.request.layout.tp)
    later = said.request.layout.micro_batches > w
    start, end = (w * kept, summed if later else 0.0), ((w - 1) * kept, summed + 2 * words)
    return max(start, end, key=sum)


def _whole_vocabulary(said: RolePrediction) -> float:
    """Parameters of the embedding, where its gradient is not cut like itself."""
    model, cut = said.request.model, said.request.layout.tp > 1
    return model.vocab * model.hidden * (said.chunk.embedding and cut)


def _logits(said: RolePrediction) -> float:
    request = said.request
    tokens, t = request.layout.micro_batch * request.sequence_tokens, request.layout.tp
    return (4 if t > 1 else 3) * 4 * tokens * request.model.vocab / t * said.chunk.head
