#!/usr/bin/env python3
"""One whole training run to a fixed loss, each way in a process of its own from nothing to the end: the wall clock of
everything, compiling and searching included.

    complete.py --jobs attn256 [--steps 30000] [--arms compile,reduce-overhead+opt] [--seconds 540]

The first arm trains --steps steps; the loss that it ends on, a mean over the last window, is what the others train to,
with the same seed and the same batches in the same order. blazed runs twice with one daemon: from an empty store, which
it pays a search for, and as the next job, which it does not. Caches of the compiler start empty in each process. Only
the loss of a window is waited for, so that no arm pays for being looked at. Writes FOLDER/complete.json.
"""
import argparse
import json
import subprocess
import sys
import tempfile
import time
from typing import Any, Dict, List, Optional, Tuple

import torch

import arms
import jobs
import record
import rounds
import settings
import stepper

WINDOW = 200  # steps
STOCK = ["compile", "reduce-overhead+opt"]
FIRST, NEXT = "blazed, empty store", "blazed, next job"
BATCHES = 256


def trained(job: jobs.Job, arm: arms.Arm, args: argparse.Namespace) -> Dict[str, Any]:
    """In this process. Until `args.target`, or for `args.steps` steps where there is none."""
    began = time.monotonic()
    running = stepper.start(job, arm, args.device, args.tiny)
    running.batches = job.stream(args.device, args.tiny, BATCHES)
    running.enter()
    limit = args.steps if args.target is None else 2 * args.steps
    curve: List[Tuple[float, int, float]] = []
    steps = 0
    while steps < limit:
        losses = [running.step().detach().clone() for _ in range(WINDOW)]  # a CUDA graph writes its next one over it
        steps += WINDOW
        curve.append((round(time.monotonic() - began, 3), steps, float(torch.stack(losses).float().mean())))
        if args.target is not None and curve[-1][2] <= args.target:
            break
    reached = args.target is None or curve[-1][2] <= args.target
    told: Dict[str, Any] = {"wall_s": time.monotonic() - began, "steps": steps, "loss": curve[-1][2], "reached": reached,
                            "curve": curve}
    if arm.blazed:
        told["report"] = running.report()
        told["plan"] = running.status().champion if running.status() is not None else ""
    running.leave()
    running.close()
    return told


def in_a_process(job: jobs.Job, arm: str, args: argparse.Namespace, target: Optional[float], left_s: float) -> Dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="blazed-complete-") as cache:
        command = [sys.executable, "-W", "ignore", __file__, "--one", arm, "--jobs", job.name, "--device", args.device,
                   "--steps", str(args.steps), "--cache", cache, *(["--blazed", str(args.blazed)] if args.blazed else []),
                   *(["--tiny"] if args.tiny else []), *(["--target", repr(target)] if target is not None else [])]
        began = time.monotonic()
        try:
            ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=max(1.0, left_s))
            told = json.loads(ran.stdout.splitlines()[-1])
        except (subprocess.TimeoutExpired, ValueError, IndexError) as error:
            return {"why": rounds.sentence(error)}
        # With the interpreter's start and end: a user waits for these as well.
        return {**told, "wall_s": time.monotonic() - began}


def one_job(job: jobs.Job, args: argparse.Namespace) -> Dict[str, Any]:
    began = time.monotonic()
    told: Dict[str, Any] = {"job": job.name, "what": job.what, "steps": args.steps, "window": WINDOW, "arms": {}}
    names = args.arms or STOCK
    blazed = next(arm.name for arm in arms.all_of(job) if arm.blazed == arms.BLAZED_STEP)
    target: Optional[float] = None
    with settings.daemon_of(args):
        for shown, name in [*((name, name) for name in names), (FIRST, blazed), (NEXT, blazed)]:
            row = in_a_process(job, name, args, target, args.seconds - (time.monotonic() - began))
            told["arms"][shown] = row
            print(f"complete: {job.name}: {shown}: {told_of(row)}", file=sys.stderr, flush=True)
            if target is None:
                if "loss" not in row:
                    break  # nothing to train to
                target = told["target"] = row["loss"]
    return told


def told_of(row: Dict[str, Any]) -> str:
    if "why" in row:
        return str(row["why"])
    return f"{row['wall_s']:.1f} s, {row['steps']} steps, loss {row['loss']:.4f}" + ("" if row["reached"] else ", NOT reached")


def main() -> int:
    made = settings.parser(__doc__ or "", settings.Defaults(seconds=540.0, rounds=1))
    made.add_argument("--steps", type=int, default=30000, help="that the first arm trains")
    made.add_argument("--target", type=float, help=argparse.SUPPRESS)
    made.add_argument("--one", default="", help=argparse.SUPPRESS)
    args = settings.filled(made.parse_args())
    if args.blazed is None:
        raise SystemExit("name the folder that holds bin/blazed with --blazed")
    jobs.prepare()
    if args.one:
        job = args.jobs[0]
        arm = next(arm for arm in arms.all_of(job) if arm.name == args.one)
        print(json.dumps(trained(job, arm, args)))
        return 0
    result = {**record.head("whole training runs of PyTorch jobs to one loss, wall clock of everything", args.device), "jobs": []}
    for job in args.jobs:
        result["jobs"].append(one_job(job, args))
        record.write(args.out / "complete.json", result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
