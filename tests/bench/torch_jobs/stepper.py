"""One arm of one job, ready to train: `step()` is a training step on the next batch.

Each arm has a model of its own that begins with the same weights. `enter()` and `leave()` stand around its turns in a
process that trains several. Errors: what PyTorch raises.
"""
import types
from typing import Any, Callable, List, Optional

import torch

import arms
import jobs

_GRAPH_WARM_STEPS = 4
_numbers = iter(range(1 << 30))


def fresh(function: Callable[..., Any]) -> Any:
    """The same function with code of its own: the compiler files what it compiled under the code, and arms must not
    meet each other's results or limits there."""
    code = function.__code__.replace(co_name=f"{function.__name__}_{next(_numbers)}")
    return types.FunctionType(code, function.__globals__, code.co_name, function.__defaults__, function.__closure__)


def objective_of(made: jobs.Made, precision: str, device: str) -> Callable[..., torch.Tensor]:
    """Batch to loss, which is what arms compile."""
    model, loss = made.model, made.loss
    if precision == jobs.BF16:
        kind = torch.device(device).type

        def objective(inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
            with torch.autocast(kind, torch.bfloat16):
                return loss(model(inputs), targets)
    else:
        def objective(inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
            return loss(model(inputs), targets)
    return fresh(objective)


class Stepper:
    """A stock arm."""

    def __init__(self, job: jobs.Job, arm: arms.Arm, device: str, tiny: bool = False):
        self.arm, self.device = arm, device
        self.made = job.make(device, arm.form, tiny, fused=not arm.compiled_optimiser)
        self.batches: List[jobs.Batch] = self.made.batches
        self._next = 0
        self.objective = self._compiled(objective_of(self.made, job.precision, device))
        self.update = self._update()

    def _compiled(self, objective: Any) -> Any:
        if self.arm.compile is None:
            return objective
        return torch.compile(objective, dynamic=False, **self.arm.compile)

    def _update(self) -> Callable[[], Any]:
        optimiser = self.made.optimiser
        if not self.arm.compiled_optimiser:
            return optimiser.step

        def update() -> None:
            optimiser.step()

        return torch.compile(fresh(update), dynamic=False, **(self.arm.compile or {}))

    def batch(self) -> jobs.Batch:
        batch = self.batches[self._next]
        self._next = (self._next + 1) % len(self.batches)
        return batch

    def train(self, inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        loss = self.objective(inputs, targets)
        loss.backward()
        self.update()
        # At once: what a graph's pool holds of an arm must not outlast its turn.
        self.made.optimiser.zero_grad(set_to_none=True)
        return loss

    def step(self) -> torch.Tensor:
        if self.arm.graphs:
            torch.compiler.cudagraph_mark_step_begin()
        return self.train(*self.batch())

    def enter(self) -> None:
        pass

    def leave(self) -> None:
        pass

    def close(self) -> None:
        pass


class GraphByHand(Stepper):
    """Forward, backward and optimiser captured once and replayed. All of these in a process share one pool: nothing in
    it outlasts a replay."""

    _pool: Any = None

    def __init__(self, job: jobs.Job, arm: arms.Arm, device: str, tiny: bool = False):
        super().__init__(job, arm, device, tiny)
        if torch.device(device).type != "cuda":
            raise RuntimeError("only a GPU has graphs to capture a step in")
        self._inputs, self._targets = (part.clone() for part in self.batches[0])
        self._graph: Optional[torch.cuda.CUDAGraph] = None

    def _capture(self) -> None:
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(_GRAPH_WARM_STEPS):
                self.train(self._inputs, self._targets)
        torch.cuda.current_stream().wait_stream(side)
        if GraphByHand._pool is None:
            GraphByHand._pool = torch.cuda.graph_pool_handle()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=GraphByHand._pool):
            self._loss = self.train(self._inputs, self._targets).detach()
        self._graph = graph

    def step(self) -> torch.Tensor:
        inputs, targets = self.batch()
        self._inputs.copy_(inputs)
        self._targets.copy_(targets)
        if self._graph is None:
            self._capture()
        self._graph.replay()
        return self._loss

    def close(self) -> None:
        self._graph = GraphByHand._pool = None


def start(job: jobs.Job, arm: arms.Arm, device: str, tiny: bool = False, tune_s: float = 0.0) -> Stepper:
    """`tune_s`: how long blazed may explore, where it is blazed's arm."""
    if arm.blazed:
        import blazed_stepper

        return blazed_stepper.start(job, arm, device, tiny, tune_s)
    return (GraphByHand if arm.by_hand else Stepper)(job, arm, device, tiny)
