"""Calls of the job's graphs on other threads than its own: an evaluation, a data loader, a server.

Such a call must not meet a plan that has yet to be proven, nor one that is being put in place of another, and which
plan is in force is one for all threads. So a graph that another thread has called is not tuned: where it was, its first
such call waits for the end of what is being built or probed, puts the default back, and ends the session; one that was
not described has nothing but its default.

A backward pass runs on threads of the framework's, and what it computes again is a part of the job's step.
"""
import threading
from typing import Any, Callable, Collection, Set

_PATIENCE_S = 10
SEVERAL_THREADS = "a compiled graph is called on several threads, and plans are tried on one"


class Elsewhere:
    """`turn` is held by the job's thread wherever the session may build, probe or change the plan. Thread: `note` and
    `give_way` those of the calls, the rest the job's."""

    def __init__(self) -> None:
        self.turn = threading.Lock()
        self.graphs: Set[int] = set()  # by number
        self._since = False

    def note(self, graph: int) -> None:
        """Before anything is asked of the job: whichever looks second, the job's thread or this one, sees the other."""
        self.graphs.add(graph)
        self._since = True

    def give_way(self, host: Callable[[], Any], in_step: bool) -> None:
        """The default is in force when this returns, and the job's thread never changes that: it asks `met` first.
        `in_step`: that thread checks a step of the script, which may itself wait for this call."""
        came = self.turn.acquire(timeout=_PATIENCE_S if in_step else -1)
        try:
            found = host()
            if found is not None:
                found.give_way()
        finally:
            if came:
                self.turn.release()

    def met(self, graphs: Collection[int]) -> bool:
        """Whether one of these was ever called elsewhere."""
        return bool(self.graphs) and not self.graphs.isdisjoint(graphs)

    def since(self) -> bool:
        """Whether any graph was called elsewhere since the last question: the step in between is no fair sample."""
        found, self._since = self._since, False
        return found


def in_backward() -> bool:
    """Whether this thread runs a part of some backward pass."""
    import torch

    return bool(torch._C._current_graph_task_id() != -1)
