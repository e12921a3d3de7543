"""Tells the daemon what a settled plan runs, and what the default: one step of each under a profiler, once.

Both are steps of the job, the first under the default plan, which is right for every step. Neither is a sample, and
none is taken while plans are timed. Where no profiler may look, what the compiler says of its kernels is told alone.
"""
from typing import Any, Dict, Optional

from ..enums import Result, StepFlag
from ..kernels import StepKernels
from ..log import logger
from . import kernel_facts, step_profile

_STEPS_BEFORE = 8    # of the plan, between the question and the first look
_STEPS_BETWEEN = 64  # looks at whether plans are timed, while they are: a look takes some microseconds
_MOST_LOOKS = 6      # at steps that turn out to be no common ones
_MOST_ANSWERS = 8    # of a session


class Explainer:
    """One of a session. Thread: the one that trains."""

    def __init__(self, host: Any, session: Any, device: str) -> None:
        self._host = host
        self._session = session
        self._device = device
        self._answers = 0
        self._start_over(0)

    def _start_over(self, handle: int) -> None:
        self._handle = handle  # whose kernels are wanted
        self._wait = _STEPS_BEFORE
        self._looks = 0
        self._seen: Dict[int, StepKernels] = {}
        self._profile: Optional[step_profile.StepProfile] = None
        self._under = 0  # the plan of the step that is looked at

    def begins(self, handle: int) -> int:
        """Before each step that will run `handle`, while the host was asked. May have it run the default, and gives the
        flags that this makes."""
        try:
            return self._begins(handle)
        except Exception as error:
            self._give_up(error)
            return StepFlag.PROFILER

    def ends(self, flags: int) -> int:
        """After a step with these flags; gives more."""
        if self._profile is None:
            return 0
        try:
            self._ends(flags)
        except Exception as error:
            self._give_up(error)
        return StepFlag.PROFILER

    def abandon(self) -> None:
        """The step that is looked at does not end."""
        profile, self._profile = self._profile, None
        if profile is not None:
            profile.abandon()

    # ---- its own ----

    def _begins(self, handle: int) -> int:
        self.abandon()
        if self._host.wanted != self._handle:
            self._start_over(self._host.wanted)
        if handle != self._handle or self._waits():
            return 0
        if self._answers == _MOST_ANSWERS:
            self._host.wanted = 0
            return 0
        reason = step_profile.why_not(self._device) if self._looks == 0 else ""
        if reason:
            logger.debug("no step is looked at: %s", reason)
            self._tell(StepKernels(), StepKernels())
            return 0
        self._look_at(handle if 0 in self._seen else 0)
        return StepFlag.PROFILER

    def _waits(self) -> bool:
        self._wait -= 1
        if self._wait > 0:
            return True
        if self._session.in_unit():
            self._wait = _STEPS_BETWEEN
            return True
        return False

    def _look_at(self, plan: int) -> None:
        self._looks += 1
        self._under = plan
        if self._host.latched != plan:
            self._host.latch(plan)
        profile = step_profile.StepProfile(self._device, self._host.built(plan), getattr(self._host, "drain", None))
        profile.begin()
        self._profile = profile

    def _ends(self, flags: int) -> None:
        profile, self._profile = self._profile, None
        step = profile.end()
        if flags & ~StepFlag.PROFILER or self._host.latched != self._under:  # none like others
            if self._looks >= _MOST_LOOKS:
                self._tell(StepKernels(), StepKernels())
            return
        self._seen[self._under] = step
        if self._under:
            self._tell(self._seen[0], step)

    def _tell(self, before: StepKernels, after: StepKernels) -> None:
        """Of a side without kernels what the compiler says."""
        handle, self._host.wanted = self._handle, 0  # to be asked again is to be asked anew
        self._answers += 1
        sides = []
        for plan, step in ((0, before), (handle, after)):
            facts = kernel_facts.of(self._host.built(plan))
            sides.append(kernel_facts.joined(step, facts) if step.kernels else kernel_facts.alone(facts))
        result = self._session.give_kernels(handle, *sides)
        if result != Result.OK:
            logger.debug("the kernels of a plan were not taken: %s", result.name)

    def _give_up(self, error: Exception) -> None:
        """What fails here is none of the job's business."""
        logger.debug("the kernels of a plan are not told", exc_info=error)
        self.abandon()
        self._host.wanted = 0
