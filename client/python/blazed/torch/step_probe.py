"""Whether replays of a recorded step do what the step does.

One step would not show a value that the recording froze and the step moves, such as a learning rate that a schedule
inside it lowers. So several in a row are run as they are, again and again, to know what the step itself leaves to
chance, and then replayed, each time from the same state; results, state, gradients, random state and values of Python
are compared.

A step that comes to the same bits each time has to be replayed to the same bits. One that does not, since sums by
atomics end in another order each time, is judged by how far its runs lie apart, in rms and as a share of how far the
tensor moved, and by what is usual among its tensors: which ones chance touches differs from run to run. However much
that is, a replay that is off by a sixteenth of what the step moves is another step.
"""
import math
from typing import Any, Callable, List, Tuple

from . import host_values
from .snapshot import RandomState, Snapshot
from .static_values import detached
from .step_state import StepState

STEPS = 3
_MORE_RUNS = 3  # beside the first
_TIMES_OWN_SPREAD = 4.0
_MOST = 1 / 16


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
        self.origins = [None] * len(tensors) + [tensor for _, tensor in state.tensors()]
        self.origins += [None] * (len(self.tensors) - len(self.origins))


def differing(state: StepState, snapshot: Snapshot, run: Callable[[], Any], replay: Callable[[], Any]) -> int:
    """How many tensors lie further from the step's own than its runs do from one another, and values that are others.
    The state is put back. Raises what `run` and `replay` raise."""
    try:
        first = Outcome(state, run, kept=True)
        snapshot.restore()
        moved = [_moved(tensor, snapshot.kept(origin)) for tensor, origin in zip(first.tensors, first.origins)]
        own = [0.0] * len(moved)
        for _ in range(_MORE_RUNS):
            again = Outcome(state, run, kept=False)
            if not _alike(first, again):
                return 1  # the step itself leaves other things from run to run
            own = [max(pair) for pair in zip(own, _apart(first, again, moved))]
            snapshot.restore()
        return _beyond(first, Outcome(state, replay, kept=False), moved, own)
    finally:
        snapshot.restore()


def _beyond(first: Outcome, replayed: Outcome, moved: List[Any], own: List[float]) -> int:
    others = host_values.differences(first.plain, replayed.plain) + (first.random != replayed.random)
    if not _alike(first, replayed):
        return others + 1
    touched = sorted(share for share in own if share > 0)
    usual = touched[len(touched) // 2] if touched else 0.0
    return others + sum(share > min(_TIMES_OWN_SPREAD * max(spread, usual), _MOST)
                        for share, spread in zip(_apart(first, replayed, moved), own))


def _apart(first: Outcome, other: Outcome, moved: List[Any]) -> List[float]:
    """Of each tensor the distance as a share of how far the step moved it."""
    import torch

    shares = []
    for a, b, far in zip(first.tensors, other.tensors, moved):
        distance = _distance(a, b)
        shares.append(torch.where(distance == 0, distance, distance / far))
    by_device: dict = {}
    for place, share in enumerate(shares):
        by_device.setdefault(share.device, []).append((place, share))
    told = [0.0] * len(shares)
    for rows in by_device.values():  # waits once a device
        for (place, _), value in zip(rows, torch.stack([share for _, share in rows]).tolist()):
            told[place] = value
    return told


def _moved(tensor: Any, before: Any) -> Any:
    """How far the steps moved a tensor of the state, in rms; how large a result or gradient is."""
    import torch

    if not (tensor.is_floating_point() or tensor.is_complex()):
        return torch.ones((), dtype=torch.float64, device=tensor.device)
    return _distance(tensor, torch.zeros_like(tensor) if before is None else before)


def _alike(one: Outcome, other: Outcome) -> bool:
    return one.none == other.none and [_form(t) for t in one.tensors] == [_form(t) for t in other.tensors]


def _form(tensor: Any) -> Tuple[Any, ...]:
    return (tensor.shape, tensor.dtype, tensor.device)


def _distance(a: Any, b: Any) -> Any:
    """The rms difference, as a tensor; infinite where one alone is no number. For integers 1 where any two differ."""
    import torch

    if a.numel() == 0:
        return torch.zeros((), dtype=torch.float64, device=a.device)
    if a.is_complex():
        a, b = torch.view_as_real(a), torch.view_as_real(b)
    if not a.is_floating_point():
        return (a != b).any().double()
    if a.element_size() < 4:
        a, b = a.float(), b.float()
    apart = (a - b).nan_to_num_(nan=float("inf"), posinf=float("inf"), neginf=float("-inf"))
    # Equal infinities and two that are no number lie at no distance.
    apart.masked_fill_((a == b) | (torch.isnan(a) & torch.isnan(b)), 0.0)
    return torch.linalg.vector_norm(apart).double() / math.sqrt(a.numel())
