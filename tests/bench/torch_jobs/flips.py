#!/usr/bin/env python3
"""The same job tuned from nothing by fresh processes, each beside a daemon of its own: how often another plan settles, and
whether that costs a step anything.

    flips.py --jobs moe --processes 5 [--seconds 60] [--step] [--out FOLDER]

--seconds is the time to tune in, for each process. Two settlements agree where they hold the same decisions. A process
whose search ended undecided runs the default plan and counts as one of its own kind. Writes FOLDER/flips.json.
"""
import argparse
import collections
import json
import subprocess
import sys
from typing import Any, Dict, List, Tuple

import arms
import blazed_stepper
import jobs
import paired
import record
import rounds
import settings
import units

UNITS = 12  # drained, of the plan that each process ended on
GRACE_S = 90.0  # beside the time to tune in: start, capture, units


def settled_alone(job: jobs.Job, args: argparse.Namespace) -> Dict[str, Any]:
    """In this process."""
    wanted = arms.BLAZED_STEP if args.step else arms.BLAZED_BACKEND
    arm = next(arm for arm in arms.all_of(job) if arm.blazed == wanted)
    running = blazed_stepper.start(job, arm, args.device, args.tiny, args.seconds)
    ended = running.tune(args.seconds)
    report, status = running.report() or {}, running.status()
    told: Dict[str, Any] = {"ended": ended, "outcome": report.get("outcome", "none"), "plan": sorted(report.get("plan") or []),
                            "gain": report.get("gain"), "window_s": report.get("window_s"), "builds": report.get("builds"),
                            "candidates": len(report.get("plans") or []), "why_not": running.job.why_not,
                            "forecast": report.get("forecast"), "build_s": report.get("build_s"), "tried": report.get("plans")}
    running.enter()
    running.pin(running.champion() if status is not None else 0)
    running.leave()
    clock = units.Clock(args.device)
    step_ms = min(clock.unit(running, units.Shape(1, 3)).host_ms for _ in range(2))
    told["ms"] = [clock.unit(running, units.shape_for(step_ms)).host_ms for _ in range(UNITS)]
    running.close()
    return told


def in_a_process(job: jobs.Job, args: argparse.Namespace) -> Dict[str, Any]:
    command = [sys.executable, "-W", "ignore", __file__, "--one", "--jobs", job.name, "--device", args.device,
               "--seconds", str(args.seconds), "--cache", str(args.cache), "--blazed", str(args.blazed),
               *(["--step"] if args.step else []), *(["--tiny"] if args.tiny else [])]
    with settings.daemon_of(args):
        try:
            ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=args.seconds + GRACE_S)
            return json.loads(ran.stdout.splitlines()[-1])
        except (subprocess.TimeoutExpired, ValueError, IndexError) as error:
            return {"why": rounds.sentence(error)}


def key_of(told: Dict[str, Any]) -> Tuple[str, ...]:
    return tuple(told["plan"]) if told["outcome"] == "settled" else (f"undecided: {told['outcome']}",)


def summed_up(processes: List[Dict[str, Any]]) -> Dict[str, Any]:
    """`flip_rate`: the share of processes that settled on another plan than most did. `slowest_over_fastest`: of the
    medians of a step, what the worst of these draws costs."""
    ended = [told for told in processes if "why" not in told]
    if not ended:
        return {"processes": 0}
    counts = collections.Counter(map(key_of, ended))
    medians = [paired.summary(told["ms"]).median for told in ended]
    return {"processes": len(ended), "plans": [{"plan": list(key), "processes": count} for key, count in counts.most_common()],
            "flip_rate": 1 - counts.most_common(1)[0][1] / len(ended), "slowest_over_fastest": max(medians) / min(medians)}


def one_job(job: jobs.Job, args: argparse.Namespace) -> Dict[str, Any]:
    processes: List[Dict[str, Any]] = []
    for number in range(args.processes):
        told = in_a_process(job, args)
        processes.append(told)
        print(f"flips: {job.name}: process {number + 1} of {args.processes}: {_sentence(told)}", file=sys.stderr, flush=True)
    return {"job": job.name, "what": job.what, "processes": processes, "summary": summed_up(processes)}


def _sentence(told: Dict[str, Any]) -> str:
    if "why" in told:
        return str(told["why"])
    plan = ", ".join(told["plan"][:4]) or "the default"
    return f"{told['outcome']}, {plan}, {paired.summary(told['ms']).median:.3f} ms a step ({told['ended']})"


def table(told: Dict[str, Any]) -> str:
    summary = told["summary"]
    if not summary["processes"]:
        return f"== {told['job']}: no process ended"
    lines = [f"== {told['job']}: {summary['processes']} processes, flip rate {summary['flip_rate']:.2f}, the slowest "
             f"settled step over the fastest {summary['slowest_over_fastest']:.3f}"]
    lines += [f"   {plan['processes']} x {', '.join(plan['plan'][:6]) or 'the default'}" for plan in summary["plans"]]
    return "\n".join(lines)


def main() -> int:
    made = settings.parser(__doc__ or "", settings.Defaults(seconds=60.0, rounds=0))
    made.add_argument("--step", action="store_true", help="hand the whole step to blazed.torch.train_step")
    made.add_argument("--processes", type=int, default=5)
    made.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    args = settings.filled(made.parse_args())
    if args.blazed is None:
        raise SystemExit("name the folder that holds bin/blazed with --blazed")
    jobs.prepare()
    if args.one:
        print(json.dumps(settled_alone(args.jobs[0], args)))
        return 0
    result = {**record.head("fresh processes that tune the same PyTorch job from nothing: whether the same plan settles",
                            args.device), "jobs": []}
    for job in args.jobs:
        result["jobs"].append(one_job(job, args))
        record.write(args.out / "flips.json", result)
        print(table(result["jobs"][-1]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
