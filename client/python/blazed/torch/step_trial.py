"""Runs of a step that leave no trace in the job: the optimiser's updates are made ready in one, and checked in some."""
from typing import Any, Callable, ContextManager, Optional, Tuple

from ..host import BuildFailed
from . import probe, step_probe
from .recorder import Recorder
from .snapshot import Snapshot, bytes_of
from .step_state import StepState
from .updates import ROUNDS, Updates

_COPIES = 3  # of the state, that a check needs room for


class StepTrial:
    """`look`: says anew what the step reaches. `quiet`: a context in which runs of the step are none of the job's steps.
    `exact`: the job asks for equal bits. `recorder`: of the device, where there is one. Thread: the one that trains,
    between steps."""

    def __init__(self, function: Callable[..., Any], look: Callable[[], StepState], recorder: Optional[Recorder],
                 quiet: Callable[[], ContextManager[None]], exact: bool) -> None:
        self._function = function
        self._look = look
        self._recorder = recorder
        self._quiet = quiet
        self._exact = exact

    def prepare(self, updates: Updates, args: Tuple[Any, ...], kwargs: Any) -> None:
        """Runs the step once with the updates in place, which compiles them. Raises BuildFailed where there is no room for
        the copies, and what the step or the compiler raises."""
        state = self._look()
        look_for_room(state, self._recorder)
        kept = Snapshot(state)
        with self._quiet(), kept.versions_kept():
            try:
                with updates.in_place(), updates.compiles():
                    args, kwargs = _copied((args, kwargs))
                    self._function(*args, **kwargs)
            finally:
                kept.restore()

    def differing(self, updates: Updates, args: Tuple[Any, ...], kwargs: Any) -> int:
        """How many results and parts of the state steps with these updates leave otherwise than steps without. Raises as
        prepare."""
        state = self._look()
        look_for_room(state, self._recorder)

        def run() -> Any:
            given, named = _copied((args, kwargs))  # a step may write to its arguments
            return self._function(*given, **named)

        def other() -> Any:
            with updates.in_place():
                return run()

        kept = Snapshot(state)
        with self._quiet(), kept.versions_kept():
            return step_probe.differing(state, kept, run, other, self._exact, rounds=0.0 if self._exact else ROUNDS)


def look_for_room(state: StepState, recorder: Optional[Recorder], more: int = 0) -> None:
    """For a check of the step, and so many bytes. Raises BuildFailed."""
    if recorder is None:
        return
    needed, free = _COPIES * bytes_of(state) + more, recorder.free_bytes()
    if needed > free:
        raise BuildFailed(f"no room for the probe of a whole step: it copies {needed >> 20} MiB and "
                          f"{free >> 20} MiB are free", memory=True)


def _copied(arguments: Any) -> Any:
    import torch
    from torch.utils import _pytree

    return _pytree.tree_map(lambda v: probe.copy_of(v).requires_grad_(v.requires_grad)
                            if isinstance(v, torch.Tensor) and v.layout is torch.strided else v, arguments)
