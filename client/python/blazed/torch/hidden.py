"""What a step changes although nothing that it names holds it: found by looking at every live tensor around one step.

Such a tensor could not be put back after a run that shall leave no trace, so a step that writes to one is not recorded.
"""
import gc
import weakref
from typing import Any, Dict, List, Sequence, Tuple

from . import watched
from .step_state import StepState


class Versions:
    """Of every live tensor when it is made. Costs a walk through the process's objects: do it once or twice a job."""

    def __init__(self) -> None:
        self._seen: Dict[int, Tuple[Any, int]] = {
            id(t): (weakref.ref(t), t._version) for t in _objects("Tensor") if not t.is_inference()}

    def written(self, known: Sequence[Any]) -> List[Any]:
        """Tensors that were written to since, and share no memory with `known` ones."""
        memory = set(map(_memory, known))
        found = []
        for ref, version in self._seen.values():
            tensor = ref()
            if tensor is not None and tensor._version != version and _memory(tensor) not in memory:
                found.append(tensor)
        return found


def schedulers_of(optimisers: Sequence[Any]) -> List[Any]:
    """Live schedules of learning rates and scalers of losses: a step may move them wherever they are held."""
    schedules = [s for s in _objects("LRScheduler") if any(s.optimizer is o for o in optimisers)]
    return schedules + list(_objects("GradScaler"))


def hooks_of(state: StepState) -> List[Any]:
    """The script's functions that a step calls although it does not name them: of modules, optimisers and parameters."""
    held = [hooks for owner in (*state.parts(), *state.found.optimisers) for hooks in watched.hooks_of(owner)]
    held += [hooks for p in state.trained() for hooks in (p._backward_hooks, p._post_accumulate_grad_hooks)]
    return [hook for hooks in held if hooks for hook in hooks.values()]


def _objects(kind: str) -> List[Any]:
    import torch

    wanted = {"Tensor": torch.Tensor, "LRScheduler": torch.optim.lr_scheduler.LRScheduler,
              "GradScaler": torch.amp.GradScaler}[kind]
    # By type(), not isinstance: some objects load a library when they are asked for their class.
    return [value for value in gc.get_objects() if issubclass(type(value), wanted)]


def _memory(tensor: Any) -> int:
    try:
        return int(tensor.untyped_storage().data_ptr())
    except Exception:  # a tensor that has no memory of its own
        return id(tensor)
