"""A training job for tests: prints its losses, blazed's status and the daemon's report as one line of JSON.

    train_job.py STEPS [--until-tried N]    at most STEPS steps; ends earlier once N variants have run on steps
    train_job.py STEPS --plans-need BYTES --until-built N   as if each plan needed so much more memory than the default
"""
import argparse
import json

import torch

import blazed
import blazed.torch
import blazed.torch.memory


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)
        self.linear = torch.nn.Linear(width, width)
        self.dropout = torch.nn.Dropout(0.1)

    def forward(self, x):
        return x + self.dropout(torch.nn.functional.gelu(self.linear(self.norm(x))))


class Meter:
    """Of a device that is not there. The default plan needs 1000 bytes."""

    def __init__(self, more):
        self.more, self.builds = more, -1  # the first run is the default's

    def needed(self, run):
        run()
        self.builds += 1
        return 1000 + self.more * (self.builds > 0)

    def held(self):
        return 0

    def spare(self):
        return 500

    def retries(self):
        return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("steps", type=int)
    parser.add_argument("--until-tried", type=int, default=0)
    parser.add_argument("--plans-need", type=int)
    parser.add_argument("--until-built", type=int, default=0)
    arguments = parser.parse_args()
    meter = Meter(arguments.plans_need or 0)
    if arguments.plans_need is not None:
        blazed.torch.memory.for_device = lambda device: meter
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
        if arguments.until_built and meter.builds >= arguments.until_built:
            break
    job = blazed.torch.current_job()
    report = job.session.report() if job.session is not None else None
    print(json.dumps({"losses": losses, "status": blazed.status().as_dict(), "why_not": job.why_not, "report": report,
                      "plans": len(ran), "error": str(job.session.last_error or "") if job.session else ""}))
    job.close()


if __name__ == "__main__":
    main()
