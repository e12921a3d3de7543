#!/usr/bin/env python3
"""What being attached costs a job in which nothing is tried any more: steps under `torch.compile`, the same again, and
under blazed with a session that is pinned to the default plan, in drained units in turns.

    attached.py --jobs moe,attn256 [--rounds 60] [--out FOLDER]

`compile again` says what the comparison itself can tell apart. Beside it the processor time that blazed's own code takes
a step, measured by itself: its calls in the order of a step, with no graph run between them. Writes FOLDER/attached.json.
"""
import argparse
import sys
import time
from threading import get_ident
from typing import Any, Dict, List

import torch

import arms
import blazed_stepper
import jobs
import paired
import record
import rounds
import settings
import stepper

AGAIN, ATTACHED, STEP = "compile again", "blazed, attached", "blazed step, attached"
OWN_STEPS, OWN_BLOCKS = 500, 20
SETTLING_STEPS = 400  # until the session is described, and beyond the steps in which changes of plans are looked for
WARM_S, ROUNDS_S = 120.0, 60.0


def _attached(job: jobs.Job, name: str, device: str, tiny: bool) -> blazed_stepper.BlazedStepper:
    arm = next(arm for arm in arms.all_of(job) if arm.name == name)
    running = blazed_stepper.start(job, arm, device, tiny, pinned=True)
    running.enter()
    for _ in range(SETTLING_STEPS):
        running.step()
    running.leave()
    status = running.status()
    if status is None or status.state != "attached":
        raise RuntimeError(running.job.why_not or (status.why_not if status is not None else "no session was opened"))
    return running


def own_us(running: blazed_stepper.BlazedStepper) -> List[float]:
    """Microseconds of processor time a step, a value a block: of what stands around the call of a graph, in the backend's
    own words, and of the optimiser's hook."""
    job, passing = running.job, running.job.passing
    graphs = [(graph, graph.latest) for graph in job.graphs if graph.training]
    values = []
    running.enter()
    for _ in range(OWN_BLOCKS):
        began = time.thread_time_ns()
        for _ in range(OWN_STEPS):
            for graph, inputs in graphs:
                if passing.on and get_ident() == passing.thread:
                    passing.seen = True
                else:
                    job.graph_called(graph, inputs)
            job.optimiser_stepped()
        values.append((time.thread_time_ns() - began) / OWN_STEPS / 1e3)
    running.leave()
    return values


def one_job(job: jobs.Job, args: argparse.Namespace) -> Dict[str, Any]:
    torch._dynamo.reset()
    group = rounds.Group(args.device)
    told: Dict[str, Any] = {"job": job.name, "what": job.what, "failures": group.failures, "rows": []}
    of_name = {arm.name: arm for arm in arms.all_of(job)}
    with settings.daemon_of(args):
        for name in (arms.COMPILE.name, AGAIN):
            group.warm(name, lambda: stepper.start(job, of_name[arms.COMPILE.name], args.device, args.tiny), WARM_S)
        for name, arm in ((ATTACHED, "blazed"), (STEP, "blazed step")):
            group.warm(name, lambda arm=arm: _attached(job, arm, args.device, args.tiny), WARM_S)
        told.update(group.run(args.rounds, ROUNDS_S))
        for name, values in told["host_ms"].items():
            told["rows"].append({"arm": name, "ms": paired.summary(values)._asdict(), "unit": group.arms[name].shape._asdict(),
                                 "against_compile": paired.ratio(values, told["host_ms"][arms.COMPILE.name])._asdict()})
        if ATTACHED in group.arms:
            told["own_us"] = own_us(group.arms[ATTACHED].stepper)
        group.close()
    return told


def table(told: Dict[str, Any]) -> str:
    lines = [f"== {told['job']}: attached, nothing tried"]
    for row in told["rows"]:
        ratio = row["against_compile"]
        lines.append(f"   {row['arm']:24} {row['ms']['median']:8.3f} ms a step, {ratio['estimate']:.4f} ({ratio['low']:.4f} to "
                     f"{ratio['high']:.4f}) of compile")
    if "own_us" in told:
        own = paired.summary(told["own_us"])
        lines.append(f"   blazed's own code: {own.median:.2f} us a step ({own.low:.2f} to {own.high:.2f})")
    return "\n".join([*lines, *(f"   {name} failed: {why}" for name, why in told["failures"].items())])


def main() -> int:
    args = settings.parsed(__doc__ or "", settings.Defaults(seconds=120.0, rounds=60))
    if args.blazed is None:
        raise SystemExit("name the folder that holds bin/blazed with --blazed")
    jobs.prepare()
    result = {**record.head("PyTorch jobs beside blazed with nothing tried: what being attached costs", args.device),
              "jobs": []}
    for job in args.jobs:
        result["jobs"].append(one_job(job, args))
        record.write(args.out / "attached.json", result)
        print(table(result["jobs"][-1]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
