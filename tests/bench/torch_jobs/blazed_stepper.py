"""An arm that blazed tunes: `torch.compile(..., backend="blazed")`, or `blazed.torch.train_step` where the client has it.

A process has one job of blazed as a rule. Here each arm has its own, which is put in place for the arm's turns only, and
so is the optimiser's hook that ends its steps: other arms' steps must neither end nor begin one of its.
"""
import time
from typing import Any, Callable, Dict, Optional

import torch

import arms
import jobs
from stepper import Stepper

PROBE_BYTES = 8 << 30  # the default plan's numbers are kept during a probe; these jobs leave room
EXTRA_BYTES = 32 << 30
_LOOK_STEPS = 20
_ENDINGS = {"in_job": "settled", "replicated": "settled, replicated", "no_winner": "no winner, the default stays"}


class BlazedStepper(Stepper):
    """`tune` explores, `pin` holds one plan from then on. Needs a daemon at BLAZED_SOCKET, else it runs the default."""

    def __init__(self, job: jobs.Job, arm: arms.Arm, device: str, tiny: bool = False, tune_s: float = 0.0,
                 pinned: bool = False):
        import blazed
        import blazed.torch

        self._torch = blazed.torch
        # Frozen after that time: no trial falls into what is measured then.
        mode = blazed.Mode.PINNED if pinned else blazed.tune_until(seconds=tune_s) if tune_s > 0 else blazed.Mode.TUNE
        self.job = self._torch.Job(blazed.Options(host_name=f"torch {torch.__version__}", mode=mode,
                                                  probe_memory_bytes=PROBE_BYTES, extra_memory_bytes=EXTRA_BYTES))
        self._hooks: Dict[Any, Any] = {}
        self._before: Any = None
        self._pinned: Optional[int] = None
        self._learn_hooks()
        super().__init__(job, arm, device, tiny)
        self._train_step: Optional[Callable[..., torch.Tensor]] = None
        if arm.blazed == arms.BLAZED_STEP:
            wrap = getattr(self._torch, "train_step", None)
            if wrap is None:
                raise RuntimeError("this blazed.torch has no train_step")
            self._train_step = self._wrapped(wrap)

    def _wrapped(self, wrap: Callable[..., Any]) -> Callable[..., torch.Tensor]:
        """The step as a user would write it: it names no more than what trains."""
        objective, model, optimiser = self.objective, self.made.model, self.made.optimiser

        def train(inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
            loss = objective(inputs, targets)
            loss.backward()
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
            return loss

        return wrap(train, modules=[model], optimisers=[optimiser])

    def _compiled(self, objective: Any) -> Any:
        return torch.compile(objective, backend="blazed", dynamic=False)

    # ---- its turns ----

    def _learn_hooks(self) -> None:
        """Those that the client registers when it first has a job; they leave the others' steps at once."""
        before = set(_all_hooks())
        previous = self._torch.replace_job(self.job)
        added = {key: hook for key, hook in _all_hooks().items() if key not in before}
        self._torch.replace_job(previous)
        _client_hooks.update(added)
        self._hooks = _client_hooks
        for key in added:
            _all_hooks().pop(key)

    def enter(self) -> None:
        _all_hooks().update(self._hooks)
        self._before = self._torch.replace_job(self.job)

    def leave(self) -> None:
        self._torch.replace_job(self._before)
        for key in self._hooks:
            _all_hooks().pop(key, None)

    def step(self) -> torch.Tensor:
        return (self._train_step or self.train)(*self.batch())

    def close(self) -> None:
        self.enter()
        try:
            self.job.close()
        finally:
            self.leave()

    # ---- what blazed does to it ----

    def status(self) -> Any:
        session = self.job.session
        return session.status() if session is not None else None

    def tune(self, seconds: float, looked: Callable[[int, Any], bool] = lambda step, status: False, go_on: bool = False) -> str:
        """Trains until the workload is settled (`go_on`: settled or not), `looked` says that it is enough, or the time is
        over. Why it ended, in a sentence."""
        self.enter()
        try:
            began, step = time.monotonic(), 0
            while time.monotonic() - began < seconds:
                for _ in range(_LOOK_STEPS):
                    self.step()
                step += _LOOK_STEPS
                status = self.status()
                so_far = f"after {step} steps and {time.monotonic() - began:.1f} s"
                if self.job.why_not:
                    return self.job.why_not
                if status is not None and status.state == "off":
                    return status.reason or "the session is off"
                if looked(step, status):
                    return f"enough {so_far}"
                if status is not None and status.settled and not go_on:
                    return f"{_ENDINGS.get(status.settlement, 'frozen undecided')} {so_far}"
            return f"the {seconds:.0f} s were over after {step} steps"
        finally:
            self.leave()

    def champion(self) -> int:
        """Handle of the plan that it runs outside of trials."""
        status = self.status()
        return int(status.counts.get("champion_handle", 0)) if status is not None else 0

    def report(self) -> Optional[Dict[str, Any]]:
        return self.job.session.report() if self.job.session is not None else None

    def pin(self, handle: int) -> None:
        """Steps run this plan from now on. The session is asked at each step as before, so that what asking costs is in the time;
        its answer is not followed. For the end of a session: the daemon no longer learns what really ran."""
        session = self.job.session
        if session is None:
            return
        if self._pinned is None:
            asked = session.step_begin

            def step_begin() -> int:
                asked()
                return self._pinned or 0

            session.step_begin = step_begin
            session.quiet = lambda: None  # else steps would pass without being asked for
        self._pinned = handle


_client_hooks: Dict[Any, Any] = {}


def _all_hooks() -> Dict[Any, Any]:
    from torch.optim import optimizer

    return optimizer._global_optimizer_post_hooks


class Pinned:
    """A way to run one stepper's job, as an arm of its own: the same model, one plan."""

    def __init__(self, stepper: BlazedStepper, handle: int):
        self._stepper, self._handle = stepper, handle
        self.step, self.leave = stepper.step, stepper.leave

    def enter(self) -> None:
        self._stepper.enter()
        self._stepper.pin(self._handle)

    def close(self) -> None:
        pass


def start(job: jobs.Job, arm: arms.Arm, device: str, tiny: bool = False, tune_s: float = 0.0,
          pinned: bool = False) -> BlazedStepper:
    return BlazedStepper(job, arm, device, tiny, tune_s, pinned)
