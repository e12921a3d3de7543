"""A training job for tests: its graph can run in other ways, some of them wrong, and the daemon's report of them is
printed as one line of JSON.

    numbers_job.py STEPS bf16|f32      at most STEPS steps; ends earlier once each way has a verdict
"""
import argparse
import contextlib
import json

import torch

import blazed
import blazed.torch
from blazed.torch import plan, program, space


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)
        self.linear = torch.nn.Linear(width, width)

    def forward(self, x):
        return x + torch.nn.functional.gelu(self.linear(self.norm(x)))


def in_half(call):
    def run(*inputs):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return [value.float() for value in call(*inputs)]
    return run


def on_inputs(call, change):
    return lambda *inputs: call(*(change(value) if isinstance(value, torch.Tensor) else value for value in inputs))


def on_outputs(call, change):
    return lambda *inputs: [change(value) for value in call(*inputs)]


def is_square_weight(value):
    return value.requires_grad and value.dim() == 2 and value.shape[0] == value.shape[1]


# Each takes the graph run operation by operation and gives a way that is wrong.
WRONG = {
    "scaled": lambda call: on_outputs(call, lambda y: 1.1 * y),
    "nan": lambda call: on_outputs(call, lambda y: y.masked_fill(torch.arange(y.numel()).view(y.shape) == 5, torch.nan)),
    "lost tail": lambda call: on_outputs(call, lambda y: torch.cat([y[:-2], torch.zeros_like(y[-2:])])),
    "swapped operand": lambda call: on_inputs(call, lambda v: v.t() if is_square_weight(v) else v),
    "another batch": lambda call: on_inputs(call, lambda v: v if v.requires_grad else v.roll(1, 0)),
}


def offer(right, wrong):
    """Beside the compiled one these are the graph's ways to run; nothing else is decided."""
    whole, built = space.decisions_of, plan.build

    def build(graphs, decisions, choices):
        made = built(graphs, decisions, choices)  # run operation by operation, whatever the option
        name = [decisions[number].options[option] for number, option in choices][0]
        if name in wrong:
            made.programs = tuple((graph, program.Program(wrong[name](eager.call), {}, name))
                                  for graph, eager in made.programs)
        return made

    plan.build = build
    plan.ways_for = lambda device: [(space.CHOICE, ("compiled", *right, *wrong))]
    space.decisions_of = lambda *asked: tuple(d for d in whole(*asked) if d.kind == space.CHOICE)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("steps", type=int)
    parser.add_argument("arithmetic", choices=("bf16", "f32"))
    arguments = parser.parse_args()
    half = arguments.arithmetic == "bf16"
    right, wrong = ((program.EAGER,), WRONG) if half else ((), {"half products": in_half})
    offer(right, wrong)
    blazed.torch.configure(blazed.Options(host_name="torch test"))
    torch.manual_seed(0)
    model = torch.nn.Sequential(Block(32), Block(32), torch.nn.Linear(32, 8))
    compiled = torch.compile(model, backend="blazed", dynamic=False)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
    data, labels = torch.randn(512, 32), torch.randint(0, 8, (512,))
    verdicts, report = {}, None
    for step in range(arguments.steps):
        rows = slice(16 * (step % 32), 16 * (step % 32) + 16)
        with torch.autocast("cpu", dtype=torch.bfloat16) if half else contextlib.nullcontext():
            out = compiled(data[rows])
        torch.nn.functional.cross_entropy(out.float(), labels[rows]).backward()
        optimiser.step()
        optimiser.zero_grad()
        job = blazed.torch.current_job()
        if job.session is not None and step % 50 == 0:
            report = job.session.report() or report
            judged = [p for p in (report or {}).get("plans", ()) if p.get("equivalence")]
            verdicts = {" ".join(p["plan"]): p for p in judged if p["plan"]}
            if len(verdicts) == len(right) + len(wrong):
                break
    job = blazed.torch.current_job()
    print(json.dumps({"verdicts": verdicts, "why_not": job.why_not, "report": report,
                      "error": str(job.session.last_error or "") if job.session else ""}))
    job.close()


if __name__ == "__main__":
    main()
