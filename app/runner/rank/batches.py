"""The data: sequences that follow a simple rule with some noise, so that a few steps already learn; the same for all ranks."""

import torch
from torch import Tensor

from engine.lens.demo_model import VOCABULARY

NOISE = 0.1


def batch_of(step: int, sequences: int, length: int, seed: int) -> tuple[Tensor, Tensor]:
    """Tokens and the tokens that follow them, each [sequences, length]. Every rank makes the whole and takes its part."""
    chance = torch.Generator().manual_seed(1000 * seed + step)
    first = torch.randint(0, 16, (sequences, 1), generator=chance)
    clean = (first + 3 * torch.arange(length + 1)) % 32
    noise = torch.randint(0, VOCABULARY, clean.shape, generator=chance)
    tokens = torch.where(torch.rand(clean.shape, generator=chance) < NOISE, noise, clean)
    return tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()


def part_of(whole: Tensor, index: int, parts: int, dim: int = 0) -> Tensor:
    """One of equal slices."""
    return whole.chunk(parts, dim)[index].contiguous()
