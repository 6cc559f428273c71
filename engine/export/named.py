"""The catalogue's name of a model, when it has the shape of one."""

from typing import Any

from engine.catalog.model import Model, catalogue, model_named


def name_of(model: Model) -> str | None:
    """The first catalogue name with this shape.

    >>> name_of(model_named("mixtral-8x7b"))
    'mixtral-8x7b'
    """
    return next((name for name in catalogue() if model_named(name).stands_for(model)), None)


def title_of(model: Model) -> str:
    """A name for comments and jobs."""
    return name_of(model) or f"custom-{model.layers}x{model.hidden}"


def shape_of(model: Model) -> dict[str, Any]:
    """The model of a scenario document: what differs from a field's default, and whether its MLP has a gate."""
    return {**model.model_dump(exclude_defaults=True), "gated": model.gated}


def shape_words(model: Model) -> str:
    """The same in one line."""
    return ", ".join(f"{field} {value}" for field, value in shape_of(model).items())
