#!/usr/bin/env python3
"""One job under blazed, told from its beginning: what the search found and paid, what the settled plan saves in the same
process against the default and against PyTorch's own ways, what being attached costs, and how soon the next job has it.

    tune.py --jobs attn257 [--seconds 120] [--step] [--go-on] [--arms compile,reduce-overhead+opt] [--ablate] [--out FOLDER]

--seconds is the time to tune in; what follows takes about as long as the arms named take to compile, and a minute.
Writes FOLDER/tune.json, the daemon's reports inside, and ends with a table for each job.
"""
import argparse
import json
import subprocess
import sys
import time
from typing import Any, Dict, List, Tuple

import torch

import ablation
import arms
import blazed_stepper
import jobs
import paired
import record
import rounds
import settings
import stepper
import tables

SETTLED, DEFAULT = "blazed, its plan", "blazed, default plan"
STOCK = ["compile", "compile+opt", "reduce-overhead", "reduce-overhead+opt"]
WARM_S = 300.0
ROUNDS_S = 45.0
SECOND_S = 150.0
FREEZE_S = 2.0
_LOOKS_KEPT = 400


def _told(line: str) -> None:
    print(f"tune: {line}", file=sys.stderr, flush=True)


class Timeline:
    """What could be seen from outside, at every change; told on stderr as it happens."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.looks: List[Tuple[float, int, str, str, float]] = []

    def looked(self, step: int, status: Any) -> bool:
        seen = (status.phase, status.champion[:200], status.gain) if status is not None else ("none", "default", 0.0)
        if len(self.looks) < _LOOKS_KEPT and (not self.looks or self.looks[-1][2:] != seen):
            self.looks.append((round(time.monotonic() - self.began, 2), step, *seen))
            phase, champion, gain = seen
            _told(f"{self.looks[-1][0]:7.1f} s, step {step}: {phase}, {champion[:80]}, saves {100 * gain:.1f} %")
        return False


def _arm_of(job: jobs.Job, args: argparse.Namespace) -> arms.Arm:
    wanted = arms.BLAZED_STEP if args.step else arms.BLAZED_BACKEND
    return next(arm for arm in arms.all_of(job) if arm.blazed == wanted)


def tuned(job: jobs.Job, args: argparse.Namespace, group: rounds.Group, told: Dict[str, Any]) -> Any:
    """The stepper, its search over, or None; what happened goes into `told`."""
    arm = _arm_of(job, args)
    start = lambda: stepper.start(job, arm, args.device, args.tiny, args.seconds)  # noqa: E731
    if not group.warm(SETTLED, start, WARM_S):
        return None
    running, timeline = group.arms[SETTLED].stepper, Timeline()
    told["peak_bytes"] = group.arms[SETTLED].peak_bytes
    told["ended"] = running.tune(args.seconds + FREEZE_S, timeline.looked, args.go_on)
    status = running.status()
    told.update(timeline=timeline.looks, why_not=running.job.why_not, report=running.report(),
                status=status.as_dict() if status is not None else None)
    return running


def compared(job: jobs.Job, args: argparse.Namespace, group: rounds.Group, running: Any, told: Dict[str, Any]) -> None:
    """Units of the settled plan, the default plan and PyTorch's own ways, in turns."""
    own = group.arms.pop(SETTLED)
    if running.champion():
        _pin(group, own, SETTLED, running.champion())
    _pin(group, own, DEFAULT, 0)
    if args.ablate and running.champion():
        for name, handle in ablation.without_each_kind(running, told).items():
            _pin(group, own, name, handle)
    for arm in arms.chosen(job, args.arms or STOCK, False):
        group.warm(arm.name, lambda arm=arm: stepper.start(job, arm, args.device, args.tiny), WARM_S)
    told["gpu_before_rounds"] = record.gpu_state()
    told.update(group.run(args.rounds, ROUNDS_S))
    told["rows"] = _rows(group, told["host_ms"], [arm.name for arm in arms.all_of(job) if arm.stock])


def _pin(group: rounds.Group, own: rounds.Warmed, name: str, handle: int) -> None:
    """With units of the length that this plan's own steps ask for."""
    pinned = blazed_stepper.Pinned(own.stepper, handle)
    group.arms[name] = group.reshaped(rounds.Warmed(pinned, own.warm_s, own.peak_bytes, own.first_loss, own.shape))


def _rows(group: rounds.Group, host: Dict[str, List[float]], all_stock: List[str]) -> List[Dict[str, Any]]:
    stock = [name for name in host if name in all_stock]
    rows = []
    for name, values in host.items():
        arm = group.arms[name]
        row: Dict[str, Any] = {"arm": name, "stock": name in stock, "ms": paired.summary(values)._asdict(),
                               "unit": arm.shape._asdict(), "warm_s": round(arm.warm_s, 2), "peak_bytes": arm.peak_bytes,
                               "against_default": paired.ratio(values, host[DEFAULT])._asdict()}
        if arms.COMPILE.name in host:
            row["against_compile"] = paired.ratio(values, host[arms.COMPILE.name])._asdict()
        if stock:
            row["best_stock"] = paired.best(host, stock)
            row["against_best_stock"] = paired.against_best(host, stock, name)._asdict()
        rows.append(row)
    return rows


def _settled(told: Dict[str, Any]) -> bool:
    return bool(told["report"]) and told["report"]["outcome"] == "settled"


def second_job(job: jobs.Job, args: argparse.Namespace) -> Dict[str, Any]:
    """In a process of its own, with the same daemon."""
    command = [sys.executable, "-W", "ignore", __file__, "--second", "--jobs", job.name, "--device", args.device,
               "--cache", str(args.cache), "--blazed", str(args.blazed), *(["--tiny"] if args.tiny else []),
               *(["--step"] if args.step else [])]
    try:
        ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=SECOND_S)
        return json.loads(ran.stdout.splitlines()[-1])
    except (subprocess.TimeoutExpired, ValueError, IndexError) as error:
        return {"why": rounds.sentence(error)}


def as_second(job: jobs.Job, args: argparse.Namespace) -> Dict[str, Any]:
    """Steps and seconds until a plan other than the default runs, or all is settled."""
    began = time.monotonic()
    running = stepper.start(job, _arm_of(job, args), args.device, args.tiny)
    seen: Dict[str, Any] = {"ready_s": round(time.monotonic() - began, 2)}

    def looked(step: int, status: Any) -> bool:
        done = bool(running.job.plan_in_use()) or (status is not None and status.settled)
        if done and "steps" not in seen:
            seen.update(steps=step, s=round(time.monotonic() - began, 2))
        return done

    seen["ended"] = running.tune(SECOND_S / 2, looked)
    status, report = running.status(), running.report()
    seen.update(plan=status.champion if status is not None else "", why_not=running.job.why_not,
                search_pairs=report["search_pairs"] if report else None, builds=report["builds"] if report else None,
                served=report["served"] if report else None)
    running.close()
    return seen


def one_job(job: jobs.Job, args: argparse.Namespace) -> Dict[str, Any]:
    torch._dynamo.reset()
    began = time.monotonic()
    group = rounds.Group(args.device)
    told: Dict[str, Any] = {"job": job.name, "what": job.what, "rows": [], "failures": group.failures}
    with settings.daemon_of(args):
        running = tuned(job, args, group, told)
        if running is not None:
            _told(told["ended"])
            told["second"] = second_job(job, args) if _settled(told) else {"why": "the first job settled nothing"}
            compared(job, args, group, running, told)
            running.close()
    group.close()
    told["took_s"] = round(time.monotonic() - began, 1)
    return told


def main() -> int:
    made = settings.parser(__doc__ or "", settings.Defaults(seconds=120.0, rounds=40))
    made.add_argument("--step", action="store_true", help="hand the whole step to blazed.torch.train_step")
    made.add_argument("--go-on", action="store_true", help="train for all of --seconds: a search goes on where builds pay later")
    made.add_argument("--ablate", action="store_true", help="measure the settled plan with one kind of decision undone")
    made.add_argument("--second", action="store_true", help=argparse.SUPPRESS)
    args = settings.filled(made.parse_args())
    if args.blazed is None:
        raise SystemExit("name the folder that holds bin/blazed with --blazed")
    jobs.prepare()
    if args.second:
        print(json.dumps(as_second(args.jobs[0], args)))
        return 0
    result = {**record.head("PyTorch jobs tuned by blazed, then its plans and PyTorch's own ways interleaved in drained units",
                            args.device), "jobs": []}
    for job in args.jobs:
        try:
            result["jobs"].append(one_job(job, args))
        except Exception as error:
            result["jobs"].append({"job": job.name, "what": job.what, "rows": [], "failures": {"job": rounds.sentence(error)}})
        record.write(args.out / "tune.json", result)
        print(tables.of_tuned_job(result["jobs"][-1]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
