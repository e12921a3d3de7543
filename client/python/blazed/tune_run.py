"""The end of a run that was started to tune: `python -m blazed tune SCRIPT --for 10m`.

A session asks at the end of a step, twice a second, whether its time is over or its workload settled, and then raises
Tuned into the training loop; a script that asks tuned() itself is left to end by itself. Without such a run a step
does nothing of this.

Thread: the session's.
"""
import time
from typing import Any, Callable, Optional

from . import current

_BETWEEN_LOOKS_S = 0.5


class Tuned(SystemExit):
    """Tuning is done: a SystemExit of code 0, so that a script's `finally` runs and its `except Exception` does not.
    A script may catch it, to save a checkpoint and end."""

    def __init__(self, sentence: str):
        super().__init__(0)
        self.sentence = sentence

    def __str__(self) -> str:
        return self.sentence


class Run:
    """`seconds` from the first attach on; `until_settled`: end as soon as nothing is left to explore."""

    def __init__(self, seconds: float, until_settled: bool = True, clock: Callable[[], float] = time.monotonic):
        self.seconds = seconds
        self.until_settled = until_settled
        self.sentence = ""  # why it is done; empty: it is not
        self.status: Any = None
        self.report = ""
        self.asked = False  # the script asks by itself
        self._clock = clock
        self._ends: Optional[float] = None
        self._next_look = 0.0

    def begin(self) -> None:
        if self._ends is None:
            self._ends = self._clock() + self.seconds

    def done(self, session: Any) -> bool:
        now = self._clock()
        if self.sentence or now < self._next_look:
            return bool(self.sentence)
        self._next_look = now + _BETWEEN_LOOKS_S
        if self.until_settled and session is not None and session.status().settled:
            self.sentence = "nothing is left to explore"
        elif self._ends is not None and now >= self._ends:
            self.sentence = f"the {self.seconds:g} seconds are over"
        return bool(self.sentence)


run: Optional[Run] = None


def tuned() -> bool:
    """True where nothing is left to do for a script that only runs to be tuned: its time is over, or the workload is
    settled. On the session's thread; asked in each step it costs some microseconds outside of a run."""
    session = current.session()
    if run is not None:
        run.asked = True
        return run.done(session)
    return session is not None and session.status().settled


def watch(session: Any) -> None:
    """Puts the question behind the steps of a session that just attached."""
    if run is None:
        return
    watching, end = run, session.step_end
    watching.begin()

    def step_end(flags: int = 0) -> None:
        end(flags)
        if not watching.asked and watching.done(session):
            raise Tuned(watching.sentence)

    session.step_end = step_end


def ending(session: Any) -> None:
    """Before a session closes: its last picture and report are what the run's summary is made of."""
    if run is not None:
        run.status = session.status()
        run.report = session.report_json() or run.report
