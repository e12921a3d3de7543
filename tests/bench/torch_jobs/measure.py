#!/usr/bin/env python3
"""Measures the jobs' training steps: all arms of a job in one process, in drained units in drawn order.

    measure.py [--jobs attn257,mlp1025] [--arms compile,blazed] [--seconds 75] [--out FOLDER]

Writes FOLDER/measure.json after each job and ends with a table. --device cpu --tiny is for trying it.
"""
import argparse
import contextlib
import sys
import time
from typing import Any, Dict, Iterator, List

import torch

import arms
import jobs
import paired
import record
import rounds
import settings
import stepper
import tables

WARM_SHARE = 0.7  # of a job's time that building its arms may take, blazed's search with it, so that rounds are left
TUNE_SHARE = 0.25  # of a job's time for blazed's arms to settle in, together
FREEZE_S = 2.0


def _tune(group: rounds.Group, name: str, seconds: float) -> Dict[str, Any]:
    """At once, since its session counts the time from its first steps on; and a moment more, so that it is frozen where
    it is not settled."""
    try:
        running = group.arms[name].stepper
        ended, status = running.tune(seconds + FREEZE_S), running.status()
        group.arms[name] = group.reshaped(group.arms[name])
        return {"ended": ended, "status": status.as_dict() if status is not None else None}
    except Exception as error:
        why = rounds.sentence(error)
    group.fail(name, why)
    return {"ended": why, "status": None}


def _warm(job: jobs.Job, group: rounds.Group, chosen: List[arms.Arm], args: argparse.Namespace) -> Dict[str, Any]:
    """Every arm that there is time for. What became of blazed's."""
    began, tuned = time.monotonic(), {}
    tune_s = TUNE_SHARE * args.seconds / max(1, sum(bool(arm.blazed) for arm in chosen))
    for arm in chosen:
        left = WARM_SHARE * args.seconds - (time.monotonic() - began)
        if left <= 1:
            group.failures[arm.name] = "there was no time left to build it"
            continue
        say(f"{job.name}: {arm.name}")
        if group.warm(arm.name, lambda arm=arm: stepper.start(job, arm, args.device, args.tiny, tune_s), left) and arm.blazed:
            tuned[arm.name] = _tune(group, arm.name, tune_s)
    return tuned


def _rows(group: rounds.Group, chosen: List[arms.Arm], ran: Dict[str, Any]) -> List[Dict[str, Any]]:
    host = ran["host_ms"]
    stock = [arm.name for arm in chosen if arm.stock and arm.name in host]
    compared = len(next(iter(host.values()), [])) >= 2
    rows = []
    for arm in chosen:
        if arm.name not in host:
            continue
        warmed = group.arms[arm.name]
        row: Dict[str, Any] = {"arm": arm.name, "stock": arm.stock, "ms": paired.summary(host[arm.name])._asdict(),
                               "device_ms": paired.summary(ran["device_ms"][arm.name])._asdict(),
                               "unit": warmed.shape._asdict(), "warm_s": round(warmed.warm_s, 2),
                               "peak_bytes": warmed.peak_bytes, "first_loss": warmed.first_loss}
        if compared and arms.COMPILE.name in host:
            row["against_compile"] = paired.ratio(host[arm.name], host[arms.COMPILE.name])._asdict()
        if compared and stock:
            row["best_stock"] = paired.best(host, stock)
            row["against_best_stock"] = paired.against_best(host, stock, arm.name)._asdict()
        rows.append(row)
    return rows


def one_job(job: jobs.Job, args: argparse.Namespace) -> Dict[str, Any]:
    began = time.monotonic()
    torch._dynamo.reset()
    chosen = arms.chosen(job, args.arms, args.blazed)
    group = rounds.Group(args.device)
    tuned = _warm(job, group, chosen, args)
    state = record.gpu_state()
    ran = group.run(args.rounds, args.seconds - (time.monotonic() - began))
    result = {"job": job.name, "what": job.what, "precision": job.precision, "sizes": job.tiny if args.tiny else job.sizes,
              "rows": _rows(group, chosen, ran), "failures": group.failures, "blazed": tuned, "gpu_before_rounds": state,
              "gpu_after_rounds": record.gpu_state(), "took_s": round(time.monotonic() - began, 1), **ran}
    group.close()
    return result


def say(text: str) -> None:
    print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def daemon_where_there_is_one(args: argparse.Namespace) -> Iterator[None]:
    """Without its program blazed's arms are left out."""
    if args.blazed is None:
        yield
        return
    with settings.daemon_of(args):
        yield


def main() -> int:
    args = settings.parsed(__doc__ or "", settings.Defaults(seconds=75.0, rounds=40))
    jobs.prepare()
    result = {**record.head("training steps of PyTorch jobs, arms interleaved in drained units", args.device), "jobs": []}
    with daemon_where_there_is_one(args):
        for job in args.jobs:
            try:
                result["jobs"].append(one_job(job, args))
            except Exception as error:
                say(f"{job.name}: {rounds.sentence(error)}")
                result["jobs"].append({"job": job.name, "what": job.what, "failures": {"job": rounds.sentence(error)}, "rows": []})
            record.write(args.out / "measure.json", result)
            print(tables.of_job(result["jobs"][-1]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
