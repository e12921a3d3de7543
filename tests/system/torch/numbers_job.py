"""A training job for tests: its graph can run in other ways, some of them wrong, and the daemon's report of them is
printed as one line of JSON.

    numbers_job.py STEPS bf16|f32|faults|scalar [--device cuda]      at most STEPS steps; ends earlier once each way has a verdict

`faults`: in f32, of ways that no rounding excuses. `scalar`: the whole step is offered as one launch; inside it moves a
learning rate that no look at the script's values sees.
"""
import argparse
import contextlib
import json
import traceback

import torch

import blazed
import blazed.torch
from blazed.torch import job_description, launch, plan, program, space, train_step


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)
        self.linear = torch.nn.Linear(width, width)

    def forward(self, x):
        return x + torch.nn.functional.gelu(self.linear(self.norm(x)))


def in_half(call):
    def run(*inputs):
        with torch.autocast(inputs[0].device.type, dtype=torch.bfloat16):
            return [value.float() for value in call(*inputs)]
    return run


def on_inputs(call, change):
    return lambda *inputs: call(*(change(value) if isinstance(value, torch.Tensor) else value for value in inputs))


def on_outputs(call, change):
    return lambda *inputs: [change(value) for value in call(*inputs)]


class Stale:
    """What it gave for the batch before, as a buffer that nobody wrote anew."""

    def __init__(self, call):
        self.call, self.kept = call, None

    def __call__(self, *inputs):
        made = self.call(*inputs)
        given = made if self.kept is None else [y + (old - y).detach() for y, old in zip(made, self.kept)]
        self.kept = [y.detach().clone() for y in made]
        return given


def racing(call):
    """Results that a second stream writes, and that nobody waits for."""
    beside = torch.cuda.Stream()

    def run(*inputs):
        made = call(*inputs)
        late = [torch.empty_like(y) for y in made]
        beside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(beside), torch.no_grad():
            torch.cuda._sleep(2_000_000)
            for kept, y in zip(late, made):
                kept.copy_(y)
        return [y + (kept - y).detach() for y, kept in zip(made, late)]
    return run


class OutOfMemory:
    """Runs out of memory in one of these: its first run, a probe, or a step, as a plan that passed and is tried when less
    is free."""

    def __init__(self, call, where):
        self.call, self.where = call, where

    def __call__(self, *inputs):
        if self.where == running_in():
            raise torch.OutOfMemoryError("there was no room for a buffer")
        return self.call(*inputs)


def running_in():
    called = {frame.name for frame in traceback.extract_stack()}
    return "first run" if "_rehearsed" in called else "probe" if "probe" in called else "step"


def is_square_weight(value):
    return value.requires_grad and value.dim() == 2 and value.shape[0] == value.shape[1]


def fails(call):
    raise RuntimeError("the compiler is out of its depth")


# Each takes the graph run operation by operation and gives a way that is wrong.
WRONG = {
    "scaled": lambda call: on_outputs(call, lambda y: 1.1 * y),
    "nan": lambda call: on_outputs(call, lambda y: y.masked_fill(torch.arange(y.numel(), device=y.device).view(y.shape) == 5, torch.nan)),
    "lost tail": lambda call: on_outputs(call, lambda y: torch.cat([y[:-2], torch.zeros_like(y[-2:])])),
    "swapped operand": lambda call: on_inputs(call, lambda v: v.t() if is_square_weight(v) else v),
    "another batch": lambda call: on_inputs(call, lambda v: v if v.requires_grad else v.roll(1, 0)),
    "stale buffer": Stale,
}
FAULTS = {
    **{name: WRONG[name] for name in ("scaled", "nan", "stale buffer")},
    "other strides": lambda call: on_outputs(call, lambda y: y.t().contiguous().t()),
    "no room at first": lambda call: OutOfMemory(call, "first run"),
    "no room in a probe": lambda call: OutOfMemory(call, "probe"),
    "no room on a step": lambda call: OutOfMemory(call, "step"),
    "fails to build": fails,
}
WRONG_ON_A_GPU = {**WRONG, "race": racing}


def offer(right, wrong):
    """Beside the compiled one these are the graph's ways to run; nothing else is decided."""
    whole, built = space.decisions_of, plan.build

    def build(graphs, decisions, choices):
        made = built(graphs, decisions, choices)  # run operation by operation, whatever the option
        name = [decisions[number].options[option] for number, option in choices][0]
        if name in wrong:
            # Not the program's own call, which puts the autocast of the capture in place of any around it.
            made.programs = tuple((graph, program.Program(wrong[name](graph.module.forward), {}, name))
                                  for graph, _ in made.programs)
        return made

    plan.build = build
    # Nothing is compiled for any of them: a search need not wait until a build pays.
    job_description._guesses = lambda decision: (0, *[1 for _ in decision.options[1:]])
    plan.ways_for = lambda device: [(space.CHOICE, ("compiled", *right, *wrong))]
    space.decisions_of = lambda *asked: tuple(d for d in whole(*asked) if d.kind == space.CHOICE)
    launch.options = lambda *asked: (launch.STREAMS,)


def whole_steps_alone():
    """Whether the step is replayed is all that is decided."""
    space.decisions_of = lambda *asked: ()
    train_step.TrainStep.offered_updates = lambda step: None
    launch.options = lambda device, compiled, whole: (launch.STREAMS, launch.WHOLE_STEP) if whole else (launch.STREAMS,)


class Job:
    """A small classifier, trained a batch at a time."""

    def __init__(self, device, half):
        torch.manual_seed(0)
        self.model = torch.nn.Sequential(Block(32), Block(32), torch.nn.Linear(32, 8)).to(device)
        self.compiled = torch.compile(self.model, backend="blazed", dynamic=False)
        self.optimiser = torch.optim.Adam(self.model.parameters(), lr=1e-3, capturable=device == "cuda")
        self.data, self.labels = torch.randn(512, 32).to(device), torch.randint(0, 8, (512,)).to(device)
        self.scope = (lambda: torch.autocast(device, dtype=torch.bfloat16)) if half else contextlib.nullcontext

    def batch(self, step):
        rows = slice(16 * (step % 32), 16 * (step % 32) + 16)
        return self.data[rows], self.labels[rows]

    def step(self, x, y):
        with self.scope():
            out = self.compiled(x)
        loss = torch.nn.functional.cross_entropy(out.float(), y)
        loss.backward()
        self.optimiser.step()
        self.optimiser.zero_grad()
        return loss.detach()


class StaleScalar(Job):
    """Lowers its learning rate inside the step, by a count behind numpy's back, and puts it back at the end."""

    def __init__(self, device):
        super().__init__(device, half=False)
        self.steps = torch.zeros((), dtype=torch.int64)
        self.whole = blazed.torch.train_step(self.lowered)

    def lowered(self, x, y):
        self.steps += 1
        group = self.optimiser.param_groups[0]
        group["lr"] = 1e-3 / float(self.steps.numpy())
        loss = super().step(x, y)
        group["lr"] = 1e-3
        return loss

    def step(self, x, y):
        return self.whole(x, y)


def told(job):
    """What the daemon found of each way."""
    report = job.session.report() if job.session is not None else None
    over = ("build_failed", "rejected_memory", "inconclusive")
    judged = [p for p in (report or {}).get("plans", ()) if p.get("equivalence") or p["verdict"] in over]
    # What fails on a step has passed its probes before.
    judged = [p for p in judged if p["verdict"] in over or not any("on a step" in choice for choice in p["plan"])]
    return {" ".join(p["plan"]): p for p in judged if p["plan"]}, report


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("steps", type=int)
    parser.add_argument("arithmetic", choices=("bf16", "f32", "faults", "scalar"))
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--wrong-alone", action="store_true", help="no right way beside the default")
    parser.add_argument("--go-on", action="store_true", help="run all steps")
    arguments = parser.parse_args()
    device, half, scalar = arguments.device, arguments.arithmetic == "bf16", arguments.arithmetic == "scalar"
    every = WRONG_ON_A_GPU if device == "cuda" else WRONG
    wrong = {"bf16": every, "f32": {"half products": in_half}, "faults": FAULTS, "scalar": {}}[arguments.arithmetic]
    right = () if scalar or not half or arguments.wrong_alone else (program.EAGER,)
    if scalar:
        whole_steps_alone()
    else:
        offer(right, wrong)
    blazed.torch.configure(blazed.Options(host_name="torch test"))
    training = StaleScalar(device) if scalar else Job(device, half)
    wanted = 1 if scalar else len(right) + len(wrong)
    verdicts, report, losses = {}, None, []
    for step in range(arguments.steps):
        losses.append(training.step(*training.batch(step)))
        job = blazed.torch.current_job()
        if job.session is not None and step % 50 == 0:
            verdicts, latest = told(job)
            report = latest or report
            if len(verdicts) >= wanted and not arguments.go_on:
                break
    job = blazed.torch.current_job()
    said = [job.why_not, job.why_no_whole_step() if scalar else "", str(blazed.status())]
    print(json.dumps({"verdicts": verdicts, "why_not": job.why_not, "report": report, "steps": len(losses),
                      "said": "; ".join(filter(None, said)),
                      "losses": torch.stack(losses).float().cpu().numpy().tobytes().hex(),
                      "error": str(job.session.last_error or "") if job.session else ""}))
    job.close()


if __name__ == "__main__":
    main()
