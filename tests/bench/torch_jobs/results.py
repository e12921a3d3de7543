#!/usr/bin/env python3
"""Puts what a GPU machine measured where documents quote it from.

    results.py measure.json [tune.json attached.json complete.json flips.json ...] [--add] [--results docs/results]

Writes torch_steps.json, torch_tune.json and the like in the form of docs/results and prints the tables of docs/pytorch.md. Several
files of one kind are one table, gathered in several runs: each row names the commit that it was measured with. With
--add the rows of other jobs that are there already stay.
"""
import argparse
import json
import pathlib
import sys
from typing import Any, Dict, Iterator, List

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import tables  # noqa: E402
from collect import write  # noqa: E402
from samples import row  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
_RATIOS = {"against_compile": "/ torch.compile", "against_default": "/ blazed's default plan",
           "against_best_stock": "/ best stock arm"}
# Of a daemon's report, with their units.
_COSTS = {"window_s": "s", "build_s": "s", "probe_s": "s", "drain_s": "s", "regret_s": "s", "builds": "count",
          "probes": "count", "search_pairs": "count", "replication_pairs": "count", "break_even_steps": "steps"}


def _steps(job: Dict[str, Any]) -> Iterator[Dict[str, Any]]:
    for measured in job["rows"]:
        name = measured["arm"]
        extra = {"unit_steps": measured["unit"]["timed"], "peak_gib": round(measured["peak_bytes"] / 2**30, 2)}
        yield row(job["job"], "training", name, "ms a step", job["host_ms"][name], **extra)
        for key, title in _RATIOS.items():
            ratio = measured.get(key)
            if ratio is not None and ratio["n"] > 1:
                yield {"workload": job["job"], "regime": "training", "arm": f"{name} {title}", "unit": "ratio", "n": ratio["n"],
                       "median": ratio["estimate"], "low": ratio["low"], "high": ratio["high"],
                       **({"base": measured["best_stock"]} if key == "against_best_stock" else {})}


def _search(job: Dict[str, Any]) -> Iterator[Dict[str, Any]]:
    report = job.get("report") or {}
    for key, unit in _COSTS.items():
        if report.get(key) is not None:
            yield row(job["job"], "training", f"search: {key}", unit, [float(report[key])], verdict=report["outcome"])
    gain = report.get("gain")
    if gain:
        yield {"workload": job["job"], "regime": "training", "arm": "search: saving that it found", "unit": "percent",
               "n": 1, "median": 100 * gain["estimate"], "low": 100 * gain["low"], "high": 100 * gain["high"]}
    second = job.get("second") or {}
    if "steps" in second:
        yield row(job["job"], "training", "second job: until the settled plan runs", "steps", [float(second["steps"])])


def _attached(job: Dict[str, Any]) -> Iterator[Dict[str, Any]]:
    for measured in job["rows"]:
        name = measured["arm"]
        yield row(job["job"], "training", name, "ms a step", job["host_ms"][name], unit_steps=measured["unit"]["timed"])
        ratio = measured["against_compile"]
        yield {"workload": job["job"], "regime": "training", "arm": f"{name} / torch.compile", "unit": "ratio", "n": ratio["n"],
               "median": ratio["estimate"], "low": ratio["low"], "high": ratio["high"]}
    if "own_us" in job:
        yield row(job["job"], "training", "blazed's own code", "us a step", job["own_us"])


def _complete(job: Dict[str, Any]) -> Iterator[Dict[str, Any]]:
    for name, run in job["arms"].items():
        if "wall_s" in run:
            yield row(job["job"], "training", f"{name}: whole run", "s", [run["wall_s"]], steps=run["steps"],
                      loss=round(run["loss"], 5), target=round(job["target"], 5), reached=run["reached"])


def _flips(job: Dict[str, Any]) -> Iterator[Dict[str, Any]]:
    for number, told in enumerate(job["processes"], 1):
        if "ms" in told:
            yield row(job["job"], "training", f"process {number}: its plan", "ms a step", told["ms"], plan=told["plan"],
                      outcome=told["outcome"])
    if job["summary"]["processes"]:
        yield row(job["job"], "training", "flip rate", "share", [job["summary"]["flip_rate"]])


# What a run's first job has, to its file's name and what makes its rows; the first that fits counts.
_KINDS = (("processes", "torch_flips", _flips), ("arms", "torch_complete", _complete), ("own_us", "torch_attached", _attached),
          ("report", "torch_tune", lambda job: [*_steps(job), *_search(job)]), ("rows", "torch_steps", _steps))


def _kind_of(measured: Dict[str, Any]) -> str:
    return next(name for key, name, _ in _KINDS if any(key in job for job in measured["jobs"]))


def result_of(runs: List[Dict[str, Any]], kind: str) -> Dict[str, Any]:
    """The head is the last run's. Raises ValueError where nothing was measured."""
    rows_of = next(made for _, name, made in _KINDS if name == kind)
    rows: List[Dict[str, Any]] = []
    failed: Dict[str, Any] = {}
    for measured in runs:
        for job in measured["jobs"]:
            rows += [{**one, "commit": measured["commit"]} for one in rows_of(job)]
            failed.update({job["job"]: job["failures"]} if job.get("failures") else {})
    if not rows:
        raise ValueError("no job of it has a row")
    gathered = [{key: measured[key] for key in ("date", "commit", "command")} for measured in runs]
    return {**{key: value for key, value in runs[-1].items() if key != "jobs"}, "gathered": gathered, "rows": rows,
            "failures": failed}


def added_to(before: Dict[str, Any], after: Dict[str, Any]) -> Dict[str, Any]:
    """`after` with what `before` has of other jobs."""
    measured = {row["workload"] for row in after["rows"]}
    kept = [row for row in before["rows"] if row["workload"] not in measured]
    commits = {row["commit"] for row in kept if "commit" in row}
    gathered = [run for run in before.get("gathered", []) if run["commit"] in commits]
    failures = {job: why for job, why in before.get("failures", {}).items() if job not in measured}
    return {**after, "gathered": gathered + after["gathered"], "rows": kept + after["rows"],
            "failures": {**failures, **after["failures"]}}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--add", action="store_true", help="keep what is there of other jobs")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "docs/results")
    args = parser.parse_args()
    kinds: Dict[str, List[Dict[str, Any]]] = {}
    for path in args.files:
        measured = json.loads(path.read_text(encoding="utf-8"))
        kinds.setdefault(_kind_of(measured), []).append(measured)
    for name, runs in kinds.items():
        result, there = result_of(runs, name), args.results / f"{name}.json"
        if args.add and there.exists():
            result = added_to(json.loads(there.read_text(encoding="utf-8")), result)
        write(args.results, name, result)
        if all("rows" in job for run in runs for job in run["jobs"]):
            print(tables.of_jobs([job for run in runs for job in run["jobs"]], f"[measured: results/{name}.json]"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
