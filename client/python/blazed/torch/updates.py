"""Ways to run the optimisers' updates of a step that is handed to train_step: `fused`, the framework's own kernel for many
tensors at once, and `compiled`. Both round otherwise than the optimiser's own way.

Offered for optimisers of torch.optim whose state lies where it trains. An update runs inside the optimiser's own hooks and
in place of its `step` for as long as the step's function runs; what it was not made for runs as the script has it: a
closure, scaled gradients, another thread. A learning rate that is a Python number is handed to a compiled update as a
tensor, so that a schedule does not compile it anew.
"""
import contextlib
import inspect
from threading import get_ident
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

from . import identity, space

AS_IT_IS, FUSED, COMPILED = "as it is", "fused", "compiled"
# As a share of how far steps move a tensor. Adam divides by 1 - beta2 ** steps, of which an f32 keeps, at the first step
# and the usual beta2 of 0.999, no more than this; the optimiser's own way may compute it in f64.
ROUNDS = 2.0 ** -14
_STEP = "step"
_NEED_A_CLOSURE = ("LBFGS",)
_SPARSE = ("SparseAdam",)
_FUSED_ON_ALL = ("Adam", "AdamW", "SGD")  # kinds of devices
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
        if not type(optimiser).__module__.startswith("torch.optim.") or not getattr(type(optimiser).step, "hooked", False):
            return f"{name} is no optimiser of torch.optim, whose updates are known to be all that a step of it does"
        if name in _NEED_A_CLOSURE or name in _SPARSE:
            return f"an update of {name} is no fixed list of operations"
        own = vars(optimiser).get(_STEP)
        if own is not None and not hasattr(own, "_wrapped_by_lr_sched"):
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
        held = [(update.fields, update.fields.get(_STEP)) for update in self._updates]
        for update in self._updates:
            update.fields[_STEP] = update.step
        try:
            yield
        finally:
            for fields, own in held:
                if own is None:
                    fields.pop(_STEP, None)
                else:
                    fields[_STEP] = own

    @contextlib.contextmanager
    def compiles(self) -> Iterator[None]:
        """Inside, an update that meets what it was not compiled for is compiled; elsewhere it runs uncompiled."""
        for update in self._updates:
            update.may_compile = True
        try:
            yield
        finally:
            for update in self._updates:
                update.may_compile = False

    def ran(self) -> bool:
        """Whether the latest step of each ran this way."""
        return all(update.ran for update in self._updates)


class _Update:
    """In place of one optimiser's step."""

    def __init__(self, optimiser: Any) -> None:
        from torch.optim import Optimizer

        self.fields = vars(optimiser)
        self.may_compile = False
        self.ran = False
        self._own = type(optimiser).step.__wrapped__  # without the hooks, which run around either
        self._inner = inspect.unwrap(type(optimiser).step)
        self._groups = optimiser.param_groups
        self._thread = get_ident()
        own = self.fields.get(_STEP)
        self._schedule_looks = own is not None
        hooked = Optimizer.profile_hook_step(self._step)
        self.step: Callable[..., Any] = lambda *args, **kwargs: hooked(optimiser, *args, **kwargs)
        if self._schedule_looks:
            self.step._wrapped_by_lr_sched = True  # type: ignore[attr-defined]  # or it warns that its order is wrong

    def _step(self, optimiser: Any, closure: Optional[Callable[[], Any]] = None) -> Any:
        if self._schedule_looks:
            optimiser._opt_called = True
        scaled = getattr(optimiser, "grad_scale", None) is not None or getattr(optimiser, "found_inf", None) is not None
        if closure is not None or scaled or get_ident() != self._thread:
            self.ran = False
            return self._own(optimiser, closure)
        self.ran = True
        self._groups = optimiser.param_groups  # loading a state makes others
        self._update(optimiser)
        return None

    def _update(self, optimiser: Any) -> None:
        raise NotImplementedError


class _Fused(_Update):
    def _update(self, optimiser: Any) -> None:
        checked = _CHECKED in self.fields
        try:
            with _set(self._groups, [{"fused": True, "foreach": False}] * len(self._groups)):
                self._own(optimiser)
        finally:
            if not checked:
                self.fields.pop(_CHECKED, None)  # a note of the optimiser's own, which nothing else shall see


class _Compiled(_Update):
    def __init__(self, optimiser: Any) -> None:
        super().__init__(optimiser)
        self._call = self._compiled(optimiser)
        self._rates: List[Tuple[Any, Any]] = []  # of each group: the number, and the tensor that holds it

    def _compiled(self, optimiser: Any) -> Callable[[], None]:
        import torch

        inner, note = self._inner, self._note_uncompiled

        def update() -> None:
            if not torch.compiler.is_compiling():
                note()
            with torch.no_grad():
                inner(optimiser)

        # The compiler counts what it made of one code object, and gives up where that is too much.
        update.__code__ = update.__code__.replace()
        return torch.compile(update, dynamic=False, fullgraph=True)

    def _note_uncompiled(self) -> None:
        self.ran = False

    def _update(self, optimiser: Any) -> None:
        import torch

        with _set(self._groups, self._settings()):
            if self.may_compile:
                self._call()
                return
            with torch.compiler.set_stance("eager_on_recompile"):
                self._call()

    def _settings(self) -> List[Dict[str, Any]]:
        """Of each group: operations on all tensors, which the compiler merges, and the rate as a tensor."""
        if len(self._rates) != len(self._groups):
            self._rates = [(None, None)] * len(self._groups)
        settings: List[Dict[str, Any]] = []
        for index, group in enumerate(self._groups):
            settings.append({"fused": None, "foreach": None} if group.get("fused") else {})
            rate = group.get("lr")
            if isinstance(rate, (int, float)):
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


def _widest(group: Dict[str, Any]) -> Any:
    import torch

    return torch.float64 if any(p.dtype == torch.float64 for p in group["params"]) else torch.float32
