#!/usr/bin/env python3
"""Builds plans on a GPU, runs them, drops them while they are in use, builds them again, and looks whether they came back the same.

    torch_rebuild.py [--others N]

A row for each plan: every way to launch the step, to pad and to run its graph, N of the other decisions, and combinations. It passes where
the second build has the signature of the first, and the first that of its own steps. Exits with 1 where a row fails, with 77 without a GPU.
"""
import argparse
import difflib
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "unit" / "torch"), str(ROOT / "tests" / "device"), str(ROOT / "client" / "python")]

import support  # noqa: E402
import torch  # noqa: E402

import blazed  # noqa: E402
import blazed.torch  # noqa: E402
from blazed.torch import recorder as recorders  # noqa: E402
from blazed.torch import variant as variants  # noqa: E402

STEPS_UNDER_A_PLAN = 3


def plans_of(decisions, others):
    """(name, choices) of the plans that are tried."""
    ways = [(n, o) for n, d in enumerate(decisions) if d.option_kind in ("launch", "way") for o in range(1, len(d.options))]
    rest = [(n, 1) for n, d in enumerate(decisions) if d.option_kind == "other"]
    picked = rest[:: max(1, len(rest) // others)][:others] if others else []
    plans = [((n, o),) for n, o in [*ways, *picked]]
    whole = [(n, d.options.index("whole_step")) for n, d in enumerate(decisions) if "whole_step" in d.options]
    for choice in whole:
        plans += [tuple(sorted({choice, other})) for other in [*ways, *picked] if other[0] != choice[0]]
    return plans


class Kinded:
    def __init__(self, decision):
        self.name, self.options = decision.name, decision.options
        launches = "streams" in decision.options
        ways = "eager" in decision.options or "always" in decision.options
        self.option_kind = "launch" if launches else "way" if ways else "other"


def codes(host, handle):
    """What the signature digests."""
    return [variants._PASSING.sub("", variant.call.source_code)
            for _, variant in host._plans[handle].variants if hasattr(variant.call, "source_code")]


class Script:
    def __init__(self, others):
        self.others, self.rows, self.failed, self.steps = others, [], 0, None

    def __call__(self, session):
        if self.steps is None:
            self.steps = self.run(session)
        return next(self.steps, 0)

    def run(self, session):
        decisions = [Kinded(decision) for decision in session.workload.decisions]
        for choices in plans_of(decisions, self.others):
            name = ", ".join(f"{decisions[n].name}={decisions[n].options[o]}" for n, o in choices)
            try:
                yield from self.one(session, name, choices)
            except blazed.BuildFailed as why:
                print(f"{name[:90]:90}  refused: {why.sentence}", flush=True)

    def one(self, session, name, choices):
        host = session.host
        first, first_s = timed(lambda: session.build(*choices))
        session.probe(first)
        asked = host.signature(first)
        for _ in range(STEPS_UNDER_A_PLAN):
            yield first
        ran, code = host.signature(first), codes(host, first)
        host.drop(first)
        second, second_s = timed(lambda: session.build(*choices))
        session.probe(second)
        again = host.signature(second)
        good = asked == ran == again
        self.failed += not good
        print(f"{name[:90]:90}  {'PASS' if good else 'FAIL'}  {first_s:6.2f} s {second_s:6.2f} s", flush=True)
        if not good:
            print(f"    probed {asked.hex()[:8]} ran {ran.hex()[:8]} again {again.hex()[:8]}")
            for before, after in zip(code, codes(host, second)):
                changed = [line for line in difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")]
                print("\n".join(f"    {line[:200]}" for line in changed[:12]))
        host.drop(second)


def timed(build):
    began = time.monotonic()
    return build(), time.monotonic() - began


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--others", type=int, default=6)
    args = parser.parse_args()
    if not torch.cuda.is_available():
        print("not run: there is no GPU here")
        return 77
    from torch_decisions import Model

    torch.set_float32_matmul_precision("high")
    script = Script(args.others)
    with support.scripted(script, recorders.CudaRecorder()):
        torch.manual_seed(0)
        model = Model(256, 256).cuda()
        net = torch.compile(model, backend=blazed.torch.backend, dynamic=False)
        optimiser = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True, capturable=True)
        data = torch.randint(0, 96, (2, 16, 256), device="cuda")

        def step(text, following):
            optimiser.zero_grad()
            loss = net(text, following)
            loss.backward()
            optimiser.step()
            return loss

        step = blazed.torch.train_step(step)
        loss = step(*data)
        while script.steps is None or script.steps.gi_frame is not None:
            loss = step(*data)
        job = blazed.torch.current_job()
        print(f"loss {loss.item():.4f}; {job.why_not or 'tuned'}; {job.why_no_whole_step() or 'whole steps are offered'}")
        told = job.why_not
    print(f"{script.failed} failed")
    return 1 if script.failed or told else 0


if __name__ == "__main__":
    sys.exit(main())
