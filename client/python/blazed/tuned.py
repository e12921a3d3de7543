"""The end of a run that was started to tune: `python -m blazed tune SCRIPT --for 10m`.

A session asks at the end of a step, twice a second, whether its time is over or its workload settled, and then raises
Tuned into the training loop. Without such a run nothing here does anything.

Thread: the session's.
"""
import time
from typing import Any, Callable, Optional

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
        self.clock = clock
        self.ends: Optional[float] = None
        self.next_look = 0.0
        self.sentence = ""
        self.status: Any = None
        self.report = ""

    def begin(self) -> None:
        if self.ends is None:
            self.ends = self.clock() + self.seconds

    def look(self, session: Any) -> None:
        """Raises Tuned where the run is done."""
        now = self.clock()
        if now < self.next_look:
            return
        self.next_look = now + _BETWEEN_LOOKS_S
        status = session.status()
        if self.until_settled and status.settled:
            self.sentence = "the workload is settled"
        elif self.ends is not None and now >= self.ends:
            self.sentence = f"the {self.seconds:g} seconds are over"
        else:
            return
        raise Tuned(self.sentence)


run: Optional[Run] = None


def watch(session: Any) -> None:
    """Puts the question behind the steps of a session that just attached."""
    if run is None:
        return
    watching, end = run, session.step_end
    watching.begin()

    def step_end(flags: int = 0) -> None:
        end(flags)
        watching.look(session)

    session.step_end = step_end


def ending(session: Any) -> None:
    """Before a session closes: its last picture and report are what the run's summary is made of."""
    if run is not None:
        run.status = session.status()
        run.report = session.report_json() or run.report
