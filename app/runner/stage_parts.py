"""Which part of the small GPT each pipeline stage holds: whole layers, the embeddings first, the norm and the head last."""

from collections.abc import Iterable
from math import prod

from engine.lens.demo_model import TinyGpt

Tensors = tuple[tuple[str, tuple[int, ...]], ...]


def dealt_layers(layers: int, parts: int) -> tuple[range, ...]:
    """The layers of each part, dealt as evenly as they go.

    >>> dealt_layers(4, 2), dealt_layers(5, 2)
    ((range(0, 2), range(2, 4)), (range(0, 2), range(2, 5)))
    """
    return tuple(range(part * layers // parts, (part + 1) * layers // parts) for part in range(parts))


def part_tensors(model: TinyGpt, part: int, parts: int) -> Tensors:
    """Name and shape of each tensor of one part.

    >>> [name for name, _ in part_tensors(TinyGpt(64, 2, 8), 0, 2)][:3]
    ['embed.token.weight', 'embed.position.weight', 'blocks.0.norm1.weight']
    """
    layers = dealt_layers(model.layers, parts)[part]
    beginnings = tuple(f"blocks.{layer}." for layer in layers)
    beginnings += ("embed.",) * (part == 0) + ("norm.", "head.") * (part == parts - 1)
    return tuple((name, shape) for name, shape in model.tensors if name.startswith(beginnings))


def numbers(tensors: Iterable[tuple[str, tuple[int, ...]]]) -> int:
    """Parameters in these tensors.

    >>> numbers(part_tensors(TinyGpt(64, 2, 8), 0, 1)) == TinyGpt(64, 2, 8).parameters.value
    True
    """
    return sum(prod(shape) for _, shape in tensors)
