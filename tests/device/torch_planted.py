#!/usr/bin/env python3
"""Plants wrong plans in jobs on a GPU, beside the real daemon: each has to be refused before a step runs it.

    torch_planted.py [--steps N] [--jobs bf16,f32,scalar] [--json FILE]

Ways to run a graph that scale its results, give a NaN, lose a tail, swap an operand, see another batch, hand out the
buffer of the batch before, or let a second stream race; products in half precision in an f32 job; a step replayed with
a learning rate that has moved since. A row passes where the plan's verdict says so, and where the job, in which nothing
else was tried, came to the bits of the same job without a daemon. The verdicts are the history's: read from the daemon
once the job is gone. Exits with 1 where a row fails, with 77 without a GPU. BLAZED_BIN names the programs' folder.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
JOB = ROOT / "tests/system/torch/numbers_job.py"
BIN = pathlib.Path(os.environ.get("BLAZED_BIN", ROOT / "build/release/bin"))
CONFIGURATION = '[tuning]\nsearch = "random"\nbudget_share = 1.0\n'
CACHES = tempfile.mkdtemp(prefix="blazed-planted-caches-")
LIMIT_S = 240
REFUSED = ("rejected_different", "rejected_broken")


def ran(arithmetic, steps, folder, device, *flags):
    # Caches of its own: the compiler times forms of a kernel when it first meets it and keeps what it chose for later
    # processes; two that met it at the same time were seen to choose differently, and so to come to other bits.
    environment = {**os.environ, "BLAZED_SOCKET": f"{folder}/s", "TORCHINDUCTOR_CACHE_DIR": f"{CACHES}/{arithmetic}"}
    command = [sys.executable, "-W", "ignore", str(JOB), str(steps), arithmetic, "--device", device, "--wrong-alone", *flags]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LIMIT_S)
    if done.returncode != 0:
        raise SystemExit(f"{arithmetic}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def history(folder):
    """Text of a plan -> verdict, as the daemon keeps it once the job is gone."""
    answer = subprocess.run([BIN / "blazectl", "--socket", f"{folder}/s", "--json", "plans"], check=True, capture_output=True, text=True)
    return {plan["plan_text"]: plan["verdict"] for plan in json.loads(answer.stdout)["plans"]}


def beside_a_daemon(arithmetic, steps, device):
    with tempfile.TemporaryDirectory(prefix="blazed-planted-") as folder:
        pathlib.Path(f"{folder}/blazed.toml").write_text(CONFIGURATION, encoding="utf-8")
        daemon = subprocess.Popen([BIN / "blazed", "--config", f"{folder}/blazed.toml", "--socket", f"{folder}/s",
                                   "--state", f"{folder}/state"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        try:
            while not pathlib.Path(f"{folder}/s").exists():
                time.sleep(0.05)
            told = ran(arithmetic, steps, folder, device)
            told["history"] = history(folder)
        finally:
            daemon.send_signal(signal.SIGTERM)
            daemon.wait(60)
        return told


def alone(arithmetic, steps, device):
    """Losses of the same job where nothing is tried."""
    with tempfile.TemporaryDirectory(prefix="blazed-planted-") as nowhere:
        return ran(arithmetic, steps, nowhere, device, "--go-on")["losses"]


def row_of(arithmetic, plan, found, told, same):
    kept = told["history"].get(plan, "")
    good = found.get("equivalence") in REFUSED and found["pairs"] == 0 and kept == found["verdict"] and same
    return {"job": arithmetic, "plan": plan, "verdict": found["verdict"], "reason": found.get("reason", ""),
            "mismatches": found.get("mismatches"), "elements": found.get("elements"), "pairs": found["pairs"],
            "in_history": kept, "losses_equal": same, "steps": told["steps"], "passed": good}


# How many wrong ways each job is told of.
PLANTED = {"cuda": {"bf16": 7, "f32": 1, "scalar": 1}, "cpu": {"bf16": 6, "f32": 1}}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=12000)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--device", choices=sorted(PLANTED), default="cuda", help="cpu: to try this script")
    parser.add_argument("--jobs", help="names, with commas; all where left out")
    args = parser.parse_args()
    import torch

    if args.device == "cuda" and not torch.cuda.is_available():
        print("not run: there is no GPU here")
        return 77
    planted = PLANTED[args.device]
    if args.jobs:
        planted = {name: planted[name] for name in args.jobs.split(",")}
    # One after the other: beside another a job is too noisy to be searched. Each ends with its last verdict.
    told = {name: beside_a_daemon(name, args.steps, args.device) for name in planted}
    with concurrent.futures.ThreadPoolExecutor() as side_by_side:
        jobs = {name: side_by_side.submit(alone, name, told[name]["steps"], args.device) for name in planted}
    rows = [row_of(name, plan, found, told[name], told[name]["losses"] == jobs[name].result())
            for name in planted for plan, found in told[name]["verdicts"].items()]
    for row in rows:
        print(f"{'PASS' if row['passed'] else 'FAIL'}  {row['job']:7} {row['plan'][:50]:50} {row['verdict']}, losses "
              f"{'equal' if row['losses_equal'] else 'DIFFERENT'} over {row['steps']} steps: {row['reason'][:120]}", flush=True)
    missing = [f"{name}: {sum(row['job'] == name for row in rows)} of {count} ways were judged in {told[name]['steps']} steps: "
               f"{told[name]['said']}"
               for name, count in planted.items() if sum(row["job"] == name for row in rows) != count]
    print("\n".join([*missing, f"{sum(row['passed'] for row in rows)} of {len(rows)} passed"]))
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 1 if missing or not all(row["passed"] for row in rows) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    finally:
        shutil.rmtree(CACHES, ignore_errors=True)
