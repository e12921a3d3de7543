"""A job that never trains: each call of a graph without a backward pass is a step, or each call of the function that
the script hands to forward_step.

What is different from training: nothing says that a job will not train later, and then its steps are those of
training.
"""
import functools
from typing import Any, Callable, Optional

CALLS_TO_KNOW = 16  # of one graph in a row, before the job is described
_CALLS_TO_SAY_WHY = 256
_DIFFERENT = ("calls run different graphs in turn, so that none of them is a step; hand the function that makes them to "
              "blazed.torch.forward_step, or make one graph of the model by torch.compile(..., fullgraph=True)")
_STEPS_DIFFER = "calls of the function given to forward_step do not run the same compiled graphs each time"


class Forward:
    """Thread: the job's."""

    def __init__(self) -> None:
        self.seen = False  # a call was taken for a step
        self.step: Optional["ForwardStep"] = None  # where the job hands its calls over
        self.given_up = False  # calls are no steps any more
        self.before = ""  # why the job was not tuned before the first such call
        self._calls = 0

    def why_not(self, before: str, agree: bool) -> str:
        """Of the job, at a call before it is described."""
        if not self.seen:
            self.seen, self.before = True, before
        self._calls += 1
        if agree:
            return "" if before in (_DIFFERENT, _STEPS_DIFFER) else before
        sentence = _STEPS_DIFFER if self.step is not None else _DIFFERENT
        return before or (sentence if self._calls > _CALLS_TO_SAY_WHY else "")

    def hand_over(self, step: "ForwardStep") -> None:
        self.step, self._calls = step, 0


class ForwardStep:
    """Called like the function. Thread: the one that compiles; on others it is the function."""

    def __init__(self, function: Callable[..., Any], job: Callable[[], Any]) -> None:
        functools.update_wrapper(self, function, updated=())
        self.function = function
        self._job = job

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        job = self._job()
        if not job.forward_step_begins(self):
            return self.function(*args, **kwargs)
        returned = False
        try:
            results = self.function(*args, **kwargs)
            returned = True
        finally:
            job.forward_ended(returned)
        return results
