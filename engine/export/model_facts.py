"""What makes a model beyond its shape: what of it an export writes, and a sentence for what it leaves out."""

from collections.abc import Collection, Iterator

from engine.catalog.model import Model
from engine.export.base import gap
from engine.scenario import Scenario

# field of a Model that only exports use -> what it is called
FACTS = {"rope_theta": "the rope base", "norm_eps": "the norms' epsilon", "qk_norm": "norms on queries and keys"}
VECTORS = ("layer_vectors", "moe_vectors", "expert_vectors", "end_vectors")
NO_LINE = "no line here holds it; it is set in the model that your script builds"
COUNTED = "norms and biases are counted so, but which of them the model has is set where it is built"


def model_gaps(scenario: Scenario, written: Collection[str]) -> Iterator[str]:
    """A sentence for each field of the model that is not default and not written.

    written   fields that stand in the files or in another sentence
    """
    model = scenario.model
    for name, field in Model.model_fields.items():
        value = getattr(model, name)
        if name not in written and value not in (field.default, None, False):
            yield gap(f"model.{name}", value, COUNTED if name in VECTORS else NO_LINE)


def unknown_gaps(model: Model) -> Iterator[str]:
    """What the board does not know of this model, in two sentences at most."""
    unknown = [title for name, title in FACTS.items() if getattr(model, name) is None]
    yield (
        f"The model's own config.json says what is not here: {', '.join([*unknown, 'rope scaling'])}, the activation function, "
        "and whether layers for multi-token prediction are trained beside it."
    )
    if model.experts:
        yield (
            "The router: whether it takes a softmax or a sigmoid, its bias and its scaling are the model's own; "
            "this board reckons with even loads."
        )
