#!/usr/bin/env python3
"""A drift that happens: a plan of two threads settles, a neighbour takes a core, the checks demote the plan, the search opens again, the
neighbour goes, the plan settles again.

Daemon, trainer and workload are those of a user; only the neighbour is the bench's. A run's story is whole where the plan was demoted and
settled again in the same job; runs in which something did not happen are counted, not repeated. Whether the search beside the neighbour settled
anything is a row of its own: where it says that the machine is too noisy to tell, the job stays on the default until the neighbour has gone.
Control runs have no neighbour: nothing may be demoted there.
"""
import argparse
import json
import math
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from private_daemon import daemon  # noqa: E402
from samples import median  # noqa: E402
from watch import Watch  # noqa: E402

RUNS = 5
QUIET_SHARE = 0.05  # of a core that others may use when a run begins
QUIET_WAIT_S = 120  # for that; then it begins anyhow
TRAIN = ("--workload", "chain", "--threads", "2", "--steps", "1000000000", "--seconds", "600")
NEIGHBOUR_THREADS = 1
SETTLE_S = 120      # for the first answer
QUIET_S = 12        # settled and alone, so that the checks are far apart
DEMOTE_S = 60
SETTLE_AGAIN_S = 150
AFTER_S = 5         # under the new answer
RETURN_S = 90       # for the answer behind the neighbour's end
CONTROL_S = 60      # settled and alone, in a control
REPLICATION, DRIFT, LOST = 2, 3, 1  # as the store writes kinds and outcomes of races


def be_favoured():
    """A session of its own for all that the bench starts, its neighbour included, which the scheduler puts before all others."""
    if os.getpgrp() != os.getpid():  # else it is a shell's own job, and that shell's session is favoured
        os.setsid()
    pathlib.Path("/proc/self/autogroup").write_text("-20")


def busy_ticks():
    user, nice, system, _, _, irq, softirq, steal = (int(word) for word in pathlib.Path("/proc/stat").read_text().split()[1:9])
    return user + nice + system + irq + softirq + steal


def await_quiet(wait_s):
    """What all programs used of a core in the last seconds, once that is next to nothing or was waited for in vain."""
    deadline = time.monotonic() + wait_s
    while True:
        began, ticks = time.monotonic(), busy_ticks()
        time.sleep(3)
        share = (busy_ticks() - ticks) / os.sysconf("SC_CLK_TCK") / (time.monotonic() - began)
        if share < QUIET_SHARE or time.monotonic() > deadline:
            return share


def wilson(values):
    """Of the share of ones: itself and its 95 % interval."""
    n, z = len(values), 1.96
    share = sum(values) / n
    middle, half = share + z * z / (2 * n), z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return share, (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)


def answer(event):
    """What ended a search, or None: of an event."""
    if event["kind"] == "settlement_stored":
        return "settled"
    return "undecided" if event["kind"] == "search_ended" and event["detail"] else None


def number(event, field):
    found = re.search(rf"\b{field}=(\d+)", event["detail"])
    return int(found.group(1)) if found else None


def steps_at(events, unix_ns):
    """The job's step at a moment, from the events that name one before and behind it."""
    known = []
    for event in events:
        step = number(event, "from_step") if event["kind"] == "variant_adopted" else number(event, "first_step")
        if step is not None:
            known.append((event["unix_ns"], step))
    before = max((k for k in known if k[0] <= unix_ns), default=known[0])
    behind = min((k for k in known if k[0] > unix_ns), default=known[-1])
    if behind[0] == before[0]:
        return before[1]
    return before[1] + (behind[1] - before[1]) * (unix_ns - before[0]) / (behind[0] - before[0])


def races(state, kind):
    """(outcome, champion's and challenger's median step in ms, saving of the challenger with its interval), oldest first."""
    with sqlite3.connect(f"file:{state}/blazed.db?mode=ro", uri=True) as store:
        rows = store.execute("SELECT outcome, champion_p50_ns / 1e6, challenger_p50_ns / 1e6, effect_estimate, effect_low, effect_high "
                             "FROM race WHERE kind = ? ORDER BY ended_ns", (kind,))
        return [(row[0], row[1], row[2], [100 * -math.expm1(-ratio) for ratio in row[3:]]) for row in rows]


def settlements(state):
    with sqlite3.connect(f"file:{state}/blazed.db?mode=ro", uri=True) as store:
        return store.execute("SELECT plan, state_reason FROM settlement ORDER BY id").fetchall()


class Run:
    """One daemon, one job, and what was seen of them."""

    def __init__(self, build, socket):
        self.build, self.socket = build, socket
        self.state = socket.parent / "state"
        self.report = socket.parent / "report.json"
        self.watch = Watch(build / "bin/blazectl", socket)
        self.values = {}
        self.answers = []  # why each search ended as it did, for who reads along
        log = open(socket.parent / "train", "w", encoding="utf-8")
        self.job = subprocess.Popen([build / "bin/blaze-train", *TRAIN, "--socket", socket, "--report", self.report],
                                    stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def until(self, ended, seconds):
        """The first event from here on of which `ended` says something, or None after so long. Fails where the job stopped."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.job.poll() is not None:
                raise RuntimeError(f"blaze-train stopped with {self.job.returncode} while it was watched")
            event = self.watch.next(0.2)
            if event and answer(event):
                self.answers.append(f"{answer(event)} ({event['detail']})")
            if event and ended(event):
                return event
        return None

    def pass_time(self, seconds):
        self.until(lambda event: False, seconds)

    def settle(self):
        """True where a plan that is not the default is in force."""
        event = self.until(answer, SETTLE_S)
        plan = event and answer(event) == "settled" and settlements(self.state)[-1][0]
        self.values["first search: a plan settled", "count"] = float(bool(plan))
        return bool(plan)

    def windows(self, begin_ns, end_ns):
        """Median step of each service window between, in ms."""
        return [number(e, "median_ns") / 1e6 for e in self.watch.seen
                if e["kind"] == "service_window" and begin_ns < e["unix_ns"] < end_ns]

    def end(self):
        """Ends the job as a user would and keeps what it says of itself."""
        self.job.send_signal(signal.SIGTERM)
        self.job.wait(30)
        self.watch.close()
        run = json.loads(self.report.read_text(encoding="utf-8"))["jobs"][0]["run"]
        if not all(math.isfinite(loss) for _, loss in run["loss_curve"]) or not math.isfinite(run["last_loss"]):
            raise RuntimeError(f"the loss of a job is no number: {run['last_loss']}")
        self.values["trained", "steps"] = float(run["steps"])
        self.values["loss at the end over loss at the beginning", "ratio"] = run["last_loss"] / run["first_loss"]


def keep_before(run):
    _, default, plan, saving = [race for race in races(run.state, REPLICATION)][-1]
    run.values["alone: default", "ms a step"] = default
    run.values["alone: settled plan", "ms a step"] = plan
    run.values["alone: settled plan saves", "percent"] = saving[0]


def keep_demotion(run, began, demoted):
    outcome, plan, default, saving = races(run.state, DRIFT)[-1]
    run.values["neighbour: settled plan, in the check that demoted it", "ms a step"] = plan
    run.values["neighbour: default, in the same check", "ms a step"] = default
    run.values["neighbour: default saves against the plan", "percent"] = saving[0]
    run.values["neighbour's start to demotion", "s"] = (demoted["unix_ns"] - began) / 1e9
    run.values["neighbour's start to demotion", "steps"] = steps_at(run.watch.seen, demoted["unix_ns"]) - steps_at(run.watch.seen, began)


def keep_second(run, demoted, second):
    last = settlements(run.state)[-1] if answer(second) == "settled" else None
    run.values["second search: a plan settled", "count"] = float(bool(last and last[0]))
    run.values["second search: the default settled", "count"] = float(bool(last and not last[0]))
    run.values["demotion to the second search's end", "s"] = (second["unix_ns"] - demoted["unix_ns"]) / 1e9
    run.values["demotion to the second search's end", "steps"] = (steps_at(run.watch.seen, second["unix_ns"]) -
                                                                  steps_at(run.watch.seen, demoted["unix_ns"]))


def keep_return(run, ended, third):
    last = settlements(run.state)[-1] if third and answer(third) == "settled" else None
    back = bool(last and last[0])
    run.values["neighbour gone: a plan settled", "count"] = float(back)
    if back:
        run.values["neighbour's end to that settlement", "s"] = (third["unix_ns"] - ended) / 1e9
        run.values["neighbour's end to that settlement", "steps"] = steps_at(run.watch.seen, third["unix_ns"]) - steps_at(run.watch.seen, ended)
    return back


def beside_neighbour(run):
    """Demotion and the second answer, as far as they come."""
    began = time.time_ns()
    neighbour = subprocess.Popen([run.build / "bench/neighbour", "--threads", str(NEIGHBOUR_THREADS), "--seconds", "900"])
    try:
        demoted = run.until(lambda event: event["kind"] == "stood_down", DEMOTE_S)
        if demoted is None:
            return
        second = run.until(answer, SETTLE_AGAIN_S)
        keep_demotion(run, began, demoted)
        if second is None:
            return
        run.pass_time(AFTER_S)
        windows = run.windows(second["unix_ns"], time.time_ns())
        if windows:
            run.values["neighbour: what is in use behind the second search", "ms a step"] = median(windows)
        keep_second(run, demoted, second)
    finally:
        neighbour.kill()
        neighbour.wait()


def story(run):
    """True where the whole story was seen."""
    if not run.settle():
        return False
    run.pass_time(QUIET_S)
    keep_before(run)
    beside_neighbour(run)
    ended = time.time_ns()
    if not any(event["kind"] == "stood_down" for event in run.watch.seen):
        return False
    came_back = keep_return(run, ended, run.until(answer, RETURN_S))
    run.pass_time(AFTER_S)
    return came_back


def control(run):
    """Demotions without a neighbour, where a plan settled."""
    if not run.settle():
        return
    run.pass_time(CONTROL_S)
    checks = races(run.state, DRIFT)
    run.values["demotions", "count"] = float(sum(event["kind"] == "stood_down" for event in run.watch.seen))
    run.values["checks", "count"] = float(len(checks))
    run.values["checks that found nothing against the plan", "count"] = float(sum(outcome == LOST for outcome, *_ in checks))


def one(build, name, look, wait_s):
    others = await_quiet(wait_s)
    with daemon(build) as (_, socket):
        run = Run(build, socket)
        run.values["what others use before it begins", "cores"] = others
        try:
            whole = look(run)
            run.end()
        finally:
            run.job.kill()
            run.job.wait()
            run.watch.close()
    if whole is not None:
        run.values["the whole story", "count"] = float(whole)
    said = ", ".join(f"{arm} {value:.4g} {unit}" for (arm, unit), value in run.values.items())
    print(f"{name}: {said}; searches ended: {'; '.join(run.answers)}", file=sys.stderr, flush=True)
    return {(f"{name}: {arm}", unit): value for (arm, unit), value in run.values.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=RUNS, help="with a neighbour, and as many without")
    parser.add_argument("--favoured", action="store_true",
                        help="for a machine that is not left alone: put the bench's programs before all others, as root, and wait for no quiet")
    args = parser.parse_args()
    if args.favoured:
        be_favoured()
    values = {}
    for _ in range(args.runs):
        for name, look in (("neighbour", story), ("control", control)):
            for key, value in one(args.build, name, look, 0 if args.favoured else QUIET_WAIT_S).items():
                values.setdefault(key, []).append(value)
    what = (f"{args.runs} jobs of blaze-train ({' '.join(TRAIN)}) under a daemon of their own: the plan settles, then a neighbour of "
            f"{NEIGHBOUR_THREADS} thread copies through memory, then it ends; and as many control jobs without one. One value a job that came so far")
    if args.favoured:
        what += ". All of these stood before the machine's other programs in the scheduler, which ran as well"
    series = [{"arm": arm, "unit": unit, "values": kept} for (arm, unit), kept in values.items()]
    share, low, high = wilson(values["neighbour: the whole story", "count"])
    series.append({"arm": "neighbour: the whole story", "unit": "share of runs", "n": args.runs, "median": share, "low": low, "high": high})
    json.dump({"what": what, "series": [{"workload": "chain", "regime": "training", **row} for row in series]}, sys.stdout)


if __name__ == "__main__":
    main()
