#!/usr/bin/env python3
"""All scenarios of blaze-sim at their full counts: the planner's figures, each with its error, and how they stand to their bars."""
import argparse
import json
import pathlib
import resource
import subprocess
import sys

SCENARIOS = ("aa", "power", "search", "null", "evaporate", "carry", "drift", "queue", "replay", "builds", "jobs", "tails", "restart")
EVENT_REPEATS, EVENT_RUNS = 7, 4


def run(build, *arguments):
    ran = subprocess.run([build / "bin/blaze-sim", *arguments], stdout=subprocess.PIPE, text=True)
    # With --check, 1 says that a bar was missed; the rows are there all the same.
    if ran.returncode not in (0, 1) or not ran.stdout:
        raise RuntimeError(f"blaze-sim {' '.join(arguments)} failed with {ran.returncode}")
    return json.loads(ran.stdout)


def unit_of(field):
    if field.endswith("steps") or field in ("regret", "loss"):
        return "steps"
    return "count" if field in ("builds", "builds_to_half", "false_demotions", "events") else "s" if field.endswith("_s") else "share"


def figures(result):
    """One series for each figure of each row; what comes before a row's first figure is its setting."""
    for row in result["rows"]:
        names = [name for name in row if name + "_low" in row]
        first = list(row).index(names[0])
        setting = ", ".join(f"{name} {row[name]}" for name in list(row)[:first])
        for name in names:
            if row[name] is None:  # nothing to take it from, which the bars tell of
                continue
            yield {"workload": result["scenario"], "regime": setting or "all", "arm": name, "unit": unit_of(name),
                   "n": result["runs"], "median": row[name], "low": row[name + "_low"], "high": row[name + "_high"]}


def standing(result):
    findings = result.get("bars", [])
    missed = sum(finding["standing"] == "missed" for finding in findings)
    for finding in findings:
        print(finding["finding"], file=sys.stderr, flush=True)
    return {"workload": result["scenario"], "regime": "all", "arm": "bars missed", "unit": "count", "n": len(findings),
            "median": missed, "low": missed, "high": missed, "findings": [finding["finding"] for finding in findings]}


def event_times(build):
    """Processor time for each event that the planner applies, the simulated host's own share included."""
    def processor_s():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    values = []
    for seed in range(EVENT_REPEATS):
        begin = processor_s()
        result = run(build, "search", "--boundaries", "134", "--runs", str(EVENT_RUNS), "--seed", str(seed), "--threads", "1", "--json")
        values.append(1e6 * (processor_s() - begin) / sum(row["events"] for row in result["rows"]))
    return {"workload": "search", "regime": "boundaries 134", "arm": "planner and simulated host, processor time of each event", "unit": "us",
            "values": values}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--runs", default="0", help="of each row; 0: each scenario's own count")
    args = parser.parse_args()
    series = []
    for scenario in SCENARIOS:
        print(f"-- {scenario}", file=sys.stderr, flush=True)
        result = run(args.build, scenario, "--runs", args.runs, "--json", "--check")
        series += [*figures(result), standing(result)]
    series.append(event_times(args.build))
    json.dump({"what": "the planner under simulated hosts (docs/simulator.md): `median` is the figure that the scenario names, a "
                       "share, a mean or a median over n runs, and low to high its 95 % interval", "series": series}, sys.stdout)


if __name__ == "__main__":
    main()
