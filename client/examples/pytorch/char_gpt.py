#!/usr/bin/env python3
"""A small GPT that learns a text character by character.

    python char_gpt.py --steps 2000

Its training step is handed to blazed as a whole, so that on a GPU it may also be replayed as one launch.
"""
import torch
from torch import nn
from torch.nn import functional as F

import blazed.torch
from common import Progress, add_size_flags, add_text_flag, flags, read_text


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2)
                   for part in self.qkv(self.norm1(x)).chunk(3, -1))
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    def __init__(self, characters, width, heads, layers, length):
        super().__init__()
        self.tokens, self.places = nn.Embedding(characters, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, characters, bias=False)
        self.register_buffer("order", torch.arange(length), persistent=False)

    def forward(self, ids):
        return self.head(self.norm(self.blocks(self.tokens(ids) + self.places(self.order))))


def batches(text, length, batch, device):
    """Pieces of the text and what follows each character, drawn anew each time."""
    while True:
        starts = torch.randint(len(text) - length - 1, (batch, 1))
        pieces = text[starts + torch.arange(length + 1)].to(device)
        yield pieces[:, :-1], pieces[:, 1:]


def main(arguments=None):
    """Losses, and the model."""
    parser = flags("A small GPT that learns a text character by character.", steps=2000)
    add_text_flag(parser)
    add_size_flags(parser, width=96, layers=2, length=64, batch=16)
    options = parser.parse_args(arguments)

    torch.manual_seed(options.seed)
    text, characters = read_text(options.text)
    model = GPT(characters, options.width, 4, options.layers, options.length).to(options.device)
    # A GPU's step can be recorded only where the optimiser counts its steps there.
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, capturable=options.device == "cuda")
    compiled = torch.compile(model, backend=options.backend, dynamic=False)

    def step(ids, following):
        optimiser.zero_grad()
        loss = F.cross_entropy(compiled(ids).flatten(0, 1), following.flatten())
        loss.backward()
        optimiser.step()
        return loss

    if options.backend == "blazed":
        step = blazed.torch.train_step(step)

    print(f"{sum(p.numel() for p in model.parameters()):,} parameters, {len(text):,} characters of text")
    progress = Progress(options)
    losses = []
    for number, batch in zip(range(options.steps), batches(text, options.length, options.batch, options.device)):
        losses.append(step(*batch).detach())
        if progress.wanted(number + 1):
            progress.tell(number + 1, float(losses[-1]))
    progress.end()
    return list(map(float, losses)), model


if __name__ == "__main__":
    main()
