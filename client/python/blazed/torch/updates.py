"""Ways to run the optimisers' updates of a step that is handed to train_step: `fused`, the framework's own kernel for many
tensors at once, and `compiled`. Both round otherwise than the optimiser's own way.

Offered for optimisers of torch.optim whose state lies where it trains. An update runs inside the optimiser's own hooks and
in place of its `step` for as long as the step's function runs; what it was not made for runs as the script has it: a
closure, scaled gradients, another thread, a step that the script put there since, a parameter that the way does not
fit. A learning rate that is a Python number is handed to a compiled update as a tensor, so that a schedule does not compile
it anew.
"""
import contextlib
import inspect
import operator
from threading import get_ident
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

from . import identity, space

AS_IT_IS, FUSED, COMPILED = "as it is", "fused", "compiled"
# As a share of how far steps move a tensor. Adam divides by 1 - beta2 ** steps, of which an f32 keeps, at the first step
# and the usual beta2 of 0.999, no more than this; the optimiser's own way may compute it in f64.
ROUNDS = 2.0 ** -14
_STEP = "step"
_LOOKS = "_wrapped_by_lr_sched"  # of a step that a schedule has wrapped, to see whether it is called
_NEED_A_CLOSURE = ("LBFGS",)
_SPARSE = ("SparseAdam",)
_FUSED_ON_ALL = ("Adam", "AdamW", "SGD")  # kinds of devices
_ALIGNED = 16  # bytes
_LAYOUT = operator.attrgetter("dtype", "layout", "device", "shape")
_NOTE = "_dynamo_static_input_type"  # of the compiler, on a tensor: copies and files would hold it
_NUMBERS = ("eps", "weight_decay", "momentum", "dampening")
_CHECKED = "_need_device_dtype_check_for_fused"


def decision(optimisers: Sequence[Any]) -> space.Decision:
    """Of optimisers that why_not has nothing against."""
    options = [AS_IT_IS, *([FUSED] if all(map(_can_fuse, optimisers)) else []), COMPILED]
    kinds = [(type(optimiser).__name__, len(optimiser.param_groups)) for optimiser in optimisers]
    return space.Decision(identity.digest(space.UPDATE, *options, *kinds), "the optimiser runs", space.UPDATE,
                          tuple(options), space.WHOLE, 1, True, space.HEAVIEST)


def why_not(optimisers: Sequence[Any]) -> str:
    """One sentence where their updates run as they are alone; empty where other ways are offered."""
    for optimiser in optimisers:
        name = type(optimiser).__name__
        if not type(optimiser).__module__.startswith("torch.optim.") or not _is_frameworks(type(optimiser).step):
            return f"{name} is no optimiser of torch.optim, whose updates are known to be all that a step of it does"
        if name in _NEED_A_CLOSURE or name in _SPARSE:
            return f"an update of {name} is no fixed list of operations"
        if not _leads_to(vars(optimiser).get(_STEP), type(optimiser).step):
            return f"the step of {name} was replaced by the script or a library"
        sentence = next(filter(None, (_why_not_group(name, group) for group in optimiser.param_groups)), "")
        if sentence or not _state_lies_with_parameters(optimiser):
            return sentence or f"{name} keeps numbers on the host; make it with capturable=True"
    return "" if optimisers else "no optimiser was found in what the step uses"


class Updates:
    """Of all optimisers of a step. Thread: the one that makes it, which trains."""

    def __init__(self, optimisers: Sequence[Any], way: str) -> None:
        self._updates = [_Fused(o) if way == FUSED else _Compiled(o) for o in optimisers]
        self.way = way

    @contextlib.contextmanager
    def in_place(self) -> Iterator[None]:
        """Inside, the optimisers' steps run this way."""
        try:
            for update in self._updates:
                update.put()
            yield
        finally:
            for update in self._updates:
                update.take_back()

    @contextlib.contextmanager
    def compiles(self) -> Iterator[None]:
        """Inside, an update that meets what it was not compiled for is compiled; elsewhere it runs uncompiled."""
        noted = {id(tensor) for update in self._updates for tensor in update.tensors() if _NOTE in vars(tensor)}
        for update in self._updates:
            update.may_compile = True
        try:
            yield
        finally:
            for update in self._updates:
                update.may_compile = False
                for tensor in update.tensors():
                    if id(tensor) not in noted:
                        vars(tensor).pop(_NOTE, None)

    def ran(self) -> bool:
        """Whether the latest step of each ran this way."""
        return all(update.ran for update in self._updates)


class _Update:
    """In place of one optimiser's step."""

    def __init__(self, optimiser: Any) -> None:
        from torch.optim import Optimizer

        self.may_compile = False
        self.ran = False
        self._optimiser, self._fields = optimiser, vars(optimiser)
        self._class, self._class_step = type(optimiser), type(optimiser).step
        self._own = self._class_step.__wrapped__  # without the hooks, which run around either
        self._groups = optimiser.param_groups
        self._thread = get_ident()
        self._held: Any = None  # what stood in the step's place
        self._in_place = False
        hooked = Optimizer.profile_hook_step(self._step)
        self._stands_in: Any = lambda *args, **kwargs: hooked(optimiser, *args, **kwargs)
        self._stands_in.__func__ = self._class_step  # which a schedule that is made meanwhile wraps

    def put(self) -> None:
        """In place of the step, where that leads to the class's own alone."""
        own = self._fields.get(_STEP)
        if self._class.step is not self._class_step or not _leads_to(own, self._class_step):
            self.ran = False
            return
        self._held, self._in_place = own, True
        if _by_schedule(own):
            setattr(self._stands_in, _LOOKS, True)  # or the schedule warns that its order is wrong
        self._fields[_STEP] = self._stands_in

    def take_back(self) -> None:
        """What the script put there meanwhile stays."""
        own, self._held, self._in_place = self._held, None, False
        vars(self._stands_in).pop(_LOOKS, None)
        if self._fields.get(_STEP) is self._stands_in:
            if own is None:
                del self._fields[_STEP]
            else:
                self._fields[_STEP] = own

    def tensors(self) -> Iterator[Any]:
        """Parameters and state; the compiler leaves a note on each."""
        return (t for t in _tensors(self._optimiser) if t is not None)

    def _step(self, optimiser: Any, closure: Optional[Callable[[], Any]] = None) -> Any:
        if _by_schedule(self._held):
            optimiser._opt_called = True
        self._groups = optimiser.param_groups  # loading a state makes others
        scaled = getattr(optimiser, "grad_scale", None) is not None or getattr(optimiser, "found_inf", None) is not None
        self.ran = (closure is None and not scaled and self._in_place and get_ident() == self._thread
                    and self._fits(optimiser))
        if self.ran:
            self._update(optimiser)
        return None if self.ran else self._own(optimiser, closure)

    def _fits(self, optimiser: Any) -> bool:
        """Whether the way is known to do what the optimiser does, with what it holds now."""
        raise NotImplementedError

    def _update(self, optimiser: Any) -> None:
        """Sets `ran` to False where it did nothing."""
        raise NotImplementedError


class _Fused(_Update):
    def _fits(self, optimiser: Any) -> bool:
        return all(_numbers_fit_fused(group) and
                   all(_fits_fused(p, group, optimiser.state.get(p)) for p in group["params"] if p.grad is not None)
                   for group in self._groups)

    def _update(self, optimiser: Any) -> None:
        checked = _CHECKED in self._fields
        try:
            with _set(self._groups, [{"fused": True, "foreach": False}] * len(self._groups)):
                self._own(optimiser)
        finally:
            if not checked:
                self._fields.pop(_CHECKED, None)  # a note of the optimiser's own, which nothing else shall see


class _Compiled(_Update):
    def __init__(self, optimiser: Any) -> None:
        import torch

        super().__init__(optimiser)
        self._call = self._compiled(optimiser)
        self._call_if_compiled = torch._dynamo.run(self._call)
        self._rates: List[Tuple[Any, Any]] = []  # of each group: the number, and the tensor that holds it
        self._compiled_for: List[Any] = []  # how the tensors lay, which the compiled code takes for granted

    def _compiled(self, optimiser: Any) -> Callable[[], None]:
        import torch

        inner, note = inspect.unwrap(self._class_step), self._note_uncompiled

        def update() -> None:
            if not torch.compiler.is_compiling():
                note()
                return
            with torch.no_grad():
                inner(optimiser)

        # The compiler counts what it made of one code object, and gives up where that is too much.
        update.__code__ = update.__code__.replace()
        return torch.compile(update, dynamic=False, fullgraph=True)

    def _note_uncompiled(self) -> None:
        self.ran = False

    def _fits(self, optimiser: Any) -> bool:
        import torch

        if torch.compiler.is_compiling() or any(group.get("differentiable") for group in self._groups):
            return False  # what the script compiles holds the optimiser's own
        return self.may_compile or _lie(optimiser) in self._compiled_for

    def _update(self, optimiser: Any) -> None:
        with _set(self._groups, self._settings()):
            (self._call if self.may_compile else self._call_if_compiled)()
        if self.may_compile:
            self._compiled_for.append(_lie(optimiser))

    def _settings(self) -> List[Dict[str, Any]]:
        """Of each group: operations on all tensors, which the compiler merges, and the rate as a tensor."""
        if len(self._rates) != len(self._groups):
            self._rates = [(None, None)] * len(self._groups)
        settings: List[Dict[str, Any]] = []
        for index, group in enumerate(self._groups):
            settings.append({"fused": None, "foreach": None} if group.get("fused") or group.get("foreach") else {})
            rate = group.get("lr")
            if isinstance(rate, (int, float)) and group["params"]:
                settings[-1]["lr"] = self._as_tensor(index, rate, group)
        return settings

    def _as_tensor(self, index: int, rate: float, group: Dict[str, Any]) -> Any:
        import torch

        told, tensor = self._rates[index]
        if tensor is None:
            tensor = torch.tensor(float(rate), dtype=_widest(group), device=group["params"][0].device)
        elif told != rate:
            tensor.fill_(rate)
        self._rates[index] = rate, tensor
        return tensor


@contextlib.contextmanager
def _set(groups: Sequence[Dict[str, Any]], settings: Sequence[Dict[str, Any]]) -> Iterator[None]:
    before = [{key: group[key] for key in asked} for group, asked in zip(groups, settings)]
    for group, asked in zip(groups, settings):
        group.update(asked)
    try:
        yield
    finally:
        for group, own in zip(groups, before):
            group.update(own)


def _is_frameworks(step: Any) -> bool:
    """Whether a class's step is the one that it was defined with, inside the hooks; a library's around it may look alike."""
    if not getattr(step, "hooked", False):
        return False
    while step is not None:
        if not getattr(step, "__globals__", {}).get("__name__", "").startswith("torch."):
            return False
        step = getattr(step, "__wrapped__", None)
    return True


def _by_schedule(own: Any) -> bool:
    return own is not None and hasattr(own, _LOOKS)


def _leads_to(own: Any, class_step: Any) -> bool:
    """Whether an optimiser's `own` step, None where it has none, does no more than its class's."""
    if own is None or getattr(own, "__func__", None) is class_step:
        return True
    return (_by_schedule(own) and getattr(own, "__wrapped__", None) is class_step
            and getattr(own, "__globals__", {}).get("__name__") == "torch.optim.lr_scheduler")


def _lie(optimiser: Any) -> List[Any]:
    """Of all that an update touches: its form, and how it lies in memory."""
    import torch

    tensors = _tensors(optimiser)
    there = [t for t in tensors if t is not None]
    layouts = list(map(_LAYOUT, there))
    if any(layout is not torch.strided for _, layout, _, _ in layouts):
        return [None, object()]  # like no other
    absent = [index for index, t in enumerate(tensors) if t is None]
    aligned = [pointer % _ALIGNED for pointer in map(torch.Tensor.data_ptr, there)]
    return [absent, layouts, list(map(torch.Tensor.stride, there)), aligned]


def _tensors(optimiser: Any) -> List[Any]:
    """Of each parameter: itself, its gradient, None where it has none, and its state."""
    import torch

    tensors: List[Any] = []
    for group in optimiser.param_groups:
        for p in group["params"]:
            tensors += [p, p.grad, *[v for v in optimiser.state.get(p, {}).values() if isinstance(v, torch.Tensor)]]
    return tensors


def _why_not_group(name: str, group: Dict[str, Any]) -> str:
    if group.get("differentiable"):
        return f"{name} is differentiable: its updates are a part of a graph"
    return ""


def _state_lies_with_parameters(optimiser: Any) -> bool:
    """Else the compiler would move it there, for good."""
    import torch

    parameters = [p for group in optimiser.param_groups for p in group["params"]]
    if all(p.device.type == "cpu" for p in parameters):
        return True
    states = [value for p in parameters for value in optimiser.state.get(p, {}).values() if isinstance(value, torch.Tensor)]
    return (all(value.device.type != "cpu" for value in states)
            and all(group.get("capturable", True) for group in optimiser.param_groups))


def _can_fuse(optimiser: Any) -> bool:
    import torch

    return type(optimiser).__name__ in _FUSED_ON_ALL and all(
        p.dtype in (torch.float32, torch.float64) and p.layout is torch.strided and not group.get("fused")
        for group in optimiser.param_groups for p in group["params"])


def _numbers_fit_fused(group: Dict[str, Any]) -> bool:
    """The kernel takes Python's own alone, and a rate as a tensor."""
    import torch

    rate = group.get("lr")
    if isinstance(rate, torch.Tensor) and rate.dtype is not torch.float32 or group.get("differentiable"):
        return False
    values = [*group.get("betas", ()), *[group[key] for key in _NUMBERS if key in group]]
    return isinstance(rate, (int, float, torch.Tensor)) and all(isinstance(value, (int, float)) for value in values)


def _fits_fused(parameter: Any, group: Dict[str, Any], state: Optional[Dict[str, Any]]) -> bool:
    """The kernel walks a parameter, its gradient and its state side by side, as if all lay in memory alike, and some do
    not look. State that is not there yet is the optimiser's to make."""
    import torch

    gradient = parameter.grad
    if gradient.layout is not torch.strided or parameter.dtype not in (torch.float32, torch.float64):
        return False
    if not (parameter.is_contiguous() or parameter.dim() == 4 and parameter.is_contiguous(memory_format=torch.channels_last)):
        return False
    momentum = group.get("momentum")
    if momentum is None and not state or momentum and (state or {}).get("momentum_buffer") is None:
        return False
    count = (state or {}).get(_STEP)
    if count is not None and getattr(count, "dtype", None) is not torch.float32:
        return False
    sort, device = parameter.dtype, parameter.device
    moments = [value for key, value in (state or {}).items() if key != _STEP and value is not None]
    return all(v.dtype is sort and v.device == device and _lies_as(v, parameter) for v in (gradient, *moments))


def _lies_as(one: Any, other: Any) -> bool:
    return one.stride() == other.stride() or (one.shape == other.shape and all(
        a == b for a, b, size in zip(one.stride(), other.stride(), one.shape) if size > 1))


def _widest(group: Dict[str, Any]) -> Any:
    import torch

    return torch.float64 if any(p.dtype == torch.float64 for p in group["params"]) else torch.float32
