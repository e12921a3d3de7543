#!/usr/bin/env python3
"""All scenarios of blaze-sim at their full counts: the planner's figures, each with its error, and how they stand to their bars.
`--table` runs nothing: it renews the tables of docs/simulator.md from the results that are kept."""
import argparse
import json
import pathlib
import resource
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

import doc_tables
from sim_program import run, standing

SCENARIOS = ("aa", "power", "search", "null", "evaporate", "carry", "drift", "queue", "replay", "builds", "jobs", "tails", "restart")
EVENT_REPEATS, EVENT_RUNS = 7, 4
COUNTS = ("builds", "builds_to_half", "happened", "false_demotions", "settlements", "search_accepts", "events")


def unit_of(field):
    if "steps" in field or field in ("regret", "loss"):
        return "steps"
    return "count" if field in COUNTS else "s" if field.endswith("_s") else "share"


def figures(result):
    """One series for each figure of each row; what comes before a row's first figure is its setting."""
    for row in result["rows"]:
        names = [name for name in row if name + "_low" in row]
        first = list(row).index(names[0])
        setting = ", ".join(f"{name} {row[name]}" for name in list(row)[:first])
        of = {"workload": result["scenario"], "regime": setting or "all"}
        for name in names:
            if row[name] is None or row[name + "_n"] == 0:  # nothing to take it from, which the bars tell of
                continue
            yield {**of, "arm": name, "unit": unit_of(name), "n": row[name + "_n"], "median": row[name], "low": row[name + "_low"],
                   "high": row[name + "_high"]}
        # Counts over all runs together, which have no interval.
        for name in (name for name in list(row)[first:] if name in COUNTS and name not in names):
            yield {**of, "arm": name, "unit": "count", "n": result["runs"], "median": row[name], "low": row[name], "high": row[name]}


def event_times(build):
    """Processor time for each event that the planner applies, the simulated host's own share included."""
    def processor_s():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    values = []
    for seed in range(EVENT_REPEATS):
        begin = processor_s()
        result = run(build, "search", "--boundaries", "134", "--runs", str(EVENT_RUNS), "--seed", str(seed), "--threads", "1", "--json")
        values.append(1e6 * (processor_s() - begin) / sum(row.get("events", 0) for row in result["rows"]))
    return {"workload": "search", "regime": "boundaries 134", "arm": "planner and simulated host, processor time of each event", "unit": "us",
            "kind": "measured", "values": values}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--runs", default="0", help="of each row; 0: each scenario's own count")
    parser.add_argument("--table", action="store_true", help="renew docs/simulator.md and end")
    args = parser.parse_args()
    if args.table:
        return doc_tables.renew()
    if args.build is None:
        parser.error("--build is required")
    series = []
    for scenario in SCENARIOS:
        print(f"-- {scenario}", file=sys.stderr, flush=True)
        result = run(args.build, scenario, "--runs", args.runs, "--json", "--check")
        series += [*figures(result), standing(result)]
    series.append(event_times(args.build))
    json.dump({"what": "the planner under simulated hosts (docs/simulator.md): `median` is the figure that the scenario names, a "
                       "share, a mean or a median of n runs, races or values, and low to high its 95 % interval",
               "kind": "simulated", "series": series}, sys.stdout)


if __name__ == "__main__":
    main()
