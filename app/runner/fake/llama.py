"""A Llama-shaped stage in plain PyTorch: grouped-query attention with rotary positions, SwiGLU, RMSNorm, untied ends.

It has exactly the parameters that engine.memory.parameters.count counts, and no others.
"""

import torch
from torch import nn
from torch.nn import functional as F

from engine.catalog.model import Model
from engine.layout.stages import Chunk


class Attention(nn.Module):
    """Query heads share key-value heads. Works on whatever heads its rank was given."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.head_dim = model.head_dim
        self.wq = nn.Linear(model.hidden, model.heads * model.head_dim, bias=False)
        self.wk = nn.Linear(model.hidden, model.kv_heads * model.head_dim, bias=False)
        self.wv = nn.Linear(model.hidden, model.kv_heads * model.head_dim, bias=False)
        self.wo = nn.Linear(model.heads * model.head_dim, model.hidden, bias=False)

    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        q, k, v = (self._heads(projected) for projected in (self.wq(x), self.wk(x), self.wv(x)))
        mixed = F.scaled_dot_product_attention(
            turned(q, cos, sin), turned(k, cos, sin), v, is_causal=True, enable_gqa=True
        )
        return self.wo(mixed.transpose(1, 2).flatten(2))

    def _heads(self, x: torch.Tensor) -> torch.Tensor:
        return x.unflatten(-1, (-1, self.head_dim)).transpose(1, 2)


def turned(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Rotary positions: each pair of channels turned by an angle that grows with the position."""
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)


class FeedForward(nn.Module):
    """SwiGLU: three matrices."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.w1 = nn.Linear(model.hidden, model.ffn, bias=False)
        self.w3 = nn.Linear(model.hidden, model.ffn, bias=False)
        self.w2 = nn.Linear(model.ffn, model.hidden, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Layer(nn.Module):
    def __init__(self, model: Model) -> None:
        super().__init__()
        self.attention_norm = nn.RMSNorm(model.hidden, eps=1e-5)
        self.attention = Attention(model)
        self.mlp_norm = nn.RMSNorm(model.hidden, eps=1e-5)
        self.mlp = FeedForward(model)

    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.attention_norm(x), cos, sin)
        return x + self.mlp(self.mlp_norm(x))


class LlamaStage(nn.Module):
    """The layers of one pipeline stage, with the embedding before them or the head behind them where it has them."""

    cos: torch.Tensor
    sin: torch.Tensor

    def __init__(self, model: Model, chunk: Chunk, sequence_tokens: int) -> None:
        super().__init__()
        if chunk.embedding:
            self.embedding = nn.Embedding(model.vocab, model.hidden)
        self.layers = nn.ModuleList(Layer(model) for _ in range(chunk.layers))
        if chunk.head:
            self.norm = nn.RMSNorm(model.hidden, eps=1e-5)
            self.head = nn.Linear(model.hidden, model.vocab, bias=False)
        for name in ("cos", "sin"):  # values are of no interest here: a trace has none
            angles = torch.empty(sequence_tokens, model.head_dim // 2, dtype=torch.bfloat16)
            self.register_buffer(name, angles, persistent=False)
        self.first, self.last = chunk.embedding, chunk.head

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.first:
            x = self.embedding(x)
        for layer in self.layers:
            x = layer(x, self.cos, self.sin)
        return self.head(self.norm(x)) if self.last else x
