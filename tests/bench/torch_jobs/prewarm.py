#!/usr/bin/env python3
"""Fills the compiler's caches: each arm of each job compiles in a process of its own, several at once.

    prewarm.py [--jobs ...] [--arms ...] [--processes 8] [--seconds 240]

Compiling is mostly one thread's Python, so the GPU waits for it; here it waits for as long as one process would take,
not for all. The compiler also times kernels on the GPU to choose among them. These timings hold a lock over all
processes, and so do the trained steps, so that what is chosen does not hang on who compiled beside. --seconds ends all.
blazed's own arms are left out: what its builds cost is part of what is measured.
"""
import argparse
import concurrent.futures
import contextlib
import fcntl
import json
import os
import pathlib
import subprocess
import sys
import time
from typing import Any, Dict, Iterator, List

import settings

WARM_STEPS = 3
HEAVY_AT_ONCE = 3  # each takes up to 40 GiB of the GPU
THREADS = "4"      # of the compiler's own pool in each process


@contextlib.contextmanager
def locked(path: pathlib.Path) -> Iterator[None]:
    with open(path, "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _lock_timings(path: pathlib.Path) -> None:
    from torch._inductor.runtime import benchmarking

    inner = benchmarking.benchmarker.benchmark_gpu

    def benchmark_gpu(*arguments: Any, **named: Any) -> Any:
        with locked(path):
            return inner(*arguments, **named)

    benchmarking.benchmarker.benchmark_gpu = benchmark_gpu


def worker(args: argparse.Namespace) -> int:
    """One job, one arm."""
    import arms
    import jobs
    import stepper

    jobs.prepare()
    lock = args.cache / "gpu.lock"
    _lock_timings(lock)
    job = args.jobs[0]
    (arm,) = arms.chosen(job, args.arms, False)
    running = stepper.start(job, arm, args.device, args.tiny)
    running.step()
    with locked(lock):
        for _ in range(WARM_STEPS - 1):
            loss = running.step()
        float(loss)
    return 0


def _command(args: argparse.Namespace, job: str, arm: str) -> List[str]:
    command = [sys.executable, "-W", "ignore", __file__, "--worker", "--jobs", job, "--arms", arm,
               "--device", args.device, "--cache", str(args.cache)]
    return command + (["--tiny"] if args.tiny else [])


def _run(args: argparse.Namespace, job: str, arm: str, ends: float) -> Dict[str, Any]:
    began = time.monotonic()
    told: Dict[str, Any] = {"job": job, "arm": arm, "why": ""}
    try:
        if began >= ends:
            raise subprocess.TimeoutExpired("", 0)
        ran = subprocess.run(_command(args, job, arm), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True, timeout=ends - began,
                             env={**os.environ, "TORCHINDUCTOR_COMPILE_THREADS": THREADS})
        if ran.returncode:
            told["why"] = (ran.stderr.strip().splitlines() or ["no message"])[-1][:300]
    except subprocess.TimeoutExpired:
        told["why"] = "the time was over"
    told["s"] = round(time.monotonic() - began, 1)
    print(f"prewarm: {job}: {arm}: {told['s']} s {told['why']}", file=sys.stderr, flush=True)
    return told


def _tasks(args: argparse.Namespace) -> Iterator[Any]:
    """(job, arm). What compiles nothing of its own is left out: eager steps, captures by hand."""
    import arms

    for job in args.jobs:
        for arm in arms.chosen(job, args.arms, False):
            if arm.compile is not None and not arm.by_hand:
                yield job, arm


def main() -> int:
    made = settings.parser(__doc__ or "", settings.Defaults(seconds=240.0, rounds=0))
    made.add_argument("--processes", type=int, default=max(2, (os.cpu_count() or 4) * 5 // 8))
    made.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    args = settings.filled(made.parse_args())
    args.cache.mkdir(parents=True, exist_ok=True)
    if args.worker:
        return worker(args)
    began, ends = time.monotonic(), time.monotonic() + args.seconds
    light = max(1, args.processes - HEAVY_AT_ONCE)
    # The longest first: max-autotune, then the large models.
    tasks = sorted(_tasks(args), key=lambda task: ("autotune" not in task[1].name, not task[0].heavy))
    with concurrent.futures.ThreadPoolExecutor(HEAVY_AT_ONCE) as heavy, concurrent.futures.ThreadPoolExecutor(light) as rest:
        waiting = [(heavy if job.heavy else rest).submit(_run, args, job.name, arm.name, ends) for job, arm in tasks]
        told = [task.result() for task in waiting]
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "prewarm.json").write_text(json.dumps(told) + "\n", encoding="utf-8")
    failed = [one for one in told if one["why"]]
    print(f"prewarm: {len(told) - len(failed)} of {len(told)} arms compiled in {time.monotonic() - began:.0f} s, "
          f"{args.processes} at once")
    return 0


if __name__ == "__main__":
    sys.exit(main())
