"""What a file of settings leaves to the training script it is given to."""

from collections.abc import Iterator

from engine.export.base import gap
from engine.export.model_facts import unknown_gaps
from engine.export.named import shape_words, title_of
from engine.export.run_length import steps_of
from engine.scenario import Scenario


def script_gaps(scenario: Scenario) -> Iterator[str]:
    """The model, the length of its sequences and the end of the run: no such file says them."""
    model = scenario.model
    yield gap("model", title_of(model), f"the file holds no shape; your train.py must build it ({shape_words(model)})")
    yield gap("sequence_tokens", scenario.sequence_tokens, "your data must come in sequences of this length")
    yield gap(
        "training.tokens",
        f"{scenario.training.tokens:g}",
        f"your train.py must stop after {steps_of(scenario):,} steps",
    )
    yield from unknown_gaps(model)
