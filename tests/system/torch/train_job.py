"""A training job for tests: prints its losses, blazed's status and the daemon's report as one line of JSON.

    train_job.py STEPS [--until-tried N]    at most STEPS steps; ends earlier once N variants have run on steps
"""
import argparse
import json

import torch

import blazed
import blazed.torch


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)
        self.linear = torch.nn.Linear(width, width)
        self.dropout = torch.nn.Dropout(0.1)

    def forward(self, x):
        return x + self.dropout(torch.nn.functional.gelu(self.linear(self.norm(x))))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("steps", type=int)
    parser.add_argument("--until-tried", type=int, default=0)
    arguments = parser.parse_args()
    blazed.torch.configure(blazed.Options(host_name="torch test", contract=blazed.Contract.BITWISE))
    torch.manual_seed(0)
    model = torch.nn.Sequential(Block(32), torch.nn.BatchNorm1d(32), torch.nn.Linear(32, 4))
    compiled = torch.compile(model, backend="blazed", dynamic=False)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
    data = torch.randn(512, 32)
    labels = torch.randint(0, 4, (512,))
    losses, ran = [], set()
    for step in range(arguments.steps):
        rows = slice(16 * (step % 32), 16 * (step % 32) + 16)
        loss = torch.nn.functional.cross_entropy(compiled(data[rows]), labels[rows])
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
        losses.append(loss.item())
        ran.add(blazed.torch.current_job().plan_in_use())
        if arguments.until_tried and len(ran) > arguments.until_tried:
            break
    job = blazed.torch.current_job()
    report = job.session.report() if job.session is not None else None
    print(json.dumps({"losses": losses, "status": blazed.status().as_dict(), "why_not": job.why_not, "report": report,
                      "plans": len(ran), "error": str(job.session.last_error or "") if job.session else ""}))
    job.close()


if __name__ == "__main__":
    main()
