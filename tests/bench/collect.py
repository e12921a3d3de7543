#!/usr/bin/env python3
"""Runs benches and writes docs/results/NAME.json. See tests/bench/README.md."""
import argparse
import datetime
import json
import os
import pathlib
import platform
import subprocess
import sys

from samples import row, summary_row

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Whose versions a figure depends on.
PACKAGES = ("g++", "libgrpc++-dev", "libprotobuf-dev", "libabsl-dev", "libsqlite3-dev", "libnghttp2-dev", "libnanopb-dev",
            "libopenblas-dev", "libbenchmark-dev")
REPETITIONS = 9


def text_of(command):
    ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    return ran.stdout.strip() if ran.returncode == 0 else ""


def commit():
    name = text_of(["git", "rev-parse", "--short=12", "HEAD"]) or "unknown"
    return name + ("-dirty" if text_of(["git", "status", "--porcelain", "--untracked-files=no"]) else "")


def machine():
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo", encoding="ascii", errors="replace")
                  if line.startswith("model name")), platform.machine())
    memory_kib = int(next(line.split()[1] for line in open("/proc/meminfo", encoding="ascii") if line.startswith("MemTotal")))
    return {"cpu": model, "cores": os.cpu_count(), "memory_gib": round(memory_kib / 2**20, 1), "kernel": platform.release()}


def versions():
    shown = text_of(["dpkg-query", "-W", "-f=${Package} ${Version}\\n", *PACKAGES])
    return dict(line.split(" ", 1) for line in shown.splitlines() if " " in line)


def from_google(binary):
    """Rows of a Google Benchmark binary: each repetition is a sample, repetitions of all arms interleaved."""
    command = [str(binary), "--benchmark_format=json", f"--benchmark_repetitions={REPETITIONS}",
               "--benchmark_enable_random_interleaving=true", "--benchmark_report_aggregates_only=false"]
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode:
        raise RuntimeError(f"{binary.name} failed with {ran.returncode}: {ran.stderr.strip()[-600:]}")
    result = json.loads(ran.stdout)
    groups = {}
    for run in result["benchmarks"]:
        if run.get("error_occurred"):
            raise RuntimeError(f"{binary.name}: {run['name']}: {run.get('error_message')}")
        if run["run_type"] == "iteration":
            groups.setdefault(run["run_name"], []).append(run)
    rows = []
    for name, runs in groups.items():
        parts = name.split("/")
        workload, regime, arm = parts if len(parts) == 3 else ("none", "none", name)
        rows.append(row(workload, regime, arm, runs[0]["time_unit"], [r["real_time"] for r in runs]))
    what = pathlib.Path(str(binary) + ".what").read_text(encoding="utf-8").strip()
    return what, rows


def from_program(command):
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if ran.returncode:
        raise RuntimeError(f"{command[0]} failed with {ran.returncode}")
    result = json.loads(ran.stdout)
    return result["what"], [summary_row(s) if "median" in s else
                            row(s.pop("workload", "none"), s.pop("regime", "none"), s.pop("arm"), s.pop("unit"),
                                s.pop("values"), **s) for s in result["series"]]


def benches(build):
    """Name -> function that gives (what, rows)."""
    found = {}
    for what in sorted((build / "bench").glob("*.what")):
        binary = what.with_suffix("")
        found[binary.name.removesuffix("_bench")] = lambda binary=binary: from_google(binary)
    for program in sorted((build / "bench").glob("*.program")):
        binary = program.with_suffix("")
        command = [str(binary), "--build", str(build)]
        found[binary.name.removesuffix("_bench")] = lambda command=command: from_program(command)
    for script in sorted(pathlib.Path(__file__).parent.glob("*/*_bench.py")):
        command = [sys.executable, str(script), "--build", str(build)]
        found[script.stem.removesuffix("_bench")] = lambda command=command: from_program(command)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "docs/results")
    parser.add_argument("--list", action="store_true", help="name the benches and end")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    found = benches(args.build.resolve())
    if args.list:
        print("\n".join(found))
        return 0
    unknown = [name for name in args.names if name not in found]
    if unknown:
        print(f"collect: no bench named {unknown[0]}; there are {', '.join(found)}", file=sys.stderr)
        return 2
    failed = 0
    for name in args.names or found:
        print(f"== bench {name}", file=sys.stderr, flush=True)
        try:
            what, rows = found[name]()
        except (RuntimeError, OSError, ValueError) as error:
            print(f"collect: {name}: {error}", file=sys.stderr)
            failed += 1
            continue
        result = {"schema": 1, "what": what, "kind": "measured",
                  "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "commit": commit(),
                  "machine": machine(), "gpu": None, "versions": versions(), "command": f"./run bench {name}", "rows": rows}
        args.results.mkdir(parents=True, exist_ok=True)
        path = args.results / f"{name}.json"
        partial = path.with_suffix(".partial")
        partial.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        partial.replace(path)
        for entry in rows:
            print(f"{entry['workload']:>12} {entry['regime']:>9} {entry['arm']:<44} {entry['median']:>12.6g} {entry['unit']} "
                  f"({entry['low']:.6g} to {entry['high']:.6g}, n {entry['n']})", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
