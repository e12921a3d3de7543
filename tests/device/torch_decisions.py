"""What each decision about a small GPT does on this GPU, one at a time against the default plan.

    PYTHONPATH=client/python python3 tests/device/torch_decisions.py [--seconds 240] [--widths 256,257]
                                                                      [--kinds cut,isolate,...] [--json FILE]

Lists the decisions of each model, builds one variant an option (those of every kind in turn, the
heaviest of a kind first, for as long as the time lasts) and prints for each: whether the compiler did
it, or the sentence why not; seconds of the compile and of the first run; whether its kernels are the
default's; the largest difference of loss and gradients, relative to the largest value of each tensor;
and the time of a step against the default's, from drained units that take turns. Needs CUDA.
"""
import argparse
import json
import pathlib
import signal
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "client" / "python"))

try:
    import torch
except ModuleNotFoundError:
    print("not run: PyTorch is not installed here")
    sys.exit(77)

import blazed.torch  # noqa: E402
from blazed.torch import plan, space  # noqa: E402
from blazed.torch.honoured import Refused  # noqa: E402
from blazed.torch.job import Job  # noqa: E402

ROUNDS = 5
LATE_S = 12  # an option that is still being built so long after the end is given up
HEADS, HEAD, LAYERS, WORDS = 4, 64, 2, 96
SIZES = {"cuda": (16, 256, 20), "cpu": (2, 32, 2)}  # batch, length of a text, steps of a unit


class TimeUp(BaseException):
    """Not an Exception: an option's own failures are rows of the table."""


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.project = torch.nn.Linear(width, 3 * HEADS * HEAD)
        self.merge = torch.nn.Linear(HEADS * HEAD, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x, mask):
        batch, length, _ = x.shape
        parts = self.project(self.norm1(x)).view(batch, length, 3, HEADS, HEAD).permute(2, 0, 3, 1, 4)
        queries, keys, values = parts.unbind(0)
        scores = (queries @ keys.transpose(-1, -2)) * HEAD ** -0.5 + mask
        mixed = (torch.softmax(scores, -1) @ values).transpose(1, 2).reshape(batch, length, HEADS * HEAD)
        x = x + self.merge(mixed)
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm2(x))))


class Model(torch.nn.Module):
    def __init__(self, width, length):
        super().__init__()
        self.words, self.places = torch.nn.Embedding(WORDS, width), torch.nn.Embedding(length, width)
        self.blocks = torch.nn.ModuleList(Block(width) for _ in range(LAYERS))
        self.norm, self.head = torch.nn.LayerNorm(width), torch.nn.Linear(width, WORDS)
        self.register_buffer("mask", torch.full((length, length), float("-inf")).triu(1))

    def forward(self, text, following):
        x = self.words(text) + self.places.weight
        for block in self.blocks:
            x = block(x, self.mask)
        return torch.nn.functional.cross_entropy(self.head(self.norm(x)).flatten(0, 1), following.flatten())


class Trained:
    """One captured model on fixed data."""

    def __init__(self, width, device):
        torch.manual_seed(0)
        torch._dynamo.reset()
        job = Job(blazed.Options())
        job.why_not = "its plans are made by hand"
        blazed.torch.replace_job(job)
        batch, length, self.unit_steps = SIZES[device]
        self.model = Model(width, length).to(device)
        self.call = torch.compile(self.model, backend=blazed.torch.backend, dynamic=False)
        self.data = torch.randint(0, WORDS, (2, batch, length), device=device)
        self.run()
        (self.graph,) = job.graphs
        self.decisions = space.decisions_of([self.graph], ())
        self.default = plan.default([self.graph])
        self.default.latch()
        self.expected = self.run()
        self.signature = self.default.signature()

    def step(self):
        self.model.zero_grad(set_to_none=True)
        loss = self.call(*self.data)
        loss.backward()
        return loss

    def run(self):
        loss = self.step()
        return [loss.detach().clone()] + [p.grad.clone() for p in self.model.parameters()]

    def difference(self, results):
        return max(float((a - b).abs().max() / b.abs().max().clamp_min(1e-30))
                   for a, b in zip(results, self.expected))

    def unit(self, built):
        built.latch()
        synchronize()
        began = time.perf_counter()
        for _ in range(self.unit_steps):
            self.step()
        synchronize()
        return (time.perf_counter() - began) / self.unit_steps


def synchronize():
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def tried(trained, number, option):
    """One row of the table."""
    decision = trained.decisions[number]
    row = {"kind": kind_of(decision), "decision": decision.name, "option": decision.options[option],
           "sites": decision.sites, "weight": decision.weight, "reorders_sums": decision.reorders_sums}
    began = time.perf_counter()
    try:
        built = plan.build([trained.graph], trained.decisions, [(number, option)])
        row["build_s"] = time.perf_counter() - began
        built.latch()
        began = time.perf_counter()
        results = trained.run()
        synchronize()
        row.update(verdict="done", first_run_s=time.perf_counter() - began,
                   equal_kernels=built.signature() == trained.signature, difference=trained.difference(results))
        if not row["equal_kernels"]:
            row.update(timed(trained, built))
    except Refused as why:
        row.update(verdict="refused", why=str(why))
    except Exception as error:  # the table says what came of every option
        text = str(error).strip().splitlines() or ["no message"]
        row.update(verdict="failed", why=f"{type(error).__name__}: {text[0][:200]}")
    finally:
        trained.default.latch()
    return row


def timed(trained, built):
    trained.unit(trained.default), trained.unit(built)
    pairs = []
    for turn in range(ROUNDS):
        order = (trained.default, built) if turn % 2 == 0 else (built, trained.default)
        took = {id(which): trained.unit(which) for which in order}
        pairs.append((took[id(trained.default)], took[id(built)]))
    ratios = [variant / default for default, variant in pairs]
    return {"default_ms": 1e3 * statistics.median(d for d, _ in pairs),
            "variant_ms": 1e3 * statistics.median(v for _, v in pairs),
            "ratio": statistics.median(ratios), "ratios": ratios}


def kind_of(decision):
    ask = decision.asks[0][1][0]
    for kind, there in (("cut", ask.cuts), ("isolate", ask.alone), ("written", ask.written),
                        ("product", ask.templates)):
        if there:
            return kind
    return "setting"


def in_turns(decisions, kinds):
    """Numbers of decisions: the first of each kind, then the second of each, and so on."""
    by_kind = {}
    for number, decision in enumerate(decisions):
        if not kinds or kind_of(decision) in kinds:
            by_kind.setdefault(kind_of(decision), []).append(number)
    longest = max(map(len, by_kind.values()), default=0)
    return [numbers[turn] for turn in range(longest) for numbers in by_kind.values() if turn < len(numbers)]


def shown(row):
    head = f"{row['kind']:8} {row['decision'][:60]:60} {row['option'][:20]:20} {row['verdict']:8}"
    if "why" in row:
        return f"{head} {row['why']}"
    text = f"{head} build {row['build_s']:5.1f} s, first run {row['first_run_s']:4.1f} s, "
    text += f"{'equal kernels' if row['equal_kernels'] else 'other kernels'}, differs {row['difference']:.1e}"
    if "ratio" in row:
        spread = f"{min(row['ratios']):.3f} to {max(row['ratios']):.3f}"
        text += f", {row['default_ms']:.3f} -> {row['variant_ms']:.3f} ms, ratio {row['ratio']:.3f} ({spread})"
    return text


def look_at(width, device, until, kinds, report):
    trained = Trained(width, device)
    print(f"\n== width {width}: {len(trained.decisions)} decisions", flush=True)
    for decision in trained.decisions:
        print(f"  {kind_of(decision):8} {decision.name} [{', '.join(decision.options)}] sites {decision.sites} "
              f"weight {decision.weight}{' reorders sums' if decision.reorders_sums else ''}")
    for name, direction in trained.graph.default.directions.items():
        table = direction.default.table
        print(f"  {name}: {len(table.operations)} operations, {len(table.kernels)} kernels, traits {table.traits}")
    rows, left = [], 0
    report.append({"width": width, "rows": rows})
    for number in in_turns(trained.decisions, kinds):
        for option in range(1, len(trained.decisions[number].options)):
            if time.perf_counter() > until:
                left += 1
                continue
            rows.append(tried(trained, number, option))
            print(shown(rows[-1]), flush=True)
    print(f"-- width {width}: {len(rows)} options tried, {left} left out for time")
    report[-1]["left_out"] = left


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=225, help="when to stop trying options")
    parser.add_argument("--widths", default="256,257")
    parser.add_argument("--kinds", default="cut,isolate,written,product,setting",
                        help="only these, by comma")
    parser.add_argument("--json", help="file for the rows")
    parser.add_argument("--cpu", action="store_true", help="on the CPU, to try out the script itself")
    options = parser.parse_args()
    if not options.cpu and not torch.cuda.is_available():
        print("not run: there is no CUDA device here")
        return 77
    began = time.perf_counter()
    torch.set_float32_matmul_precision("high")
    device = "cpu" if options.cpu else "cuda"
    print(torch.__version__, "cpu" if options.cpu else torch.cuda.get_device_name())
    widths = [int(width) for width in options.widths.split(",")]
    report = []
    signal.signal(signal.SIGALRM, time_is_up)
    signal.alarm(int(options.seconds) + LATE_S)
    try:
        for index, width in enumerate(widths):
            until = began + options.seconds * (index + 1) / len(widths)
            look_at(width, device, until, set(filter(None, options.kinds.split(","))), report)
    except TimeUp:
        print("-- the time was up in the middle of an option")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(report, indent=1))
    print(f"took {time.perf_counter() - began:.0f} s")
    return 0


def time_is_up(*_):
    raise TimeUp


if __name__ == "__main__":
    sys.exit(main())
