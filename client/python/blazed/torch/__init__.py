"""blazed for PyTorch.

    model = torch.compile(model, backend="blazed")

is all a training script needs. The first steps run as `torch.compile` would run them; after that
the daemon of this machine tries other plans on real steps, checks that each computes the same
numbers, and keeps what is faster. Without a daemon nothing changes.
"""
import os
from threading import get_ident
from typing import Any, Callable, Optional, Sequence

from ..log import logger
from ..options import Options
from .forward import ForwardStep
from .graph import Graph
from .job import Job
from .train_step import TrainStep
from .variant import copy_of

__all__ = ["backend", "configure", "current_job", "forward_step", "train_step"]

_job: Optional[Job] = None
_options: Optional[Options] = None
_follows = False


def configure(options: Options) -> None:
    """How this process's session is opened; call it before the first step."""
    global _options
    _options = options


def current_job() -> Job:
    """This process's job; made at its first use."""
    global _job
    if _job is None:
        import torch

        _job = Job(_options or Options(host_name=f"torch {torch.__version__}"))
        _follow(_job)
    return _job


def train_step(function: Callable[..., Any], *, modules: Sequence[Any] = (),
               optimisers: Sequence[Any] = ()) -> TrainStep:
    """`function` runs forward, backward and optimiser on the batch that it is given; the result is called like it and
    may be launched as a whole. Modules and optimisers are found in what the function uses where none are named. Its
    results come detached. A job has one such step; another one runs as it is."""
    return TrainStep(function, modules, optimisers, current_job)


def forward_step(function: Callable[..., Any]) -> ForwardStep:
    """`function` answers a batch, without a backward pass, by graphs that were compiled; the result is called like it,
    and a call is one step of all its graphs. Where a call runs one graph this is not needed. A job has one such function;
    another one runs as it is."""
    return ForwardStep(function, current_job)


def replace_job(other: Optional[Job]) -> Optional[Job]:
    """Puts another job in place, whose graphs the coming compiles are; the one before comes back.
    A process has one job; this is for what trains several in turn, such as tests."""
    global _job
    before = current_job()
    _job = other
    if other is not None:
        _follow(other)
    return before


def _follow(job: Job) -> None:
    """From the first job on that is not off, this process's steps and forks are looked at."""
    global _follows
    if _follows or job.off:
        return
    from torch.optim.optimizer import register_optimizer_step_post_hook

    _follows = True
    register_optimizer_step_post_hook(_stepped)
    os.register_at_fork(after_in_child=_forked)


def _stepped(optimiser: Any, args: Any, kwargs: Any) -> None:
    if _job is not None:
        _job.optimiser_stepped()


def _forked() -> None:
    if _job is not None:
        _job.forked()


def backend(module: Any, inputs: Sequence[Any], mode: Optional[str] = None, options: Any = None,
            **_others: Any) -> Callable[..., Any]:
    """The entry that `torch.compile(model, backend="blazed")` finds. A graph with `mode` or `options` of
    torch.compile is compiled with them and not tuned: they ask for what blazed would choose. In a job that is off the
    compiler is PyTorch's own and knows nothing of blazed."""
    from torch._dynamo.exc import TorchDynamoException

    if current_job().off:
        return _untuned(module, inputs, mode, options)
    if (mode is not None and mode != "default") or options:
        current_job().stay_away("torch.compile was given a mode or options, which say how to compile; leave them out "
                                "to have it chosen")
        return _untuned(module, inputs, mode, options)
    try:
        return _tuned(module, inputs)
    except TorchDynamoException:
        raise  # the compiler's own, by which it also asks to begin again
    except Exception:
        logger.warning("a graph is left to PyTorch's own compiler", exc_info=True)
        return _untuned(module, inputs)


def _untuned(module: Any, inputs: Sequence[Any], mode: Optional[str] = None, options: Any = None) -> Callable[..., Any]:
    """As torch.compile compiles where it is given no backend."""
    import torch

    return torch._TorchCompileInductorWrapper(mode, options, None)(module, inputs)


def _tuned(module: Any, inputs: Sequence[Any]) -> Callable[..., Any]:
    from torch._guards import TracingContext

    here = current_job()
    graph = Graph(here.next_number(), copy_of(module), inputs, TracingContext.try_get())
    here.add(graph)

    passing = here.passing

    def call(*args: Any) -> Any:
        try:
            return graph.current.call(*args)
        except BaseException as error:
            fault = here.call_failed(graph, error)
            if fault is None:
                raise
        # Out here, where the error and what its frames hold of the device's memory are gone.
        results = graph.current.call(*args)
        here.call_repeated(fault)
        return results

    def run(*args: Any) -> Any:
        if passing.on and get_ident() == passing.thread:
            passing.seen = True
        else:
            here.graph_called(graph, args)
        return call(*args)

    def run_forward(*args: Any) -> Any:
        if not here.forward_called(graph, args):
            return call(*args)
        returned = False
        try:
            results = call(*args)
            returned = True
        finally:
            graph.latest = ()
            here.forward_ended(returned)
        return results

    return run if graph.training else run_forward


def _name_backend() -> None:
    """`backend="blazed"` where the package was not installed, which would have said so itself."""
    from torch._dynamo.backends import registry

    if "blazed" not in registry.list_backends(exclude_tags=()):
        registry.register_backend(backend, name="blazed")


_name_backend()
