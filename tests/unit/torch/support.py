"""What the tests of the PyTorch client share: small models, and a job whose session is scripted."""
import contextlib
import pathlib
import sys
import types
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "client" / "python"))

try:
    import torch
except ModuleNotFoundError:
    print("not run: PyTorch is not installed here; ./run test --torch installs it and runs this")
    sys.exit(77)

import blazed.torch  # noqa: E402
from blazed.host import Choice  # noqa: E402
from blazed.torch.job import Job  # noqa: E402


class Block(torch.nn.Module):
    def __init__(self, width, dropout=0.0):
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)
        self.linear = torch.nn.Linear(width, width)
        self.dropout = torch.nn.Dropout(dropout)

    def forward(self, x):
        return x + self.dropout(torch.nn.functional.gelu(self.linear(self.norm(x))))


def model(dropout=0.0, batch_norm=True):
    torch.manual_seed(0)
    parts = [Block(16, dropout), Block(16, dropout)]
    if batch_norm:
        parts.append(torch.nn.BatchNorm1d(16))
    return torch.nn.Sequential(*parts, torch.nn.Linear(16, 4))


class Attention(torch.nn.Module):
    """A small one whose compiled graphs hold products of batches, sums and values with many readers."""

    def __init__(self, width=16, heads=2):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.project, self.merge = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 2 * width), torch.nn.Linear(2 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.project(self.norm1(x)).view(batch, length, 3, self.heads, width // self.heads)
        queries, keys, values = parts.permute(2, 0, 3, 1, 4).unbind(0)
        scores = torch.softmax(queries @ keys.transpose(-1, -2), -1)
        x = x + self.merge((scores @ values).transpose(1, 2).reshape(batch, length, width))
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm2(x))))


def attention(layers=2):
    torch.manual_seed(0)
    return torch.nn.Sequential(*(Attention() for _ in range(layers)))


class Captured:
    """One model compiled by blazed, with the decisions about it."""

    def __init__(self, module, data):
        from blazed.torch import plan, space

        self._scope = scripted(lambda session: 0)
        self._scope.__enter__()
        self.module, self.data = module, data
        self.compiled = torch.compile(module, backend=blazed.torch.backend, dynamic=False)
        self.default_results = self.run()
        (self.graph,) = blazed.torch.current_job().graphs
        self.decisions = space.decisions_of([self.graph], ())
        self._default = plan.default([self.graph])

    def close(self):
        self._scope.__exit__(None, None, None)

    def run(self):
        """Loss and gradients."""
        torch.manual_seed(5)
        self.module.zero_grad()
        loss = self.compiled(self.data).square().mean()
        loss.backward()
        return [loss.detach().clone()] + [parameter.grad.clone() for parameter in self.module.parameters()]

    def numbers(self, field):
        """Of the decisions that ask for `field` of an Ask."""
        return [number for number, decision in enumerate(self.decisions)
                if all(getattr(ask, field) for _, asks in decision.asks for ask in asks[-1:])]

    def build(self, *choices):
        from blazed.torch import plan

        return plan.build([self.graph], self.decisions, choices)

    def results_of(self, built):
        built.latch()
        try:
            return self.run()
        finally:
            self._default.latch()

    def variants(self, built):
        """(direction, variant) where it is not the default."""
        return [(d, v) for d, v in built.variants if v is not d.default]


class ScriptedSession:
    """Stands in for the daemon's side: at step `n` it builds, probes and runs what the script says."""

    def __init__(self, host, options, script):
        self.host, self.options, self.script = host, options, script
        self.step, self.flags, self.failures = 0, [], []
        self.graphs, self.workload, self.probes = [], None, []
        self.closed = False

    def attach(self):
        return self

    def describe_graph(self, graph):
        self.graphs.append(graph)

    def describe_workload(self, workload):
        self.workload = workload

    def step_begin(self):
        self.step += 1
        return self.script(self)

    def step_end(self, flags=0):
        self.flags.append(flags)

    def quiet(self):
        return None

    def status(self):
        return types.SimpleNamespace(settled=False, mode="tune", state="attached")

    def close(self):
        self.closed, self.host = True, None

    def build(self, *choices):
        return self.host.build(tuple(Choice(*choice) for choice in choices)).handle

    def probe(self, handle):
        """name -> (role, bytes) of every tensor of the check computation."""
        import ctypes

        seen = {}
        size = {"F32": 4, "F64": 8, "F16": 2, "BF16": 2, "I64": 8, "I32": 4}

        def emit(tensor):
            seen[tensor.name] = (tensor.role, ctypes.string_at(tensor.address, tensor.count * size[tensor.dtype.name]))
            return True

        self.host.probe(handle, emit)
        return seen


@contextlib.contextmanager
def scripted(script, recorder=None):
    """A fresh job in this process whose session follows `script(session) -> handle`. `recorder`: of whole steps."""
    from blazed.torch import job as module

    made = []

    def session(host, options):
        made.append(ScriptedSession(host, options, script))
        return made[-1]

    kept, module.Session = module.Session, session
    old = blazed.torch.replace_job(Job(blazed.Options()))
    torch._dynamo.reset()
    try:
        with mock.patch("blazed.torch.recorder.for_device", lambda device: recorder):
            yield made
    finally:
        module.Session = kept
        blazed.torch.replace_job(old)
        torch._dynamo.reset()


def train(steps, compiled, module, each=None, shape=(16,), rows_of=lambda step: 8):
    """Losses of so many steps on fixed data; the whole state of the model follows from them."""
    torch.manual_seed(1)
    data = torch.randn(8 * steps, *shape)
    labels = torch.randint(0, 4, (8 * steps,))
    optimiser = torch.optim.Adam(module.parameters(), lr=1e-2)
    losses = []
    for step in range(steps):
        rows = slice(8 * step, 8 * step + rows_of(step))
        scores = compiled(data[rows])
        loss = torch.nn.functional.cross_entropy(scores.flatten(1), labels[rows])
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
        losses.append(loss.item())
        if each is not None:
            each(step)
    return losses
