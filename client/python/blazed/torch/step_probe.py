"""Whether replays of a recorded step do what the step does.

One step would not show a value that the recording froze and the step moves, such as a learning rate that a schedule
inside it lowers. So several in a row are run as they are, twice, to know what the step itself leaves to chance, and
then replayed, each time from the same state; results, state, gradients, random state and values of Python are compared.
"""
from typing import Any, Callable, List, Optional, Tuple

from . import host_values
from .snapshot import RandomState, Snapshot
from .static_values import detached
from .step_state import StepState

STEPS = 3
_TIMES_OWN_SPREAD = 4.0


class Outcome:
    """What some steps in a row left. `kept`: tensors are copied, else they are the job's own."""

    def __init__(self, state: StepState, run: Callable[[], Any], kept: bool) -> None:
        import torch
        from torch.utils import _pytree

        leaves = [leaf for _ in range(STEPS) for leaf in _pytree.tree_leaves(detached(run()))]
        tensors = [leaf.clone() for leaf in leaves if isinstance(leaf, torch.Tensor)]
        self.plain = [("result", leaf) for leaf in leaves if not isinstance(leaf, torch.Tensor)]
        self.plain += state.host_values()
        self.random = RandomState(state.found.generators).digest()
        left = [tensor.detach() for _, tensor in state.tensors()]
        gradients = [p.grad for p in state.trained()]
        left += [g.detach() for g in gradients if g is not None]
        self.none = [g is None for g in gradients]
        self.tensors: List[Any] = tensors + ([tensor.clone() for tensor in left] if kept else left)


def differing(state: StepState, snapshot: Snapshot, run: Callable[[], Any], replay: Callable[[], Any]) -> int:
    """How many tensors lie further from the step's own than four times its own spread, and values that are others.
    The state is put back. Raises what `run` and `replay` raise."""
    try:
        first = Outcome(state, run, kept=True)
        snapshot.restore()
        spreads = _spreads(first, Outcome(state, run, kept=False))
        snapshot.restore()
        if spreads is None:
            return 1  # the step itself leaves other things from run to run
        return _beyond(first, Outcome(state, replay, kept=False), spreads)
    finally:
        snapshot.restore()


def _spreads(first: Outcome, second: Outcome) -> Optional[List[Any]]:
    if not _alike(first, second):
        return None
    return [_distance(a, b) for a, b in zip(first.tensors, second.tensors)]


def _beyond(first: Outcome, replayed: Outcome, spreads: List[Any]) -> int:
    import torch

    others = host_values.differences(first.plain, replayed.plain) + (first.random != replayed.random)
    if not _alike(first, replayed):
        return others + 1
    verdicts = [_distance(a, c) > _TIMES_OWN_SPREAD * spread
                for a, c, spread in zip(first.tensors, replayed.tensors, spreads)]
    by_device: dict = {}
    for verdict in verdicts:
        by_device.setdefault(verdict.device, []).append(verdict)
    return others + sum(int(torch.stack(rows).sum().item()) for rows in by_device.values())


def _alike(one: Outcome, other: Outcome) -> bool:
    return one.none == other.none and [_form(t) for t in one.tensors] == [_form(t) for t in other.tensors]


def _form(tensor: Any) -> Tuple[Any, ...]:
    return (tensor.shape, tensor.dtype, tensor.device)


def _distance(a: Any, b: Any) -> Any:
    """The largest difference of two elements, as a tensor; infinite where one alone is no number. For integers 1 where
    any two differ."""
    import torch

    if a.numel() == 0:
        return torch.zeros((), dtype=torch.float64, device=a.device)
    if a.is_complex():
        a, b = torch.view_as_real(a), torch.view_as_real(b)
    if not a.is_floating_point():
        return (a != b).any().double()
    if a.element_size() < 4:
        a, b = a.float(), b.float()
    apart = (a - b).abs_().nan_to_num_(nan=float("inf"), posinf=float("inf"))
    # Equal infinities and two that are no number lie at no distance.
    return apart.masked_fill_((a == b) | (torch.isnan(a) & torch.isnan(b)), 0.0).max().double()
