"""A training job for tests in which something goes wrong or is unusual. Prints its losses and what became of it as one
line of JSON.

    bad_luck_job.py KIND BACKEND [--daemon PID]

Its step can run in one other way, which computes the same.
"""
import argparse
import json
import os
import signal
import time

import torch

import blazed
import blazed.torch
from blazed.torch import host, plan, program, space

AFTER = 60  # steps, once it has gone wrong
MOST = 40_000


class Numbers(torch.utils.data.Dataset):
    def __init__(self):
        generator = torch.Generator().manual_seed(3)
        self.rows, self.labels = torch.randn(128, 16, generator=generator), torch.arange(128) % 4

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, number):
        return self.rows[number], self.labels[number]


def sleeping(call, seconds):
    def run(*inputs):
        time.sleep(seconds)
        return call(*inputs)
    return run


def offer_another_way(before_build, before_probe=lambda: None, sleep_s=0):
    """One more way to run each graph: the default's program, under the name `again`, and without the default's sleep."""
    probed = host.TorchHost.probe

    def probe(self, handle, emit):
        if handle:
            before_probe()
        probed(self, handle, emit)

    host.TorchHost.probe = probe
    whole, built = space.decisions_of, plan.build

    def build(graphs, decisions, choices):
        before_build()
        made = built(graphs, decisions, ())
        made.programs = tuple((graph, program.Program(graph.again, {}, "again")) for graph in graphs)
        return made

    def decisions_of(graphs, ways):
        for graph in graphs:
            graph.again = graph.default.call
            graph.default.call = sleeping(graph.again, sleep_s) if sleep_s else graph.again
        return tuple(d for d in whole(graphs, ways) if d.kind == space.CHOICE)

    plan.build = build
    plan.ways_for = lambda device: [(space.CHOICE, ("compiled", "again"))]
    space.decisions_of = decisions_of


class Trouble:
    """`kind`: where the daemon is killed, or `interrupt`: Ctrl-C in a build."""

    def __init__(self, kind, daemon):
        self.kind, self.daemon = kind, daemon
        self.came_at = None
        self.step = 0

    def comes(self):
        if self.came_at is None:
            self.came_at = self.step
            os.kill(*((os.getpid(), signal.SIGINT) if self.kind == "interrupt" else (self.daemon, signal.SIGKILL)))

    def in_build(self):
        if self.kind in ("build", "interrupt"):
            self.comes()

    def in_probe(self):
        if self.kind == "probe":
            self.comes()

    def before_step(self, step):
        self.step = step
        if self.daemon is None:
            return
        found = blazed.status()
        if (self.kind == "start" and step == 2 or self.kind == "search" and found.phase == "search"
                or self.kind == "settled" and found.settled and found.champion != "default"):
            self.comes()

    def over(self, step, count):
        if count is not None:
            return step >= count
        if self.kind == "beside":
            return step >= MOST or step % 50 == 0 and blazed.status().settled
        return step >= MOST or self.came_at is not None and step >= self.came_at + AFTER


def batches(kind):
    data = Numbers()
    workers = {} if kind not in ("fork", "spawn") else {"num_workers": 2, "multiprocessing_context": kind}
    loader = torch.utils.data.DataLoader(data, 16, shuffle=True, generator=torch.Generator().manual_seed(4), **workers)
    while True:
        yield from loader


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=("start", "search", "build", "probe", "settled", "interrupt", "fork", "spawn", "beside"))
    parser.add_argument("backend")
    parser.add_argument("--daemon", type=int)
    parser.add_argument("--steps", type=int, help="so many and no more")
    arguments = parser.parse_args()
    # Who runs tests in the background of a shell has its processes ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    trouble = Trouble(arguments.kind, arguments.daemon)
    if arguments.backend == "blazed":
        offer_another_way(trouble.in_build, trouble.in_probe)
        blazed.torch.configure(blazed.Options(host_name="torch test"))
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.LayerNorm(16), torch.nn.GELU(), torch.nn.Linear(16, 4))
    compiled = torch.compile(model, backend=arguments.backend, dynamic=False)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
    losses, interrupts, plans = [], 0, []
    for rows, labels in batches(arguments.kind):
        trouble.before_step(len(losses))
        while True:
            try:
                loss = torch.nn.functional.cross_entropy(compiled(rows), labels)
                break
            except KeyboardInterrupt:
                interrupts += 1
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
        losses.append(loss.item())
        plans.append(blazed.torch.current_job().plan_in_use())
        if trouble.over(len(losses), arguments.steps):
            break
    job = blazed.torch.current_job()
    print(json.dumps({"losses": losses, "status": blazed.status().as_dict(), "why_not": job.why_not,
                      "came_at": trouble.came_at, "interrupts": interrupts, "last_plan": plans[-1],
                      "error": str(job.session.last_error or "") if job.session else ""}))
    job.close()


if __name__ == "__main__":
    main()
