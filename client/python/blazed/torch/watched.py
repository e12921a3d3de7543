"""The values that a recording of a step froze, looked at before every replay.

A replay reads no value of Python again and writes to the memory that it was recorded on. So each value that the step
may have read is compared with what it was at the recording: numbers of the optimisers (learning rate, betas), flags and
numbers of modules, hooks, values of the script, and where every tensor lies. What lies in a tensor may change freely.

A look walks live views of the dictionaries that hold them, in C: a fraction of a microsecond a tensor.
"""
import itertools
import operator
from typing import Any, Iterable, List, Tuple

from torch.utils.hooks import RemovableHandle

from . import arithmetic, reach
from .host_values import rows_of
from .step_state import StepState

_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks",
          "_optimizer_step_pre_hooks", "_optimizer_step_post_hooks")
_REQUIRES_GRAD = operator.attrgetter("requires_grad")


class Watch:
    """Thread: the one that trains. `note` takes what is there as what is expected; it takes milliseconds."""

    def __init__(self, state: StepState) -> None:
        self._state = state
        self.note()

    def note(self) -> None:
        state = self._state
        self._rows = rows_of(state)
        self._fetched = [(row.get, row.holder) for row in self._rows]
        self._values = [row.fetch() for row in self._rows]
        parts = state.parts()
        self._below = [part._modules.values() for part in parts]
        self._inner = _flat(self._below)
        self._fields = [fields.values() for part in parts for fields in (part._parameters, part._buffers)]
        self._trained = state.trained()
        self._flags = list(map(_REQUIRES_GRAD, self._trained))
        self._others = _others(state)
        self._held = self._holders()
        self._placed = [(place, place.read()) for place in _placed(state)]
        self._mark_addresses()
        self._hooks = [held for owner in (*parts, *state.found.optimisers) for held in hooks_of(owner)]
        self._hook_count = self._count_hooks()
        self._handles = RemovableHandle.next_id
        self._modes = _modes()

    def changed(self) -> str:
        """Empty where all is as it was noted, else the name of the first thing that is not. Never raises."""
        try:
            return self._changed()
        except Exception as error:  # what cannot be compared with what it was is another
            return f"a watched value ({type(error).__name__})"

    def _changed(self) -> str:
        if [get(holder) for get, holder in self._fetched] != self._values:
            return next((row.differing(value) for row, value in zip(self._rows, self._values)
                         if row.fetch() != value), "a watched value")
        if not _same(self._holders(), self._held):
            return self._replaced()
        if not _lie_at(self._held, self._pointers, self._indices):
            return "the memory of a parameter or buffer"
        if not _same(_flat(self._below), self._inner):
            return "a module inside another"
        if list(map(_REQUIRES_GRAD, self._trained)) != self._flags:
            return "requires_grad of a parameter"
        # Making a hook counts up everywhere; taking one away shows where there were some.
        if (self._hook_count or RemovableHandle.next_id != self._handles) and self._count_hooks() != self._hook_count:
            return "the number of hooks"
        self._handles = RemovableHandle.next_id
        return "" if _modes() == self._modes else "a mode of PyTorch, such as autocast or TF32,"

    def _replaced(self) -> str:
        return next((place.name for place, value in self._placed if place.read() is not value),
                    "a parameter, a buffer or the optimiser's state")

    def _holders(self) -> List[Any]:
        rows: List[Iterable[Any]] = list(self._fields)
        for optimiser in self._state.found.optimisers:
            rows += [state.values() for state in optimiser.state.values()]
            rows.append(optimiser.param_groups)  # loading a state makes others of them
            rows += [group["params"] for group in optimiser.param_groups]
        rows.append([get(holder) for get, holder in self._others])
        return _flat(rows)

    def _mark_addresses(self) -> None:
        import torch

        first = {id(value): index for index, value in reversed(list(enumerate(self._held)))
                 if isinstance(value, torch.Tensor)}
        self._indices = sorted(first.values())
        self._pointers = [value.data_ptr() if isinstance(value, torch.Tensor) else 0 for value in self._held]

    def _count_hooks(self) -> int:
        return sum(map(len, self._hooks)) + sum(bool(p._backward_hooks) + bool(p._post_accumulate_grad_hooks)
                                                for p in self._trained)


def _others(state: StepState) -> List[Tuple[Any, Any]]:
    """Tensors of groups, places and containers, and where objects are held: (getter, holder)."""
    import torch

    found: List[Tuple[Any, Any]] = []
    for optimiser in state.found.optimisers:
        for group in optimiser.param_groups:
            found += [(operator.itemgetter(key), group) for key, value in group.items()
                      if key != "params" and not reach.is_plain(value)]
    found += [place.getter() for place in _placed(state)]
    for _, container in state.found.containers():
        if isinstance(container, (list, dict)):
            entries = container.items() if isinstance(container, dict) else enumerate(container)
            found += [(operator.itemgetter(key), container) for key, value in entries
                      if isinstance(value, torch.Tensor)]
    return found


def _placed(state: StepState) -> List[reach.Place]:
    """Of tensors and of the script's own objects. A library may put another object in the place of its own in every
    step, and containers are compared by what they hold."""
    import torch

    return [place for place in state.found.places if isinstance(place.read(), torch.Tensor)] + [
        place for place in state.found.held
        if not place.of_library and not isinstance(place.read(), reach.CONTAINERS)]


def _flat(rows: Iterable[Iterable[Any]]) -> List[Any]:
    return list(itertools.chain.from_iterable(rows))


def _same(these: List[Any], those: List[Any]) -> bool:
    # Not ==, which tensors answer element by element.
    return len(these) == len(those) and all(map(operator.is_, these, those))


def _lie_at(tensors: List[Any], pointers: List[int], indices: List[int]) -> bool:
    """`indices`: which of both lists are looked at."""
    import torch

    compare = getattr(torch._C, "_tensors_data_ptrs_at_indices_equal", None)
    if compare is not None:
        return bool(compare(tensors, pointers, indices))
    return all(tensors[index].data_ptr() == pointers[index] for index in indices)


def hooks_of(owner: Any) -> List[Any]:
    """Of a module or an optimiser: the dictionaries that hold its hooks."""
    return [vars(owner)[name] for name in _HOOKS if isinstance(vars(owner).get(name), dict)]


def _modes() -> Tuple[Any, ...]:
    import torch

    return (torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.is_autocast_enabled("cuda"),
            torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cuda"), torch.get_autocast_dtype("cpu"),
            arithmetic.switches(), torch.get_default_dtype(),
            torch.are_deterministic_algorithms_enabled(), torch.is_anomaly_enabled())
