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


class ScriptedSession:
    """Stands in for the daemon's side: at step `n` it builds, probes and runs what the script says."""

    def __init__(self, host, options, script):
        self.host, self.script = host, script
        self.step, self.flags, self.failures = 0, [], []
        self.graphs, self.workload, self.probes = [], None, []

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

    def status(self):
        return types.SimpleNamespace(settled=False, mode="tune", state="attached")

    def close(self):
        pass

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
        return made[0]

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


def train(steps, compiled, module, each=None):
    """Losses of so many steps on fixed data; the whole state of the model follows from them."""
    torch.manual_seed(1)
    data = torch.randn(8 * steps, 16)
    labels = torch.randint(0, 4, (8 * steps,))
    optimiser = torch.optim.Adam(module.parameters(), lr=1e-2)
    losses = []
    for step in range(steps):
        rows = slice(8 * step, 8 * step + 8)
        loss = torch.nn.functional.cross_entropy(compiled(data[rows]), labels[rows])
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
        losses.append(loss.item())
        if each is not None:
            each(step)
    return losses
