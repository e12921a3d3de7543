#!/usr/bin/env python3
"""The planner beside what people would pick instead, Optuna's TPE included: one table, same workloads, noise and budget."""
import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import venv

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from sim_program import run, standing

OPTUNA = "optuna==5.0.0"
SPACES = ("5", "12", "34", "134", "plans_attn256", "plans_attn257", "plans_lstm", "plans_mlp1025")
BUILDS_S = ("0", "10")
TPE_RUNS = 40  # TPE itself takes seconds a run in the large spaces; the others run on the same workloads beside it
FIGURES = {"wall": "steps", "regret": "steps", "capture": "share", "worse": "share", "false_claims": "share", "builds": "count",
           "trial_steps": "steps"}
SEED = 1


def tpe_python():
    """The interpreter of an environment with Optuna, outside of the tree; made where it is missing."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    folder = cache / "blazed-bench" / OPTUNA.replace("==", "-")
    python = folder / "bin/python"
    if subprocess.run([python, "-c", "import optuna"], stderr=subprocess.DEVNULL).returncode if python.exists() else True:
        print(f"compare: installing {OPTUNA} into {folder}", file=sys.stderr)
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", OPTUNA], check=True, stdout=sys.stderr)
    return python


def rate(hits, count):
    """Wilson's interval, as blaze-sim gives it, and the count."""
    if count == 0:
        return 0.0, 0.0, 1.0, 0
    z = 1.959963984540054
    share, square = hits / count, z * z / count
    middle = (share + square / 2) / (1 + square)
    half = z * math.sqrt(share * (1 - share) / count + square / (4 * count)) / (1 + square)
    return share, 0.0 if hits == 0 else max(0.0, middle - half), 1.0 if hits == count else min(1.0, middle + half), count


def ratio(parts, wholes):
    """Sum over sum, with 95 % of 400 resamples of the runs."""
    draw = random.Random(SEED)

    def of(indices):
        whole = sum(wholes[i] for i in indices)
        return sum(parts[i] for i in indices) / whole if whole else 0.0

    everything = range(len(parts))
    drawn = sorted(of([draw.randrange(len(parts)) for _ in everything]) for _ in range(400))
    value = of(everything)
    return value, min(value, drawn[10]), max(value, drawn[-11]), len(parts) if any(wholes) else 0


def median(values):
    ordered, n = sorted(values), len(values)
    tail, k = 0.0, 0
    while tail + math.comb(n, k) * 0.5**n <= 0.025:
        tail += math.comb(n, k) * 0.5**n
        k += 1
    k = max(k, 1)
    return (ordered[(n - 1) // 2] + ordered[n // 2]) / 2, ordered[k - 1], ordered[n - k], n


def figures_of(scores):
    of = {name: [score[name] for score in scores] for name in scores[0]}
    ones = [1.0] * len(scores)
    claims = int(sum(of["claims"]))
    return {"wall": ratio(of["wall"], ones), "regret": ratio(of["regret"], ones), "capture": ratio(of["got"], of["best"]),
            "worse": rate(int(sum(of["worse"])), len(scores)), "false_claims": rate(int(sum(of["false_claim"])), claims),
            "builds": median(of["builds"]), "trial_steps": median(of["trial_steps"])}


def tpe_rows(python, program, runs):
    script = pathlib.Path(__file__).with_name("optuna_tpe.py")
    # The seeds of blaze-sim's first runs.
    seeds = ",".join(str(SEED * 1000003 + run * 31) for run in range(runs))

    def one(case):
        command = [python, script, "--program", program, "--space", case[0], "--build-s", case[1], "--seeds", seeds]
        return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)

    cases = [(space, build_s) for space in SPACES for build_s in BUILDS_S]
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for case, scores in zip(cases, pool.map(one, cases)):
            yield {"space": case[0], "build_s": float(case[1]), "method": "optuna tpe, 64 plans", **figures_of(scores)}


def sim_rows(result):
    for row in result["rows"]:
        yield {**{name: row[name] for name in ("space", "build_s", "method")},
               **{name: tuple(row[name + end] for end in ("", "_low", "_high", "_n")) for name in FIGURES}}


def show(title, rows):
    print(f"{title}\n{'space':>14} {'build':>6} {'method':<22}" + "".join(f"{name:>40}" for name in FIGURES), file=sys.stderr)
    for row in rows:
        cells = "".join(f"{'%.4g (%.3g to %.3g, n %d)' % row[name] if row[name][3] else 'no data':>40}" for name in FIGURES)
        print(f"{row['space']:>14} {row['build_s']:>4g} s {row['method']:<22}{cells}", file=sys.stderr)


def series_of(rows, workloads):
    """Figures that there is something to take from."""
    for row in sorted(rows, key=lambda row: (SPACES.index(row["space"]), row["build_s"])):
        for name, unit in FIGURES.items():
            median, low, high, n = row[name]
            if n:
                yield {"workload": row["space"], "regime": f"build {row['build_s']:g} s, {workloads}",
                       "arm": f"{row['method']}: {name}", "unit": unit, "n": n, "median": median, "low": low, "high": high}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--runs", default="0", help="workloads of the methods in blaze-sim; 0: the scenario's own count")
    parser.add_argument("--tpe-runs", type=int, default=TPE_RUNS, help="the first of them, on which TPE takes part")
    args = parser.parse_args()
    # What cannot be installed says so before all else runs.
    python = tpe_python()
    program = args.build / "bin/blaze-sim"
    ours = ("compare", "--json", "--check", "--seed", str(SEED), "--runs")
    everything = run(args.build, *ours, args.runs)
    same = [*sim_rows(run(args.build, *ours, str(args.tpe_runs))), *tpe_rows(python, program, args.tpe_runs)]
    alone = list(sim_rows(everything))
    show(f"the methods of blaze-sim, {everything['runs']} workloads of each space", alone)
    show(f"all methods on the same first {args.tpe_runs} of them", same)
    series = [*series_of(alone, f"{everything['runs']} workloads"), *series_of(same, f"the same {args.tpe_runs} for all"),
              standing(everything)]
    json.dump({"what": "a job of 20,000 steps of 50 ms under each method, trials and builds included (docs/simulator.md): `median` is a "
                       "mean (wall, regret), a share or a median over n workloads or claims, low to high its 95 % interval; TPE takes "
                       "part in the first workloads of each space, and all methods stand beside it there",
               "kind": "simulated", "series": series}, sys.stdout)


if __name__ == "__main__":
    main()
