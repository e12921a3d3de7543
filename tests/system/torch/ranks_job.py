"""One rank of a training job for tests. Prints its losses and what became of it as one line of JSON.

    RANK=0 WORLD_SIZE=2 ranks_job.py STORE BACKEND
"""
import json
import os
import sys

import torch
from torch import distributed

import blazed
import blazed.torch

STEPS = 12
WIDTH = 512  # a layer of it is as large as the smallest piece in which gradients are sent


class Model(torch.nn.Module):
    """A class of its own: the compiler would not look into one of PyTorch's below the parallel one."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.norm = torch.nn.LayerNorm(WIDTH)

    def forward(self, x):
        for layer in self.layers:
            x = torch.nn.functional.gelu(layer(self.norm(x)))
        return x


def main():
    store, backend = sys.argv[1:]
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    distributed.init_process_group("gloo", store=distributed.FileStore(store, world), rank=rank, world_size=world)
    torch.manual_seed(0)
    model = Model()
    parallel = torch.nn.parallel.DistributedDataParallel(model, bucket_cap_mb=1)
    compiled = torch.compile(parallel, backend=backend, dynamic=False)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
    losses, plans = [], set()
    generator = torch.Generator().manual_seed(rank)
    for _ in range(STEPS):
        loss = compiled(torch.randn(16, WIDTH, generator=generator)).square().mean()
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
        losses.append(loss.item())
        plans.add(blazed.torch.current_job().plan_in_use())
    job = blazed.torch.current_job()
    print(json.dumps({"losses": losses, "plans": sorted(plans), "graphs": len(job.graphs), "why_not": job.why_not,
                      "status": blazed.status().as_dict()}))
    job.close()
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
