"""Models of the smaller jobs. A model's forward takes a batch's inputs; `form` chooses between the hand-written way and
the strongest one that PyTorch brings for the same mathematics.
"""
import math
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

HAND, STOCK = "hand", "stock"


class Attention(nn.Module):
    """One causal head as wide as the model: softmax by hand, or scaled_dot_product_attention."""

    def __init__(self, width: int, length: int, form: str):
        super().__init__()
        self.form = form
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.register_buffer("mask", torch.ones(length, length, dtype=torch.bool).tril(), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.query(x), self.key(x), self.value(x)
        if self.form == STOCK:
            return self.out(F.scaled_dot_product_attention(q.unsqueeze(1), k.unsqueeze(1), v.unsqueeze(1),
                                                           is_causal=True).squeeze(1))
        scores = (q @ k.transpose(-2, -1)) / math.sqrt(q.size(-1))
        return self.out(scores.masked_fill(~self.mask, float("-inf")).softmax(-1) @ v)


class AttentionBlock(nn.Module):
    def __init__(self, width: int, length: int, form: str):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, length, form)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class AttentionLM(nn.Module):
    def __init__(self, vocabulary: int, width: int, length: int, layers: int, form: str):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(AttentionBlock(width, length, form) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary)
        self.register_buffer("order", torch.arange(length), persistent=False)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.tokens(ids) + self.places(self.order)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class ResidualBlock(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(F.gelu(self.up(self.norm(x))))


class ResidualMLP(nn.Module):
    def __init__(self, inputs: int, width: int, blocks: int, outputs: int):
        super().__init__()
        self.begin, self.end = nn.Linear(inputs, width), nn.Linear(width, outputs)
        self.blocks = nn.Sequential(*(ResidualBlock(width) for _ in range(blocks)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.end(self.blocks(self.begin(x)))


class Experts(nn.Module):
    """Every expert sees every row, and the gate's two best are kept: shapes stay fixed."""

    def __init__(self, width: int, hidden: int, experts: int):
        super().__init__()
        self.gate = nn.Linear(width, experts)
        self.up = nn.Parameter(torch.randn(experts, width, hidden) / math.sqrt(width))
        self.down = nn.Parameter(torch.randn(experts, hidden, width) / math.sqrt(hidden))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scores = self.gate(x)
        best, which = scores.topk(2, dim=-1)
        weights = torch.zeros_like(scores).scatter(-1, which, best.softmax(-1))
        hidden = F.silu(torch.einsum("nw,ewh->enh", x, self.up))
        return torch.einsum("enh,ehw,ne->nw", hidden, self.down, weights)


class ExpertsModel(nn.Module):
    def __init__(self, inputs: int, width: int, hidden: int, experts: int, layers: int, outputs: int):
        super().__init__()
        self.begin, self.end = nn.Linear(inputs, width), nn.Linear(width, outputs)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(layers))
        self.layers = nn.ModuleList(Experts(width, hidden, experts) for _ in range(layers))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.begin(x)
        for norm, layer in zip(self.norms, self.layers):
            x = x + layer(norm(x))
        return self.end(x)


class SmallCNN(nn.Module):
    def __init__(self, channels: int, outputs: int):
        super().__init__()
        layers: Any = []
        for inner, outer in ((3, channels), (channels, 2 * channels), (2 * channels, 4 * channels)):
            layers += [nn.Conv2d(inner, outer, 3, padding=1), nn.BatchNorm2d(outer), nn.ReLU(),
                       nn.Conv2d(outer, outer, 3, padding=1), nn.BatchNorm2d(outer), nn.ReLU(), nn.MaxPool2d(2)]
        self.features = nn.Sequential(*layers)
        self.head = nn.Linear(4 * channels, outputs)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.features(x).mean((2, 3)))


class CharLSTM(nn.Module):
    """A cell by hand, one step of the sequence after another, or nn.LSTM."""

    def __init__(self, vocabulary: int, width: int, form: str):
        super().__init__()
        self.form = form
        self.tokens, self.head = nn.Embedding(vocabulary, width), nn.Linear(width, vocabulary)
        self.cell = nn.LSTM(width, width, batch_first=True)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.tokens(ids)
        return self.head(self.cell(x)[0] if self.form == STOCK else self._unrolled(x))

    def _unrolled(self, x: torch.Tensor) -> torch.Tensor:
        """With nn.LSTM's own weights, so that both forms start alike."""
        cell = self.cell
        state = memory = x.new_zeros(x.size(0), x.size(2))
        seen = []
        for step in range(x.size(1)):
            gates = (F.linear(x[:, step], cell.weight_ih_l0, cell.bias_ih_l0) +
                     F.linear(state, cell.weight_hh_l0, cell.bias_hh_l0))
            enter, forget, value, leave = gates.chunk(4, dim=1)
            memory = forget.sigmoid() * memory + enter.sigmoid() * value.tanh()
            state = leave.sigmoid() * memory.tanh()
            seen.append(state)
        return torch.stack(seen, 1)
