"""A step's state set aside and put back: runs of a step that shall leave no trace happen between the two.

What is put back is put back in place: tensors keep their memory and their version, so that neither an optimiser nor a
graph that autograd keeps notices.
"""
import contextlib
import copy
import operator
import random
import sys
from typing import Any, Callable, Iterator, List

from . import probe, reach
from .step_state import StepState


class Snapshot:
    """Taken where it is made. `restore` may be called more than once. Thread: the one that trains, between steps."""

    def __init__(self, state: StepState) -> None:
        self._undo: List[Callable[[], None]] = []
        self._structure(state)
        self._tensors = [(tensor, probe.copy_of(tensor)) for _, tensor in state.tensors()]
        self._by_identity = {id(tensor): kept for tensor, kept in self._tensors}
        self._gradients = [(p, p.grad, None if p.grad is None else probe.copy_of(p.grad)) for p in state.trained()]
        self._random = RandomState(state.found.generators)

    def restore(self) -> None:
        for undo in self._undo:
            undo()
        for parameter, gradient, kept in self._gradients:
            if parameter.grad is not gradient:
                parameter.grad = gradient
            if gradient is not None:
                _write(gradient, kept)
        for tensor, kept in self._tensors:
            _write(tensor, kept)
        self._random.restore()

    def kept(self, tensor: Any) -> Any:
        """What it held; None where it is none of the state's."""
        return self._by_identity.get(id(tensor))

    @contextlib.contextmanager
    def versions_kept(self) -> Iterator[None]:
        """Runs inside change tensors; outside it shall look as if they had not."""
        import torch

        held = tuple(tensor for tensor, _ in self._tensors if not tensor.is_inference())
        with torch.autograd._unsafe_preserve_version_counter(held):
            yield

    def _structure(self, state: StepState) -> None:
        for part in state.parts():
            self._undo += [_dictionary(fields) for fields in (vars(part), part._parameters, part._buffers)]
        for optimiser in state.found.optimisers:
            # Loading a state makes another dictionary and other groups.
            self._undo += [_dictionary(vars(optimiser)), _dictionary(optimiser.state), _container(optimiser.param_groups)]
            self._undo += [_dictionary(held) for held in optimiser.state.values() if isinstance(held, dict)]
            self._undo += [_dictionary(group) for group in optimiser.param_groups]
        for found in filter(None, (state.found, state.found.aside)):
            self._undo += [_place(place) for place in (*found.places, *found.held)]
            self._undo += [_dictionary(value) if isinstance(value, dict) else _container(value)
                           for _, value in found.containers()]


class RandomState:
    """All generators that a step may draw from, the devices' and Python's own."""

    def __init__(self, generators: List[Any]) -> None:
        import torch

        self._generators = [(generator, generator.get_state()) for generator in generators]
        self._cpu = torch.get_rng_state()
        self._cuda = torch.cuda.get_rng_state() if torch.cuda.is_initialized() else None
        self._python = random.getstate()
        numpy = sys.modules.get("numpy")
        self._numpy = (numpy.random, copy.deepcopy(numpy.random.get_state())) if numpy is not None else None

    def restore(self) -> None:
        import torch

        for generator, kept in self._generators:
            generator.set_state(kept)
        torch.set_rng_state(self._cpu)
        if self._cuda is not None:
            torch.cuda.set_rng_state(self._cuda)
        random.setstate(self._python)
        if self._numpy is not None:
            self._numpy[0].set_state(self._numpy[1])

    def digest(self) -> bytes:
        """Of the generators that training draws from."""
        kept = [self._cpu, *(value for _, value in self._generators)]
        if self._cuda is not None:
            kept.append(self._cuda)
        return b"".join(value.numpy().tobytes() for value in kept) + repr(self._python).encode()


def bytes_of(state: StepState) -> int:
    """What a snapshot copies."""
    tensors = [tensor for _, tensor in state.tensors()]
    tensors += [p.grad for p in state.trained() if p.grad is not None]
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def _write(tensor: Any, kept: Any) -> None:
    if tensor.data_ptr() != kept.data_ptr():
        tensor.data.copy_(kept)  # .data: another version counter


def _dictionary(held: Any) -> Callable[[], None]:
    kept = dict(held)

    def undo() -> None:
        # By identity: the keys may be tensors, which compare element by element.
        if list(map(id, held)) != list(map(id, kept)) or any(map(operator.is_not, held.values(), kept.values())):
            held.clear()
            held.update(kept)

    return undo


def _place(place: reach.Place) -> Callable[[], None]:
    kept = place.read()
    return lambda: place.write(kept) if place.read() is not kept else None


def _container(container: Any) -> Callable[[], None]:
    kept = list(container)

    def undo() -> None:
        if len(container) != len(kept) or any(a is not b for a, b in zip(container, kept)):
            container.clear()
            (container.update if isinstance(container, set) else container.extend)(kept)

    return undo
