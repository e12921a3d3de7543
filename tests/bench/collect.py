#!/usr/bin/env python3
"""Runs benches and writes docs/results/NAME.json. What stands after `--` goes to the programs as it is. See tests/bench/README.md."""
import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import shlex
import subprocess
import sys

from samples import row, summary_row

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Whose versions a figure depends on.
PACKAGES = ("g++", "libgrpc++-dev", "libprotobuf-dev", "libabsl-dev", "libsqlite3-dev", "libnghttp2-dev", "libnanopb-dev",
            "libopenblas-dev", "libbenchmark-dev")
REPETITIONS = 9


PROGRAMS = ("blazed", "blaze-sim", "blaze-train")  # that benches run, where they are built


def text_of(command, root=ROOT):
    ran = subprocess.run(command, capture_output=True, text=True, cwd=root)
    return ran.stdout.strip() if ran.returncode == 0 else ""


def commit(root=ROOT):
    """Documents, and so results of other benches, are no part of what is measured; cmake/BlazedCompiler.cmake stamps by the same rule."""
    name = text_of(["git", "rev-parse", "--short=12", "HEAD"], root) or "unknown"
    changed = text_of(["git", "status", "--porcelain", "--untracked-files=no", "--", ".", ":(exclude)docs"], root)
    return name + ("-dirty" if changed else "")


def strangers(build, name):
    """Sentences about built programs that say they are of another commit than `name`."""
    for program in PROGRAMS:
        path = build / "bin" / program
        said = re.search(r"\(([^()]+)\)\s*$", text_of([str(path), "--version"])) if path.exists() else None
        if said and said.group(1) != name:
            yield f"{program} says that it is of {said.group(1)}, the checkout is at {name}: build it again, or the result names the wrong one"


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
    return what, "measured", rows


def from_program(command):
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if ran.returncode:
        raise RuntimeError(f"{command[0]} failed with {ran.returncode}")
    result = json.loads(ran.stdout)
    rows = [summary_row(s) if "median" in s else
            row(s.pop("workload", "none"), s.pop("regime", "none"), s.pop("arm"), s.pop("unit"), s.pop("values"), **s)
            for s in result["series"]]
    return result["what"], result.get("kind", "measured"), rows


def benches(build, extra=()):
    """Name -> function that gives (what, kind, rows). `extra`: further arguments of programs."""
    found = {}
    for what in sorted((build / "bench").glob("*.what")):
        binary = what.with_suffix("")
        found[binary.name.removesuffix("_bench")] = lambda binary=binary: from_google(binary)
    for program in sorted((build / "bench").glob("*.program")):
        binary = program.with_suffix("")
        command = [str(binary), "--build", str(build), *extra]
        found[binary.name.removesuffix("_bench")] = lambda command=command: from_program(command)
    for script in sorted(pathlib.Path(__file__).parent.glob("*/*_bench.py")):
        command = [sys.executable, str(script), "--build", str(build), *extra]
        found[script.stem.removesuffix("_bench")] = lambda command=command: from_program(command)
    return found


def write(folder, name, result):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    partial.replace(path)


def main():
    at = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    own, extra = sys.argv[1:at], sys.argv[at + 1:]
    parser = argparse.ArgumentParser(usage="%(prog)s --build FOLDER [--results FOLDER] [--list] [name ...] [-- argument of the programs ...]")
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "docs/results")
    parser.add_argument("--list", action="store_true", help="name the benches and end")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args(own)
    found = benches(args.build.resolve(), extra)
    if args.list:
        print("\n".join(found))
        return 0
    unknown = [name for name in args.names if name not in found]
    if unknown:
        print(f"collect: no bench named {unknown[0]}; there are {', '.join(found)}", file=sys.stderr)
        return 2
    stamp = commit()
    for sentence in strangers(args.build, stamp):
        print(f"collect: {sentence}", file=sys.stderr)
    failed = 0
    for name in args.names or found:
        print(f"== bench {name}", file=sys.stderr, flush=True)
        try:
            what, kind, rows = found[name]()
        except (RuntimeError, OSError, ValueError) as error:
            print(f"collect: {name}: {error}", file=sys.stderr)
            failed += 1
            continue
        command = shlex.join(["./run", "bench", name, *(["--", *extra] if extra else [])])
        write(args.results, name,
              {"schema": 1, "what": what, "kind": kind,
               "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "commit": stamp,
               "machine": machine(), "gpu": None, "versions": versions(), "command": command, "rows": rows})
        for entry in rows:
            print(f"{entry['workload']:>12} {entry['regime']:>9} {entry['arm']:<44} {entry['median']:>12.6g} {entry['unit']} "
                  f"({entry['low']:.6g} to {entry['high']:.6g}, n {entry['n']})", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
