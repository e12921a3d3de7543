"""One way to run a captured graph: compiled under some settings, or as plain framework operations.

Programs of one graph take the same inputs and give the same results with the same gradients. They
may keep different tensors between forward and backward, so a step runs one of them from end to end.
"""

import contextlib
import dataclasses
import functools
from typing import Any, Callable, Dict, Sequence

from . import honoured
from .autocast import Autocast
from .direction import BACKWARD, FORWARD, Direction
from .variant import Source, copy_of

Settings = Dict[str, Any]  # of torch._inductor.config

EAGER = "eager"  # of Program.launched


@dataclasses.dataclass(frozen=True)
class Way:
    """What tells programs of one graph apart. `graphs`: through the compiler's CUDA graphs, which the launch of the
    step asks for."""

    eager: bool = False
    padded: bool = False
    graphs: bool = False

    def settings(self) -> Settings:
        settings: Settings = {}
        if self.padded:
            settings["force_shape_pad"] = True
        if self.graphs:
            settings["triton.cudagraphs"] = True
        return settings

    def plain(self) -> "Way":
        """The same program without what means nothing for operations that are not compiled."""
        return Way(eager=True) if self.eager else self


class Program:
    """`call(*inputs)` runs it. `directions` is empty where nothing of it was compiled. `launched`:
    what its generated code does not tell of how it runs."""

    def __init__(self, call: Callable[..., Any], directions: Dict[str, Direction], launched: str = "") -> None:
        self.call = call
        self.directions = directions
        self.launched = launched


def eager(module: Any, autocast: Autocast) -> Program:
    """The captured operations one by one, under the autocast of the capture. `module` is not changed."""

    def call(*inputs: Any) -> Any:
        with autocast.entered():
            return module.forward(*inputs)

    return Program(call, {}, EAGER)


def compiled(way: Way, module: Any, inputs: Sequence[Any], mode: Any = None) -> Program:
    """Compiles a copy of `module` that way. `mode`: of the capture's fake tensors, for a compile that comes later; the
    capture itself gives none. Raises what the compiler raises, and Refused where it records no CUDA graph that the way
    asks for."""
    import torch._functorch.config as functorch_config
    from torch._inductor.compile_fx import compile_fx

    directions: Dict[str, Direction] = {}
    with contextlib.ExitStack() as stack:
        # A hit in AOTAutograd's cache never asks the inner compiler, and a backward that is compiled
        # at its first use comes on another thread at a moment that nobody chose.
        stack.enter_context(functorch_config.patch(enable_autograd_cache=False,
                                                   force_non_lazy_backward_lowering=True))
        if mode is not None:
            stack.enter_context(_afresh(mode))
        call = compile_fx(copy_of(module), inputs, inner_compile=functools.partial(_inner, directions),
                          config_patches=way.settings() or None)
    if way.graphs:
        honoured.look_at_recordings([direction.default for direction in directions.values()])
        return Program(_copied(call), directions)
    return Program(call, directions)


def _inner(directions: Dict[str, Direction], module: Any, inputs: Sequence[Any], **arguments: Any) -> Any:
    from torch._guards import TracingContext
    from torch._inductor.compile_fx import compile_fx_inner

    source = Source(copy_of(module), list(inputs), dict(arguments), compile_fx_inner,
                    TracingContext.try_get())
    name = BACKWARD if arguments.get("is_backward") else FORWARD
    direction = directions[name] = Direction(name, source)
    return direction.entry()


@contextlib.contextmanager
def _afresh(mode: Any) -> Any:
    """A tracing context of its own around the capture's fake tensors."""
    from torch._guards import TracingContext, tracing

    with tracing(TracingContext(mode)):
        yield


def _copied(call: Callable[..., Any]) -> Callable[..., Any]:
    """A CUDA graph's results lie where its next run writes; the job may keep them for longer."""
    import torch

    def run(*inputs: Any) -> Any:
        results = call(*inputs)
        return type(results)(value.clone() if isinstance(value, torch.Tensor) else value for value in results)

    return run
