"""Transformers: GPT blocks, Llama-like blocks, and blocks like those of PyTorch issue #179423, whose training step
its compiler merged too far.
"""
import math

import torch
from torch import nn
from torch.nn import functional as F

from small_models import STOCK


def _heads(x: torch.Tensor, count: int) -> torch.Tensor:
    return x.view(x.size(0), x.size(1), count, -1).transpose(1, 2)


def _attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, form: str) -> torch.Tensor:
    """Causal, of heads; joined again."""
    if form == STOCK:
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=q.size(1) != k.size(1))
    else:
        share = q.size(1) // k.size(1)
        if share > 1:
            k, v = k.repeat_interleave(share, 1), v.repeat_interleave(share, 1)
        ahead = torch.ones(q.size(2), q.size(2), dtype=torch.bool, device=q.device).triu(1)
        scores = (q @ k.transpose(-2, -1)) / math.sqrt(q.size(-1))
        seen = scores.masked_fill(ahead, float("-inf")).softmax(-1) @ v
    return seen.transpose(1, 2).reshape(q.size(0), q.size(2), -1)


class GPTBlock(nn.Module):
    def __init__(self, width: int, heads: int, form: str):
        super().__init__()
        self.heads, self.form = heads, form
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (_heads(part, self.heads) for part in self.qkv(self.norm1(x)).chunk(3, -1))
        x = x + self.out(_attend(q, k, v, self.form))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    """Learnt places, tied head."""

    def __init__(self, vocabulary: int, width: int, heads: int, layers: int, length: int, form: str):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(GPTBlock(width, heads, form) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)
        nn.init.normal_(self.tokens.weight, std=0.02)
        self.head.weight = self.tokens.weight
        self.register_buffer("order", torch.arange(length), persistent=False)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.tokens(ids) + self.places(self.order)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Rotary(nn.Module):
    def __init__(self, length: int, size: int):
        super().__init__()
        angle = torch.outer(torch.arange(length).float(), 10000.0 ** (-torch.arange(0, size, 2).float() / size))
        self.register_buffer("cos", angle.cos(), persistent=False)
        self.register_buffer("sin", angle.sin(), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        first, second = x.chunk(2, -1)
        cos, sin = self.cos.to(x.dtype), self.sin.to(x.dtype)
        return torch.cat((first * cos - second * sin, first * sin + second * cos), -1)


class GroupedAttention(nn.Module):
    """`heads` of queries share `groups` of keys and values. `norm_heads`: queries and keys are normed."""

    def __init__(self, width: int, heads: int, groups: int, norm_heads: bool):
        super().__init__()
        self.heads, self.groups, self.norm_heads = heads, groups, norm_heads
        size = width // heads
        self.query, self.out = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.key, self.value = (nn.Linear(width, groups * size, bias=False) for _ in range(2))

    def forward(self, x: torch.Tensor, rotary: Rotary) -> torch.Tensor:
        q, k, v = _heads(self.query(x), self.heads), _heads(self.key(x), self.groups), _heads(self.value(x), self.groups)
        if self.norm_heads:
            q, k = F.rms_norm(q, (q.size(-1),)), F.rms_norm(k, (k.size(-1),))
        return self.out(_attend(rotary(q), rotary(k), v.to(q.dtype), STOCK))


class LlamaBlock(nn.Module):
    def __init__(self, width: int, hidden: int, heads: int, groups: int):
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(width), nn.RMSNorm(width)
        self.attention = GroupedAttention(width, heads, groups, norm_heads=False)
        self.gate, self.up = nn.Linear(width, hidden, bias=False), nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x: torch.Tensor, rotary: Rotary) -> torch.Tensor:
        x = x + self.attention(self.norm1(x), rotary)
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class SquaredBlock(nn.Module):
    """Norms without weights, and the square of a leaky rectifier between the two matrices."""

    def __init__(self, width: int, hidden: int, heads: int, groups: int):
        super().__init__()
        self.attention = GroupedAttention(width, heads, groups, norm_heads=True)
        self.up, self.down = nn.Linear(width, hidden, bias=False), nn.Linear(hidden, width, bias=False)
        self.scale1, self.scale2 = (nn.Parameter(torch.ones(width)) for _ in range(2))

    def forward(self, x: torch.Tensor, rotary: Rotary) -> torch.Tensor:
        x = x + self.scale1 * self.attention(F.rms_norm(x, (x.size(-1),)), rotary)
        y = self.up(F.rms_norm(x, (x.size(-1),)))
        return x + self.scale2 * self.down(F.leaky_relu(y, 0.5).square())


class RotaryLM(nn.Module):
    """`block`: class of its blocks. The head is tied."""

    def __init__(self, block: type, vocabulary: int, width: int, hidden: int, heads: int, groups: int, layers: int,
                 length: int):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(block(width, hidden, heads, groups) for _ in range(layers))
        self.rotary = Rotary(length, width // heads)
        self.head = nn.Linear(width, vocabulary, bias=False)
        nn.init.normal_(self.tokens.weight, std=0.02)
        self.head.weight = self.tokens.weight

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.tokens(ids)
        x = F.rms_norm(x, (x.size(-1),))
        for block in self.blocks:
            x = block(x, self.rotary)
        return self.head(F.rms_norm(x, (x.size(-1),)))
