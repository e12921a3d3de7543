"""The check computation: a graph under one plan on given inputs, without a trace in the job.

What a run would change is undone or never touched: parameters take part as detached views of the
same memory, inputs that the graph writes to are copied first, random state is put back, and
gradients are asked for by `torch.autograd.grad`, which accumulates nothing and runs no hook of a
parameter.
"""

import contextlib
from typing import Any, Callable, Iterator, List, Optional, Sequence

from .graph import Graph

Emit = Callable[[str, str, Any], None]  # name, role, tensor
OUTPUT, GRADIENT, LOSS, EXACT = "output", "gradient", "loss", "exact"
_SEED = 20011


def run(graph: Graph, inputs: Sequence[Any], emit: Optional[Emit], is_reference: bool = False) -> None:
    """Runs the program that is in force on `inputs` and emits every result: outputs and how many of them lie otherwise
    in memory than the default's, what it wrote to its inputs, gradients. None: nobody wants them. A reference may lay
    outputs out as it likes. Raises what the program raises. Session's thread, between steps."""
    import torch

    with _random_state_kept(inputs), torch.set_grad_enabled(graph.training):
        stand_ins = [_stand_in(value, index in graph.written) for index, value in enumerate(inputs)]
        outputs = _flat(graph.current.call(*stand_ins))
        name = f"graph{graph.number}"
        for index, value in enumerate(outputs):
            _emit(emit, f"{name} output {index}", LOSS if _is_loss(value) else OUTPUT, value)
        otherwise = 0 if is_reference else sum(a != b for a, b in zip(_layouts(outputs), graph.layouts))
        _emit(emit, f"{name} outputs in another layout", EXACT, torch.tensor([otherwise]))
        for index in sorted(graph.written):
            _emit(emit, f"{name} input {index} afterwards", OUTPUT, stand_ins[index])
        _gradients(name, stand_ins, outputs, emit)


def look_at_default(graph: Graph, inputs: Sequence[Any]) -> None:
    """Notes how the default program lays out its outputs, whether it draws random values, and which inputs it writes to: by
    version, and by bits, since writes behind autograd's back (`.data`, kernels of the user's own) leave the version as it
    was. A parameter that is trained cannot be written to in a graph with a backward pass and is not copied."""
    import torch

    may_write_parameters = not graph.training and bool(graph.default.directions["forward"].default.mutated)
    with _random_state_kept(inputs), torch.set_grad_enabled(graph.training):
        copies = [_stand_in(value, may_write_parameters or not _is_trained(value)) for value in inputs]
        versions = [_version(value) for value in copies]
        random = _random_states(inputs)
        graph.layouts = _layouts(_flat(graph.default.call(*copies)))
        draws = any(not torch.equal(*states) for states in zip(random, _random_states(inputs)))
        graph.written = frozenset(index for index, (value, copied) in enumerate(zip(inputs, copies))
                                  if _version(copied) != versions[index] or not _same_bits(value, copied))
    graph.repeats = not (draws or graph.written or graph.default.directions["forward"].default.mutated)


def _version(value: Any) -> int:
    """Tensors of inference_mode count none; their bits tell."""
    return 0 if getattr(value, "is_inference", bool)() else getattr(value, "_version", 0)


def _layouts(outputs: Sequence[Any]) -> Sequence[Any]:
    """Strides, which the script may rely on, as `view` does; of a dimension of one element they mean nothing."""
    import torch

    return [tuple(stride for stride, size in zip(value.stride(), value.shape) if size > 1)
            if isinstance(value, torch.Tensor) else None for value in outputs]


def bytes_told(inputs: Sequence[Sequence[Any]]) -> int:
    """About what a probe gives: the gradients of what takes one."""
    import torch

    return sum(v.numel() * v.element_size() for values in inputs for v in values
               if isinstance(v, torch.Tensor) and v.requires_grad)


def _is_trained(value: Any) -> bool:
    import torch

    return isinstance(value, torch.nn.Parameter) and value.requires_grad


def _same_bits(a: Any, b: Any) -> bool:
    import torch

    if not isinstance(a, torch.Tensor) or a.data_ptr() == b.data_ptr():
        return True
    a, b = a.detach(), b.detach()
    return bool(torch.all((a == b) | ((a != a) & (b != b))))


def _stand_in(value: Any, copied: bool) -> Any:
    import torch

    if not isinstance(value, torch.Tensor):
        return value
    return (copy_of(value) if copied else value.detach()).requires_grad_(value.requires_grad)


def copy_of(value: Any) -> Any:
    """Laid out in memory as `value` is, which compiled code relies on; clone() keeps dense ones
    alone. What is expanded is nowhere written to and shares its memory."""
    import torch

    if any(stride == 0 and size > 1 for stride, size in zip(value.stride(), value.shape)):
        return value.detach()
    made = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=value.device)
    return made.copy_(value.detach())


def kept(inputs: Sequence[Any]) -> Sequence[Any]:
    """For a probe at a later step's begin. Parameters are shared, the rest is copied: it may be
    written to until then, and would keep the step's whole graph alive."""
    import torch

    return [copy_of(value).requires_grad_(value.requires_grad)
            if isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter) else value
            for value in inputs]


class Sampling:
    """How often inputs are copied for probes: at each step while plans are tried, seldom once one has settled."""

    _ASK_EVERY = 64  # wishes between two questions to the session
    _SELDOM = 16

    def __init__(self) -> None:
        self._count = 0
        self._settled = False

    def wanted(self, session: Any) -> bool:
        self._count += 1
        if self._count % self._ASK_EVERY == 0:
            picture = session.status()
            self._settled = picture.settled or picture.mode == "observe" or picture.state == "off"
        return not self._settled or self._count % self._SELDOM == 0


def _gradients(name: str, inputs: Sequence[Any], outputs: Sequence[Any], emit: Optional[Emit]) -> None:
    import torch

    wanted = [(i, v) for i, v in enumerate(inputs) if isinstance(v, torch.Tensor) and v.requires_grad]
    sources = [v for v in outputs if isinstance(v, torch.Tensor) and v.requires_grad]
    if not wanted or not sources:
        return
    given = torch.autograd.grad(sources, [v for _, v in wanted], [_tangent(v) for v in sources],
                                allow_unused=True)
    for (index, _), gradient in zip(wanted, given):
        if gradient is not None:
            _emit(emit, f"{name} gradient {index}", GRADIENT, gradient)


def _tangent(output: Any) -> Any:
    """A loss is differentiated as training does it. Elsewhere the same draws for every plan: the
    backward pass is linear in them, so any will do that lead everywhere."""
    import torch

    if output.dim() == 0:
        return torch.ones_like(output)
    generator = torch.Generator().manual_seed(_SEED)
    drawn = torch.randn(output.shape, generator=generator, dtype=torch.float32)
    return (drawn / max(1, output.numel()) ** 0.5).to(output.dtype).to(output.device)


def _is_loss(value: Any) -> bool:
    return getattr(value, "dim", lambda: 1)() == 0 and value.is_floating_point()


def _emit(emit: Optional[Emit], name: str, role: str, value: Any) -> None:
    import torch

    if emit is None or not isinstance(value, torch.Tensor) or value.numel() == 0:
        return
    value = value.detach()
    if value.is_complex():
        value = torch.view_as_real(value)
    if not value.is_floating_point():
        role, value = EXACT, value.to(torch.int64)
    elif value.dtype not in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        value = value.to(torch.float32)
    emit(name, role, value.contiguous().cpu())


def _flat(outputs: Any) -> List[Any]:
    return list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]


@contextlib.contextmanager
def _random_state_kept(inputs: Sequence[Any]) -> Iterator[None]:
    import torch

    with torch.random.fork_rng(devices=_devices(inputs)):
        yield


def _random_states(inputs: Sequence[Any]) -> List[Any]:
    import torch

    return [torch.get_rng_state(), *map(torch.cuda.get_rng_state, _devices(inputs))]


def _devices(inputs: Sequence[Any]) -> List[int]:
    """GPUs, by index."""
    import torch

    return sorted({v.device.index for v in inputs if isinstance(v, torch.Tensor) and v.is_cuda})
