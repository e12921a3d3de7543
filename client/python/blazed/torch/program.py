"""One way to run a captured graph: compiled under some settings, or as plain framework operations.

Programs of one graph take the same inputs and give the same results with the same gradients. They
may keep different tensors between forward and backward, so a step runs one of them from end to end.
"""

import contextlib
import copy
import functools
from typing import Any, Callable, Dict, Sequence, Tuple

from .direction import BACKWARD, FORWARD, Direction
from .variant import Source

Settings = Tuple[Tuple[str, Any], ...]  # of torch._inductor.config, sorted by name


COMPILED, EAGER, GRAPHS, PADDED, PADDED_GRAPHS = "compiled", "eager", "graphs", "padded", "padded graphs"
_AS_GRAPHS = ("triton.cudagraphs", True)
_PADDED = ("force_shape_pad", True)
SETTINGS: Dict[str, Settings] = {COMPILED: (), GRAPHS: (_AS_GRAPHS,), PADDED: (_PADDED,),
                                 PADDED_GRAPHS: (_PADDED, _AS_GRAPHS)}


class Program:
    """`call(*inputs)` runs it. `directions` is empty where nothing of it was compiled. `launched`:
    what its generated code does not tell of how it runs."""

    def __init__(self, name: str, call: Callable[..., Any], directions: Dict[str, Direction]) -> None:
        self.name = name
        self.call = call
        self.directions = directions
        self.launched = EAGER if name == EAGER else GRAPHS if name in (GRAPHS, PADDED_GRAPHS) else ""


def eager(module: Any) -> Program:
    """The captured operations one by one. `module` is not changed."""
    return Program(EAGER, module.forward, {})


def names_for(device: str) -> Tuple[str, ...]:
    """The programs that a graph on this type of device can run as, the default first."""
    if device == "cuda":
        return (COMPILED, GRAPHS, PADDED, PADDED_GRAPHS, EAGER)
    return (COMPILED, EAGER)


def compiled(name: str, module: Any, inputs: Sequence[Any], context: Any = None) -> Program:
    """Compiles a copy of `module` under SETTINGS[name]. `context`: the tracing context of the
    capture, for a compile that comes later; the capture itself gives none. Raises what the compiler
    raises."""
    import torch._functorch.config as functorch_config
    from torch._inductor.compile_fx import compile_fx

    directions: Dict[str, Direction] = {}
    with contextlib.ExitStack() as stack:
        # A hit in AOTAutograd's cache never asks the inner compiler, and a backward that is compiled
        # at its first use comes on another thread at a moment that nobody chose.
        stack.enter_context(functorch_config.patch(enable_autograd_cache=False,
                                                   force_non_lazy_backward_lowering=True))
        if context is not None:
            stack.enter_context(_afresh(context))
        call = compile_fx(copy.deepcopy(module), inputs, inner_compile=functools.partial(_inner, directions),
                          config_patches=dict(SETTINGS[name]) or None)
    if SETTINGS[name] and _AS_GRAPHS in SETTINGS[name]:
        call = _copied(call)
    return Program(name, call, directions)


def _inner(directions: Dict[str, Direction], module: Any, inputs: Sequence[Any], **arguments: Any) -> Any:
    from torch._guards import TracingContext
    from torch._inductor.compile_fx import compile_fx_inner

    source = Source(copy.deepcopy(module), list(inputs), dict(arguments), compile_fx_inner,
                    TracingContext.try_get())
    name = BACKWARD if arguments.get("is_backward") else FORWARD
    direction = directions[name] = Direction(name, source)
    return direction.entry()


@contextlib.contextmanager
def _afresh(context: Any) -> Any:
    """A tracing context of its own around the capture's fake tensors."""
    from torch._guards import TracingContext, tracing

    with tracing(TracingContext(context.fake_mode)):
        yield


def _copied(call: Callable[..., Any]) -> Callable[..., Any]:
    """A CUDA graph's results lie where its next run writes; the job may keep them for longer."""
    import torch

    def run(*inputs: Any) -> Any:
        torch.compiler.cudagraph_mark_step_begin()
        results = call(*inputs)
        return type(results)(value.clone() if isinstance(value, torch.Tensor) else value for value in results)

    return run
