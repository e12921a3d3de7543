#!/usr/bin/env python3
"""The demo as a user runs it: what both of its jobs found and paid."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

RUNS = 1
# Fields of a job in the report (docs/report.md) and their units.
COSTS = (("search_pairs", "count"), ("replication_pairs", "count"), ("builds", "count"), ("races", "count"), ("window_s", "s"),
         ("regret_s", "s"), ("build_s", "s"), ("probe_s", "s"))


def one_run(build):
    with tempfile.TemporaryDirectory(prefix="blazed-bench-") as folder:
        report = pathlib.Path(folder) / "report.json"
        ran = subprocess.run([build / "bin/blaze-demo", "--report", report], stdout=subprocess.PIPE, text=True)
        if ran.returncode:
            raise RuntimeError(f"blaze-demo failed with {ran.returncode}: {ran.stdout[-600:]}")
        first, second = json.loads(report.read_text(encoding="utf-8"))["jobs"]
    values = {}
    for job in (first, second):
        for field, unit in COSTS:
            values[f"{job['role']} job, {field}", unit] = job[field]
    values["first job, plan settled", "count"] = first["settlement"] == "in_job"
    values["first job, saving", "percent"] = 100 * first["gain"]["estimate"] if first["gain"] else 0.0
    values["first job, forecast over happened, window", "ratio"] = first["forecast"]["score"]["window_ratio"] or 0.0
    values["second job, same plan as the first", "count"] = first["plan"] == second["plan"]
    return values


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    args = parser.parse_args()
    runs = [one_run(args.build) for _ in range(RUNS)]
    json.dump({"what": f"the demo as a user runs it, {RUNS} time(s), each with a daemon and a store of its own; one value a run",
               "series": [{"workload": "attention", "regime": "training", "arm": arm, "unit": unit,
                           "values": [float(run[arm, unit]) for run in runs]} for arm, unit in runs[0]]}, sys.stdout)


if __name__ == "__main__":
    main()
