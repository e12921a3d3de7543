"""A job for tests that never trains: it answers until what is tuned has settled. Prints a digest of its answers and
what became of it as one line of JSON.

    forward_job.py no_grad|inference_mode|train BACKEND [--calls N]      `train`: the same model, trained

Its graph can run in one other way, which computes the same.
"""
import argparse
import hashlib
import json

import torch

import blazed
import blazed.torch
from bad_luck_job import AFTER, MOST, offer_another_way


def model():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.LayerNorm(16), torch.nn.GELU(), torch.nn.Linear(16, 4))


def trained(steps, net, compiled):
    """So many steps, or until they have settled."""
    optimiser = torch.optim.SGD(net.parameters(), lr=1e-2)
    for step in range(1, (steps or MOST) + 1):
        compiled(torch.randn(8, 16)).square().mean().backward()
        optimiser.step()
        optimiser.zero_grad()
        if not steps and step % 50 == 0 and blazed.status().settled:
            break


def answered(calls, compiled):
    """A digest of the answers, and how many there were: as many as asked for, else a few more than it took to settle."""
    bits, left = hashlib.sha256(), None
    generator = torch.Generator().manual_seed(1)
    for call in range(calls or MOST):
        bits.update(compiled(torch.randn(8, 16, generator=generator)).numpy().tobytes())
        if left is None and blazed.status().settled:
            left = AFTER
        left = left if left is None else left - 1
        if not calls and left == 0:
            break
    return bits.hexdigest(), call + 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("scope", choices=("no_grad", "inference_mode", "train"))
    parser.add_argument("backend")
    parser.add_argument("--calls", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.backend == "blazed":
        offer_another_way(lambda: None)
        blazed.torch.configure(blazed.Options(host_name="torch test"))
    net = model()
    compiled = torch.compile(net, backend=arguments.backend, dynamic=False)
    answers = calls = None
    if arguments.scope == "train":
        trained(arguments.calls, net, compiled)
    else:
        with getattr(torch, arguments.scope)():
            answers, calls = answered(arguments.calls, compiled)
    job = blazed.torch.current_job()
    report = job.session.report() if job.session is not None else None
    print(json.dumps({"answers": answers, "calls": calls, "status": blazed.status().as_dict(), "why_not": job.why_not,
                      "report": report, "plan": job.plan_in_use(),
                      "error": str(job.session.last_error or "") if job.session else ""}))
    job.close()


if __name__ == "__main__":
    main()
