"""Whether replays of a recorded step do what the step does.

One step would not show a value that the recording froze and the step moves, such as a learning rate that a schedule
inside it lowers. So several in a row are run as they are, again and again, to know what the step itself leaves to
chance, and then replayed, each time from the same state; results, state, gradients, random state and values of Python
are compared.

A step that comes to the same bits each time has to be replayed to the same bits under a contract that asks for them.
Else it is judged by how far runs lie apart, in rms and as a share of how far the tensor moved: the step's own runs, of
the tensor itself or what is usual among its tensors, up to a sixteenth of what the step moves. Sums by atomics end in
another order each time, or only where they lie in other memory or other work comes before them; so half of the runs
happen elsewhere, and where a replay still stands out, one run begins from parameters that are off in their last bit.
Which tensors chance touches differs from run to run, and now and then one is touched as never before. A replay that is
another step lies apart every time, so that what seems to differ is replayed again, and the step run again beside it.

Updates that run otherwise (updates.py) round otherwise too, and an optimiser's corrections amplify it: `rounds` is the
share that they may differ by in any case.

Some tensors say nothing: the bias of an attention's keys has no gradient but rounding, from which Adam makes whole
steps. A step most of whose tensors are such is refused.
"""
import contextlib
import math
from typing import Any, Callable, ContextManager, List, Tuple

from ..log import logger
from . import host_values
from .snapshot import RandomState, Snapshot
from .static_values import detached
from .step_state import StepState

STEPS = 3
_MORE_RUNS = 3  # beside the first
_REPLAYS = 3  # at most
_TIMES_OWN_SPREAD = 4.0
_MOST = 1 / 16
_TOLD = 3  # tensors that the log names


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


class _Comparison:
    """`own`: of each tensor, how far runs of the step lay from the first at most; `least`: how far replays did at least.
    Both as a share of how far the first moved it."""

    def __init__(self, first: Outcome, snapshot: Snapshot, rounds: float) -> None:
        self.first = first
        self._rounds = rounds
        self.moved = [_moved(tensor, snapshot.kept(origin)) for tensor, origin in zip(first.tensors, first.origins)]
        self.own = [0.0] * len(self.moved)
        self.least = [math.inf] * len(self.moved)

    def ran(self, again: Outcome) -> bool:
        """Whether it left the same kinds of things."""
        alike = _alike(self.first, again)
        if alike:
            self.own = list(map(max, self.own, _apart(self.first, again, self.moved)))
        return alike

    def replayed(self, replay: Outcome) -> None:
        self.least = list(map(min, self.least, _apart(self.first, replay, self.moved)))

    def beyond(self) -> List[int]:
        """Places of the tensors that chance does not explain."""
        touched = sorted(share for share in self.own if share > 0)
        usual = touched[len(touched) // 2] if touched else 0.0
        borrowed = min(_TIMES_OWN_SPREAD * usual, _MOST)
        found = [n for n, (share, spread) in enumerate(zip(self.least, self.own))
                 if share > max(_TIMES_OWN_SPREAD * spread, borrowed, self._rounds)]
        mute = sum(_TIMES_OWN_SPREAD * spread > 1 for spread in self.own)
        return found or (list(range(len(self.own))) if 2 * mute > len(self.own) else [])


def differing(state: StepState, snapshot: Snapshot, run: Callable[[], Any], replay: Callable[[], Any],
              exact: bool = True, elsewhere: Callable[[], ContextManager[Any]] = contextlib.nullcontext,
              rounds: float = 0.0) -> int:
    """How many tensors lie further from the step's own than its runs do from one another, and values that are others.
    `exact`: a step that repeats its bits has to be replayed to them; `elsewhere`: a context in which the step finds
    other memory; `rounds`: as a share of how far the steps moved a tensor. The state is put back. Raises what `run` and `replay` raise."""
    def ran_again(there: bool = False, before: Callable[[], None] = lambda: None) -> bool:
        before()
        with elsewhere() if there else contextlib.nullcontext():
            alike = compared.ran(Outcome(state, run, kept=False))
        snapshot.restore()
        return alike

    try:
        compared = _Comparison(Outcome(state, run, kept=True), snapshot, rounds)
        snapshot.restore()
        if not all(ran_again(there=number % 2 == 0) for number in range(_MORE_RUNS)):
            return 1  # the step itself leaves other things from run to run
        beyond: List[int] = []
        for replays in range(_REPLAYS):
            if replays > 0 and not ran_again(there=True):
                return 1
            if replays == 1 and not exact and not ran_again(before=lambda: _jolt(state)):
                return 1
            replayed = Outcome(state, replay, kept=False)
            others = host_values.differences(compared.first.plain, replayed.plain)
            others += (compared.first.random != replayed.random) + (not _alike(compared.first, replayed))
            if others:
                return others
            compared.replayed(replayed)
            snapshot.restore()
            beyond = compared.beyond()
            if not beyond:
                return 0
        _tell(state, compared, beyond)
        return len(beyond)
    finally:
        snapshot.restore()


def _jolt(state: StepState) -> None:
    """Moves each number of the parameters by its last bit. Narrower types stay: there a bit is a step of training."""
    import torch

    with torch.no_grad():
        for parameter in state.trained():
            if parameter.is_floating_point() and parameter.element_size() >= 4:
                signs = torch.arange(parameter.numel(), device=parameter.device).mul_(0x9E3779B1).bitwise_right_shift_(16)
                off = (signs.bitwise_and_(1) * 2 - 1).to(parameter.dtype).mul_(torch.finfo(parameter.dtype).eps)
                parameter.addcmul_(parameter, off.view(parameter.shape))


def _tell(state: StepState, compared: _Comparison, beyond: List[int]) -> None:
    names = {id(tensor): name for name, tensor in state.tensors()}
    worst = sorted(beyond, key=lambda n: -compared.least[n])[:_TOLD]
    told = [f"{names.get(id(compared.first.origins[n]), 'a result or gradient')} by {compared.least[n]:.2g} of its "
            f"movement where the step's own runs differ by {compared.own[n]:.2g}" for n in worst]
    logger.info("replays differ from the step in %d tensors: %s", len(beyond), "; ".join(told))


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
