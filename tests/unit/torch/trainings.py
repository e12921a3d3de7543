"""Small jobs, each with something that a replayed step could get wrong, and what has to come of them.

Used on the CPU by whole_step_test.py and on a GPU by tests/device/torch_whole_step.py.
"""
import copy

import torch

REPLAYED, NOT_OFFERED, REFUSED = "replayed", "not offered", "refused"


class Training:
    """A plain one. `wrapped` makes of the model what the step calls, such as a compiled one."""

    expected, reason = REPLAYED, ""
    most_others = 20  # of 500 steps, the first ones included, that are not replayed
    recordings = 1
    dropout = 0.0
    lr = 0.05

    def __init__(self, device="cpu", wrapped=None):
        torch.manual_seed(0)
        self.device = torch.device(device)
        self.model = torch.nn.Sequential(
            torch.nn.Linear(6, 8), torch.nn.BatchNorm1d(8), torch.nn.Tanh(), torch.nn.Dropout(self.dropout),
            torch.nn.Linear(8, 3)).to(self.device)
        self.net = wrapped(self.model) if wrapped is not None else self.model
        self.optimiser = self.make_optimiser()

    def make_optimiser(self):
        gpu = self.device.type == "cuda"
        return torch.optim.Adam(self.model.parameters(), lr=self.lr, fused=True, capturable=gpu)

    def loss(self, x, y):
        return torch.nn.functional.cross_entropy(self.net(x), y)

    def step(self, x, y):
        self.optimiser.zero_grad()
        loss = self.loss(x, y)
        loss.backward()
        self.optimiser.step()
        return loss

    def between(self, number):
        """After each step."""

    def batch(self, number):
        """The same ones in every run."""
        generator = torch.Generator().manual_seed(number % 16)
        rows = self.rows(number)
        return (torch.randn(rows, 6, generator=generator).to(self.device),
                torch.randint(0, 3, (rows,), generator=generator).to(self.device))

    def rows(self, number):
        return 8

    def state(self):
        return [value.clone() for value in self.model.state_dict().values()]


def run(training, step, steps):
    """Losses, as the job sees them, and the state at the end."""
    torch.manual_seed(7)
    losses = []
    for number in range(steps):
        losses.append(float(step(*training.batch(number))))
        training.between(number)
    return losses, training.state()


class Dropout(Training):
    dropout = 0.4


class TensorRate(Training):
    """A learning rate in a tensor, moved by a schedule."""

    def __init__(self, device="cpu", wrapped=None):
        self.lr = torch.tensor(0.05, device=device)
        super().__init__(device, wrapped)
        self.schedule = torch.optim.lr_scheduler.StepLR(self.optimiser, 3, 0.97)

    def between(self, number):
        self.schedule.step()


class Clipped(Training):
    def step(self, x, y):
        self.optimiser.zero_grad()
        loss = self.loss(x, y)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), 0.3)
        self.optimiser.step()
        return loss + 0 * norm


class Averaged(Training):
    """A running mean of the parameters, kept by the step."""

    def __init__(self, device="cpu", wrapped=None):
        super().__init__(device, wrapped)
        self.mean = [p.detach().clone() for p in self.model.parameters()]

    def step(self, x, y):
        loss = super().step(x, y)
        for mean, p in zip(self.mean, self.model.parameters()):
            mean.lerp_(p.detach(), 0.05)
        return loss

    def state(self):
        return super().state() + [mean.clone() for mean in self.mean]


class MicroBatches(Training):
    """Gradients are added up inside the step."""

    def step(self, x, y):
        self.optimiser.zero_grad()
        total = 0
        for rows, labels in zip(x.chunk(2), y.chunk(2)):
            loss = self.loss(rows, labels) / 2
            loss.backward()
            total = total + loss.detach()
        self.optimiser.step()
        return total


class Scaled(Training):
    """Losses are scaled, as half precision needs it."""

    def __init__(self, device="cpu", wrapped=None):
        super().__init__(device, wrapped)
        self.scaler = torch.amp.GradScaler(self.device.type, init_scale=64.0, growth_interval=20)

    def step(self, x, y):
        self.optimiser.zero_grad()
        loss = self.loss(x, y)
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimiser)
        self.scaler.update()
        return loss

    def state(self):
        return super().state() + [self.scaler._scale.clone(), self.scaler._growth_tracker.clone()]


class GradientsLeft(Training):
    """The script reads the gradients after a step and takes them away."""

    none = True

    def __init__(self, device="cpu", wrapped=None):
        super().__init__(device, wrapped)
        self.norms = []

    def step(self, x, y):
        loss = self.loss(x, y)
        loss.backward()
        self.optimiser.step()
        return loss

    def between(self, number):
        self.norms.append(float(sum(p.grad.square().sum() for p in self.model.parameters())))
        self.optimiser.zero_grad(set_to_none=self.none)

    def state(self):
        return super().state() + [torch.tensor(self.norms)]


class GradientsZeroed(GradientsLeft):
    none = False


class Evaluated(Training):
    def between(self, number):
        if number % 50 == 10:
            self.model.eval()
            with torch.no_grad():
                self.net(torch.ones(2, 6, device=self.device))
            self.model.train()


class Frozen(Training):
    """In evaluation mode for a while."""

    most_others, recordings = 40, 3

    def between(self, number):
        if number in (150, 250):
            self.model.train(number == 250)


class Resumed(Training):
    """A checkpoint is loaded, and once more into the optimiser alone, which then has the same tensors."""

    most_others, recordings = 40, 3

    def between(self, number):
        if number == 150:
            self.saved = copy.deepcopy((self.model.state_dict(), self.optimiser.state_dict()))
        if number == 250:
            self.model.load_state_dict(self.saved[0])
            self.optimiser.load_state_dict(self.saved[1])
        if number == 350:
            self.optimiser.load_state_dict(self.saved[1])


class RateDrops(Training):
    most_others, recordings = 40, 4

    def between(self, number):
        if number % 150 == 60:
            self.optimiser.param_groups[0]["lr"] *= 0.5


class Hooked(Training):
    most_others, recordings = 40, 4

    def between(self, number):
        if number == 150:
            self.hook = self.model[0].register_forward_hook(lambda module, x, out: out * 0.5)
        if number == 250:
            self.hook.remove()
        if number == 350:
            self.model[4].weight.register_hook(lambda gradient: gradient * 2)


class LastBatchSmaller(Training):
    most_others = 75

    def rows(self, number):
        return 5 if number % 10 == 9 and number > 20 else 8


class BatchGrows(Training):
    most_others, recordings = 40, 2

    def rows(self, number):
        return 8 if number < 250 else 12


# ---- not replayed ----


class NumberRate(Training):
    """A learning rate that is a number and always changes."""

    expected = NOT_OFFERED
    reason = "^lr is a Python number that changes from step to step; give a tensor lr and capturable=True"

    def __init__(self, device="cpu", wrapped=None):
        super().__init__(device, wrapped)
        self.schedule = torch.optim.lr_scheduler.ExponentialLR(self.optimiser, 0.999)

    def between(self, number):
        self.schedule.step()


class Counted(Training):
    expected, reason = NOT_OFFERED, "calls changes from step to step"

    def __init__(self, device="cpu", wrapped=None):
        super().__init__(device, wrapped)
        self.calls = 0

    def step(self, x, y):
        self.calls += 1
        return super().step(x * (1.0 + 0.001 * self.calls), y)

    def state(self):
        return super().state() + [torch.tensor(self.calls)]


class AddedUpOverCalls(Counted):
    reason = "the optimiser does not step in every call|calls changes"

    def step(self, x, y):
        self.calls += 1
        loss = self.loss(x, y)
        loss.backward()
        if self.calls % 4 == 0:
            self.optimiser.step()
            self.optimiser.zero_grad()
        return loss


class FromIterator(Training):
    expected, reason = NOT_OFFERED, "batches, which a replay would not"

    def __init__(self, device="cpu", wrapped=None):
        super().__init__(device, wrapped)
        self.batches = (self.batch(number) for number in range(100_000))

    def step(self, x, y):
        return super().step(*next(self.batches))


class Hidden(Training):
    """Writes to a tensor that nothing names."""

    expected, reason = NOT_OFFERED, "writes to a tensor of shape"

    def __init__(self, device="cpu", wrapped=None):
        super().__init__(device, wrapped)
        hidden = torch.zeros(3, device=device)

        def hook(module, x, out):
            hidden.add_(out.detach().mean())

        self.model[0].register_forward_hook(hook)
        self.shown = lambda: hidden

    def state(self):
        return super().state() + [self.shown().clone()]


class ReadBackAndKept(Training):
    expected, reason = NOT_OFFERED, "last changes"

    def step(self, x, y):
        loss = super().step(x, y)
        self.last = loss.item()
        return loss


class ReadBack(Training):
    expected, reason = REFUSED, r"such as \.item\(\)"

    def step(self, x, y):
        loss = super().step(x, y)
        if loss.item() > 1e6:
            raise RuntimeError("it diverged")
        return loss


class CountsOnHost(Training):
    """An optimiser whose step count is a number of the host."""

    expected, reason = REFUSED, "cannot be recorded|capturable=True"

    def make_optimiser(self):
        return torch.optim.Adam(self.model.parameters(), lr=0.01, foreach=False)


class ChosenRows(Training):
    """Shapes hang on values."""

    expected, reason = REFUSED, "cannot be recorded"

    def step(self, x, y):
        self.optimiser.zero_grad()
        kept = x[:, 0] > -10
        loss = self.loss(x[kept], y[kept])
        loss.backward()
        self.optimiser.step()
        return loss


def _all(kind):
    return [kind, *(inner for below in kind.__subclasses__() for inner in _all(below))]


ALL = _all(Training)
