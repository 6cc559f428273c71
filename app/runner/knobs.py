"""The knobs of a demo: a bounded whole number, or one of a few named choices. A client can send nothing else."""

from engine.language.inputs import Amount, Choice

Value = int | str
Knob = Amount | Choice

HIDDEN = Choice("hidden", "hidden size", 128, {64: "64", 128: "128", 256: "256"})
LAYERS = Amount("layers", "layers", 4, 1, 8)
HEADS = Choice("heads", "attention heads", 8, {4: "4", 8: "8"})
SEQUENCE = Amount("sequence", "sequence", 64, 8, 256, "tokens")
BATCH = Amount("batch", "global batch", 8, 1, 32, "sequences")
STEPS = Amount("steps", "steps", 5, 1, 20)
MODEL = (HIDDEN, LAYERS, HEADS, SEQUENCE, BATCH, STEPS)  # what every demo that trains the small GPT takes


def ranks_knob(default: int = 4, high: int = 8) -> Amount:
    """How many processes a demo starts."""
    return Amount("ranks", "ranks", default, 2, high)
