#!/usr/bin/env python3
"""A job on a GPU is tuned beside the real daemon until it has settled, and `blazectl explain` has to say by its kernels
why its plan won.

    torch_kernels.py [--seconds S] [--json FILE]

Prints the answer and what the look cost: the median step of the settled plan in the job that was looked at, and in the
next one, which is served the plan and not looked at. Exits with 1 where something that a GPU's kernels have is missing
in the answer, with 77 without a GPU. BLAZED_BIN names the programs' folder.
"""
import argparse
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("BLAZED_BIN", ROOT / "build/release/bin"))
WIDTH, ROWS, LAYERS = 256, 64, 6
TIMED = 300  # steps


def job(seconds):
    """In a process of its own. Trains until a settled plan has been told of, or was told of before, or the time is up."""
    sys.path.insert(0, str(ROOT / "client/python"))
    import torch

    import blazed
    import blazed.torch

    blazed.torch.configure(blazed.Options(host_name="kernels", explain_kernels=True))
    torch.manual_seed(0)
    layers = [part for _ in range(LAYERS) for part in (torch.nn.LayerNorm(WIDTH), torch.nn.Linear(WIDTH, WIDTH), torch.nn.GELU())]
    model = torch.nn.Sequential(*layers).cuda()
    compiled = torch.compile(model, backend="blazed", dynamic=False)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-4, capturable=True)
    rows = torch.randn(ROWS, WIDTH, device="cuda")

    def run(x):
        loss = compiled(x).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        return loss

    step = blazed.torch.train_step(run)
    until, slowest, settled_steps = time.monotonic() + seconds, 0.0, 0
    while time.monotonic() < until and settled_steps < 100:
        began = time.monotonic()
        step(rows)
        if blazed.status().settled:
            settled_steps += 1
            slowest = max(slowest, time.monotonic() - began)
    torch.cuda.synchronize()
    times = []
    for _ in range(TIMED):
        began = time.monotonic()
        step(rows)
        torch.cuda.synchronize()
        times.append(time.monotonic() - began)
    status = blazed.status()
    print(json.dumps({"settled": status.settled, "plan": status.champion, "why_not": blazed.torch.current_job().why_not,
                      "why_no_whole_step": blazed.torch.current_job().why_no_whole_step(),
                      "slowest_call_of_a_settled_step_ms": 1e3 * slowest, "settled_step_ms": 1e3 * statistics.median(times)}))
    blazed.torch.current_job().close()


def ran(folder, seconds):
    done = subprocess.run([sys.executable, "-W", "ignore", __file__, "--job", "--seconds", str(seconds)], text=True,
                          capture_output=True, env={**os.environ, "BLAZED_SOCKET": f"{folder}/s"}, timeout=seconds + 300)
    if done.returncode != 0:
        raise SystemExit(done.stderr[-3000:])
    return json.loads(done.stdout.splitlines()[-1])


def asked(folder, *flags):
    return subprocess.run([BIN / "blazectl", "--socket", f"{folder}/s", *flags, "explain"], check=True, text=True,
                          capture_output=True).stdout


def missing(answer, plan):
    """Sentences about what the answer lacks."""
    if answer["kernels"] is None:
        return ["no kernels were told"]
    kernels, lacks = answer["kernels"], []
    for side in ("before", "after"):
        totals = kernels[side]
        there = [row[side] for row in kernels["kernels"] if row[side] is not None]
        triton = [use for use in there if use["name"].startswith("triton")]
        lacks += [f"{side}: no {name}" for name, value in totals.items() if not value]
        lacks += [] if all(use["time_ns"] for use in there) else [f"{side}: a kernel without a time"]
        lacks += [] if triton else [f"{side}: no kernel of Triton"]
        for field in ("registers", "spill_bytes", "shared_bytes"):
            lacks += [f"{side}: {use['name']} has no {field}" for use in triton if use[field] is None]
        if not any(use["read_bytes"] for use in triton):
            lacks.append(f"{side}: no kernel of Triton has bytes")
        if totals["busy_ns"] and totals["step_ns"] and totals["busy_ns"] > totals["step_ns"]:
            lacks.append(f"{side}: kernels run for longer than the step")
    if "whole_step" in plan and not (kernels["after"]["host_launches"] or 0) < (kernels["before"]["host_launches"] or 0):
        lacks.append("a replayed step is not fewer launches")
    return lacks


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=180, help="for the job to settle in")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--job", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.job:
        return job(args.seconds)
    import torch

    if not torch.cuda.is_available():
        print("not run: there is no GPU here")
        return 77
    with tempfile.TemporaryDirectory(prefix="blazed-kernels-") as folder:
        daemon = subprocess.Popen([BIN / "blazed", "--socket", f"{folder}/s", "--state", f"{folder}/state"],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while not pathlib.Path(f"{folder}/s").exists():
                time.sleep(0.05)
            first = ran(folder, args.seconds)
            answer, text = json.loads(asked(folder, "--json")), asked(folder)
            second = ran(folder, args.seconds)
        finally:
            daemon.send_signal(signal.SIGTERM)
            daemon.wait(60)
    print(text)
    print(f"looked at: {first}\nserved, not looked at: {second}")
    if args.json:
        args.json.write_text(json.dumps({"first": first, "second": second, "answer": answer}, indent=1) + "\n", encoding="utf-8")
    if not first["settled"] or first["plan"] == "default":
        print("nothing but the default was settled in that time, so nothing was told")
        return 1
    lacks = missing(answer, first["plan"])
    print("\n".join(lacks) or "all that was looked for is there")
    return 1 if lacks else 0


if __name__ == "__main__":
    sys.exit(main())
