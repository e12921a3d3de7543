#!/usr/bin/env python3
"""Replays whole steps on a GPU and compares them with the same jobs without blazed; prints a table and what went wrong.

    torch_whole_step.py [--only NAME[,NAME]] [--models eager,blazed] [--steps N] [--verbose]

Each job of tests/unit/torch/trainings.py runs twice without blazed, which gives its own spread, and once with its step
handed over and replayed. A row passes where the job came to the same bits (or lies within four times its own spread),
and was replayed, not offered or refused as it has to be. Exits with 1 where a row fails, with 77 without a GPU.
"""
import argparse
import logging
import pathlib
import re
import statistics
import sys
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "unit" / "torch"), str(ROOT / "client" / "python")]

import support  # noqa: E402
import torch  # noqa: E402
import trainings  # noqa: E402

import blazed  # noqa: E402
import blazed.torch  # noqa: E402
from blazed.torch import recorder as recorders  # noqa: E402

PROBED_EVERY = 100


class Counting:
    """The real recorder, counted."""

    def __init__(self):
        self.real = recorders.CudaRecorder()
        self.device = self.real.device
        self.recordings = self.replays = self.alive = 0

    def __getattr__(self, name):
        return getattr(self.real, name)

    def record(self, run, generators):
        recording = self.real.record(run, generators)
        self.recordings += 1
        self.alive += 1
        return _Counted(self, recording)


class _Counted:
    def __init__(self, owner, recording):
        self.owner, self.recording = owner, recording

    def replay(self):
        self.owner.replays += 1
        self.recording.replay()

    def release(self):
        self.owner.alive -= 1
        self.recording.release()


class Script:
    def __init__(self):
        self.handle, self.counts, self.refused, self.build_s, self.probe_s = 0, [], "", 0.0, []

    def __call__(self, session):
        if session.step == 1:
            for number, decision in enumerate(session.workload.decisions):
                if "whole_step" in decision.options:
                    self.build(session, number, decision.options.index("whole_step"))
        if self.handle and session.step % PROBED_EVERY == 1:
            began = time.monotonic()
            self.counts.append(int.from_bytes(session.probe(self.handle)["whole step"][1], "little", signed=True))
            self.probe_s.append(time.monotonic() - began)
        return self.handle

    def build(self, session, number, option):
        began = time.monotonic()
        try:
            self.handle = session.build((number, option))
        except blazed.BuildFailed as why:
            self.refused = why.sentence
        self.build_s = time.monotonic() - began


def wrapped(model, backend):
    if model == "eager":
        return None
    return lambda module: torch.compile(module, dynamic=False, **({"backend": "blazed"} if backend else {}))


def timed(training, step, steps):
    """As trainings.run, with the milliseconds of a step in the second half, the queue drained at both ends."""
    torch.manual_seed(7)
    losses, batches = [], [training.batch(number) for number in range(16)]
    for number in range(steps):
        x, y = batches[number % 16] if training.rows(number) == len(batches[number % 16][0]) else training.batch(number)
        losses.append(step(x, y).detach().clone())
        training.between(number)
        if number == steps // 2:
            torch.cuda.synchronize()
            began = time.perf_counter()
    torch.cuda.synchronize()
    return [float(v) for v in losses], training.state(), 1e3 * (time.perf_counter() - began) / (steps - steps // 2 - 1)


def distance(one, other):
    """The largest difference of losses and states of two runs."""
    apart = [abs(a - b) if a == a or b == b else 0.0 for a, b in zip(one[0], other[0])]
    apart += [float((a.double() - b.double()).abs().max()) for a, b in zip(one[1], other[1]) if a.numel()]
    return max(apart)


def job(kind, model, steps):
    plain = []
    for _ in range(2):
        torch._dynamo.reset()
        training = kind("cuda", wrapped(model, False))
        plain.append(timed(training, training.step, steps))
    script, recorder = Script(), Counting()
    before = torch.cuda.memory_reserved()
    with support.scripted(script, recorder) as made:
        training = kind("cuda", wrapped(model, True))
        ours = timed(training, blazed.torch.train_step(training.step), steps)
        job_of = blazed.torch.current_job()
        told = {"why_not": job_of.why_not, "why_no_whole_step": job_of.why_no_whole_step()}
    flagged = sum(1 for f in made[0].flags if f) if made else 0
    own, apart = distance(*plain), distance(plain[0], ours)
    return dict(told, own=own, apart=apart, plain_ms=statistics.median(p[2] for p in plain), ours_ms=ours[2],
                recordings=recorder.recordings, replays=recorder.replays, alive=recorder.alive, flagged=flagged,
                counts=script.counts, refused=script.refused, build_s=script.build_s,
                probe_s=max(script.probe_s, default=0.0), reserved_mib=(torch.cuda.memory_reserved() - before) >> 20,
                told_steps=len(made[0].flags) if made else 0)


def complaints(kind, row, steps):
    found = []
    if row["apart"] > 4 * row["own"]:
        found.append(f"differs from the job without blazed by {row['apart']:.3g}, its own spread is {row['own']:.3g}")
    if kind.expected == trainings.REPLAYED:
        if row["refused"] or row["why_no_whole_step"]:
            found.append(f"not replayed: {row['refused'] or row['why_no_whole_step']}")
        elif set(row["counts"]) != {0}:
            found.append(f"probes counted {row['counts']}")
        elif row["replays"] < steps - kind.most_others * max(1, steps // 500) - 3 * len(row["counts"]):
            found.append("too few replays")
    else:
        said = row["why_no_whole_step"] if kind.expected == trainings.NOT_OFFERED else row["refused"]
        if not re.search(kind.reason, said):
            found.append(f"has to be {kind.expected} for /{kind.reason}/ and said {said!r}")
    return found


def still_sound():
    """After a recording that failed: random numbers can be drawn, memory comes and goes, streams are where they were."""
    torch.manual_seed(3)
    torch.rand(1000, device="cuda").sum().item()
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    del_me = torch.empty(1 << 20, device="cuda")
    del del_me
    assert torch.cuda.memory_allocated() == before, "memory does not come back"
    assert torch.cuda.current_stream() == torch.cuda.default_stream(), "the current stream was left changed"
    assert not torch.cuda.is_current_stream_capturing(), "a recording goes on"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--models", default="eager,blazed")
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    if not torch.cuda.is_available():
        print("not run: there is no GPU here")
        return 77
    if args.verbose:
        logging.basicConfig(level=logging.INFO)
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name()}, {args.steps} steps, ms a step in the second half")
    print(f"{'job':18} {'model':7} {'':4} {'plain ms':>8} {'ours ms':>8} {'rec':>3} {'replays':>7} {'flagged':>7} "
          f"{'build s':>7} {'probe s':>7} {'MiB':>5} {'own':>8} {'apart':>8}  what")
    failed = 0
    for kind in trainings.ALL:
        if args.only and kind.__name__ not in args.only.split(","):
            continue
        for model in args.models.split(","):
            row, found = None, []
            try:
                row = job(kind, model, args.steps)
                found = complaints(kind, row, args.steps)
                still_sound()
            except Exception as error:
                found.append(f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")
                traceback.print_exc()
            failed += bool(found)
            show(kind, model, row, found)
    print("all passed" if not failed else f"{failed} failed")
    return 1 if failed else 0


def show(kind, model, row, found):
    head = f"{kind.__name__:18} {model:7} {'FAIL' if found else 'PASS'}"
    if row is None:
        print(f"{head}  {'; '.join(found)}", flush=True)
        return
    what = "; ".join(found) or row["refused"] or row["why_no_whole_step"] or row["why_not"] or "replayed"
    print(f"{head} {row['plain_ms']:8.3f} {row['ours_ms']:8.3f} {row['recordings']:3d} {row['replays']:7d} "
          f"{row['flagged']:7d} {row['build_s']:7.2f} {row['probe_s']:7.2f} {row['reserved_mib']:5d} {row['own']:8.2g} "
          f"{row['apart']:8.2g}  {what}", flush=True)
    if found:
        print(f"    {row}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
