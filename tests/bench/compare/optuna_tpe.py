#!/usr/bin/env python3
"""Optuna's TPE on the workloads, noise and budget of `blaze-sim compare`, asked for by lines of text. Prints one JSON list of scores."""
import argparse
import json
import statistics
import subprocess
import sys

import optuna

TRIALS, SAMPLES = 64, 10  # as many plans and steps as the random search of blaze-sim compare


class Sim:
    def __init__(self, program):
        self.process = subprocess.Popen([program, "ask"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        kind, _, rest = self.process.stdout.readline().strip().partition(" ")
        if kind in ("error", ""):
            raise RuntimeError(f"blaze-sim ask: {line}: {rest}")
        return kind, rest.split()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def tune(sim, space, build_s, seed):
    options = [int(n) for n in sim.ask(f"workload {space} {build_s} {seed}")[1]]
    default = ",".join("0" for _ in options)

    def median_time(plan):
        kind, times = sim.ask(f"run {plan} {SAMPLES}")
        return None if kind == "spent" else statistics.median(map(float, times))

    best, least = default, median_time(default)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed % 2**32))
    # Where the search begins: the host's own plan.
    study.enqueue_trial({f"d{i}": 0 for i in range(len(options))})
    for _ in range(TRIALS):
        trial = study.ask()
        plan = ",".join(str(trial.suggest_categorical(f"d{i}", list(range(n)))) for i, n in enumerate(options))
        time = median_time(plan)
        if time is None:
            break
        study.tell(trial, time)
        if time < least:
            best, least = plan, time
    words = sim.ask(f"done {best}")[1]
    return {name: float(value) for name, value in zip(words[::2], words[1::2])}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True, help="blaze-sim")
    parser.add_argument("--space", required=True)
    parser.add_argument("--build-s", required=True)
    parser.add_argument("--seeds", required=True, help="numbers with commas between")
    args = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sim = Sim(args.program)
    json.dump([tune(sim, args.space, args.build_s, int(seed)) for seed in args.seeds.split(",")], sys.stdout)
    sim.close()


if __name__ == "__main__":
    main()
