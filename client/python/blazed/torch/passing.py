"""Steps in which blazed is asked nothing and does nothing.

Where a session says that the coming steps need no call, a job's steps are counted and no more: no plan is asked for, no
graph looked at, nothing timed. That ends when the session's word changes, which the end of each step reads, and after so
many steps as the session named. What happens meanwhile, such as another graph that trains, is seen by the steps between
two such stretches.
"""
from threading import get_ident
from typing import Any, Optional

from ..session import Quiet

_NONE = -1  # of the values that the word can have


class Passing:
    """A stretch of such steps. Thread: the one that trains, `thread`, but for `here` and `interrupt`.

    `on` and `seen` are read and set by each step: `seen` says that a graph of the step under way has run."""

    def __init__(self) -> None:
        self.on = False
        self.seen = False
        self.thread = 0
        self._quiet: Optional[Quiet] = None
        self._left = 0  # steps
        self._value = 0  # that the word has as long as it goes on

    def begin(self, session: Any, handle: int) -> None:
        """Between steps; does nothing where the session asks for calls or means another plan than `handle`."""
        quiet = session.quiet()
        if quiet is None or quiet.handle != handle or quiet.word.value != quiet.value:
            return
        self._quiet, self._left, self._value = quiet, quiet.steps, quiet.value
        self.thread, self.seen, self.on = get_ident(), False, True

    def here(self) -> bool:
        """Whether it goes on, and this is its thread."""
        return self.on and get_ident() == self.thread

    def interrupt(self) -> None:
        """The stretch ends with the step under way. Any thread."""
        self._value = _NONE

    def step(self) -> bool:
        """A step has ended. Whether it was the stretch's last, which the caller then ends."""
        self.seen = False
        self._left = left = self._left - 1
        return left <= 0 or self._quiet.word.value != self._value

    def end(self, session: Any) -> int:
        """How many steps the stretch had, which the session is told, where there still is one."""
        if not self.on:
            return 0
        self.on = False
        steps = self._quiet.steps - self._left
        if session is not None:
            session.pass_steps(steps)
        return steps
