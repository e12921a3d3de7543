"""A job that never trains: each call of a graph without a backward pass is a step.

What is different from training: nothing says that a job will not train later, and then its steps are those of
training; and such a graph may be called on several threads, which a plan that has yet to be proven must not reach.
"""
import threading
from typing import Any

CALLS_TO_KNOW = 16  # of one graph in a row, before the job is described
_CALLS_TO_SAY_WHY = 256
_DIFFERENT = ("calls run different graphs in turn, so that none of them is a step; torch.compile(..., fullgraph=True) "
              "makes one graph of a model")
SEVERAL_THREADS = "the compiled graph is called on several threads, and plans are tried on one"


class Forward:
    """Thread: the job's, but for give_way."""

    def __init__(self) -> None:
        self.seen = False  # a call was taken for a step
        self.given_up = False  # calls are no steps any more
        self.other_threads = False
        self.before = ""  # why the job was not tuned before the first such call
        self.turn = threading.Lock()  # held in a step, with its builds and probes
        self._calls = 0

    def why_not(self, before: str, agree: bool) -> str:
        """Of the job, at a call before it is described."""
        if not self.seen:
            self.seen, self.before = True, before
        self._calls += 1
        if agree:
            return "" if before == _DIFFERENT else before
        return before or (_DIFFERENT if self._calls > _CALLS_TO_SAY_WHY else "")

    def give_way(self, host: Any) -> None:
        """On any other thread, before it calls a graph: from here on that runs its default. May wait for a build, once;
        the job's own thread ends the session at its next call."""
        self.other_threads = True
        with self.turn:
            if host is not None:
                host.latch(0)
