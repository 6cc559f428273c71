"""The small GPT that every demo trains. engine/lens/demo_model.py knows its tensors by the same names."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.lens.demo_model import TinyGpt


class Attention(nn.Module):
    """Causal self-attention. How many heads this rank computes follows from its own weights, so that they can be cut."""

    def __init__(self, hidden: int, heads: int):
        super().__init__()
        self.size = hidden // heads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(hidden, hidden, bias=False) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        batch, length = x.shape[:2]
        q, k, v = (w(x).view(batch, length, -1, self.size).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        return self.wo(self.core(q, k, v).transpose(1, 2).reshape(batch, length, -1))

    def core(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Attention of all queries to all keys, [batch, heads, tokens, size]: what context parallelism replaces."""
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)


class Mlp(nn.Module):
    """Two matrices, four times as wide inside."""

    def __init__(self, hidden: int):
        super().__init__()
        self.w1, self.w2 = nn.Linear(hidden, 4 * hidden, bias=False), nn.Linear(4 * hidden, hidden, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.w2(F.gelu(self.w1(x)))


class Block(nn.Module):
    """One layer: norm, attention, norm, MLP, each added to the stream."""

    def __init__(self, hidden: int, heads: int):
        super().__init__()
        self.norm1, self.attention = nn.RMSNorm(hidden), Attention(hidden, heads)
        self.norm2, self.mlp = nn.RMSNorm(hidden), Mlp(hidden)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Embeddings(nn.Module):
    """A vector for each token and one for its place."""

    def __init__(self, shape: TinyGpt):
        super().__init__()
        self.token = nn.Embedding(shape.vocabulary, shape.hidden)
        self.position = nn.Embedding(shape.sequence, shape.hidden)

    def forward(self, tokens: Tensor, places: Tensor) -> Tensor:
        return self.token(tokens) + self.position(places)


class Gpt(nn.Module):
    """The whole model. A pipeline stage drops the parts it does not hold: forward runs those that are there."""

    def __init__(self, shape: TinyGpt, heads: int):
        super().__init__()
        self.embed: nn.Module | None = Embeddings(shape)
        self.blocks = nn.ModuleDict({str(i): Block(shape.hidden, heads) for i in range(shape.layers)})
        self.norm: nn.Module | None = nn.RMSNorm(shape.hidden)
        self.head: nn.Module | None = nn.Linear(shape.hidden, shape.vocabulary, bias=False)

    def forward(self, x: Tensor, places: Tensor | None = None) -> Tensor:
        """Logits of tokens, [batch, tokens] -> [batch, tokens, vocabulary].

        places   of the tokens in their sequence, where a rank holds only some
        """
        if self.embed is not None:
            x = self.embed(x, torch.arange(x.shape[1], device=x.device) if places is None else places)
        for block in self.blocks.values():
            x = block(x)
        if self.norm is not None:
            x = self.norm(x)
        return x if self.head is None else self.head(x)


def seeded_gpt(shape: TinyGpt, heads: int, seed: int) -> Gpt:
    """The model with the same weights in every process that asks with this seed."""
    torch.manual_seed(seed)
    return Gpt(shape, heads)


def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean over tokens of the loss."""
    return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())
