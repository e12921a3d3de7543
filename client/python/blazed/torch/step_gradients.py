"""Gradients at the two ends of a recorded step.

A recording writes gradients to memory of its own. Where a step leaves them to its caller, `.grad` has to name that
memory after a replay; what a step finds in `.grad` at its begin is part of what was recorded.
"""
import operator
from typing import Any, List, Sequence

_GRAD = operator.attrgetter("grad")


def now(trained: Sequence[Any]) -> List[Any]:
    return list(map(_GRAD, trained))


class StepGradients:
    """`before` and `after`: the gradients of `trained` around a run of the step, which tell how it treats what it
    finds: adds to it in place, finds none, or makes its own."""

    def __init__(self, trained: Sequence[Any], before: Sequence[Any], after: Sequence[Any]) -> None:
        self._trained = list(trained)
        self._found = [a if a is b else None for a, b in zip(before, after)]
        # What it makes anew whatever it finds, nobody needs to look at.
        looked_at = [i for i, (a, b) in enumerate(zip(before, after)) if a is None or a is b]
        self._looked_at = [self._trained[i] for i in looked_at]
        self._expected = [self._found[i] for i in looked_at]
        self._left: List[Any] = [None] * len(self._trained)

    def prepare(self) -> None:
        """As a recording shall find them. The caller puts them back afterwards."""
        for parameter, found in zip(self._trained, self._found):
            parameter.grad = found

    def clear(self) -> None:
        """What the caller of a step does between two, where it takes the gradients away."""
        for parameter, expected in zip(self._looked_at, self._expected):
            if expected is None:
                parameter.grad = None

    def note_left(self) -> None:
        """After the recording: what replays will leave."""
        self._left = now(self._trained)

    def fit(self) -> bool:
        """Whether a replay would find what the recording found."""
        return all(map(operator.is_, map(_GRAD, self._looked_at), self._expected))

    def hand_over(self) -> None:
        """After a replay. Most often the latest one's are still in place."""
        if not self._trained or self._trained[0].grad is self._left[0] and not self._looked_at:
            return
        for parameter, left in zip(self._trained, self._left):
            if parameter.grad is not left:
                parameter.grad = left
