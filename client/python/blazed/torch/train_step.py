"""A training step as one function, so that it can be launched as a whole.

    step = blazed.torch.train_step(fn)
    loss = step(x, y)

`fn` runs forward, backward and optimiser on a batch, with no more than its arguments, modules, optimisers and tensors
to work on. Which way the step is launched is decided like everything else of its plan; see docs/pytorch.md.
"""
import functools
from typing import Any, Callable, Optional, Sequence

from ..enums import Contract
from . import hidden, identity, reach, space, updates
from .recorder import Recorder
from .static_values import detached, form_of, tensors_in
from .step_state import StepState
from .step_trial import StepTrial
from .updates import Updates
from .watched import Watch
from .whole_step import STILL_STEPS, WholeStep

_MOST_STEPS_TO_WATCH = 4 * STILL_STEPS  # before the step is described as one that is not replayed
_LOOKED_AT_CLOSELY = 2  # which step; by then the optimiser has its state
_NO_ARGUMENTS: Any = ((), {})


class TrainStep:
    """Called like the function. Results come detached: a step's graph is used up when the step has ended. Thread: the
    one that trains; on others it is the function."""

    def __init__(self, function: Callable[..., Any], modules: Sequence[Any], optimisers: Sequence[Any],
                 job: Callable[[], Any]) -> None:
        functools.update_wrapper(self, function, updated=())
        self.function = function
        self.whole: Optional[WholeStep] = None  # in force, where steps are to be replayed
        self.updates: Optional[Updates] = None  # in force, where the optimisers run otherwise than as they are
        self.why_not = ""  # one sentence, where its calls run as they are
        self.why_not_whole = ""
        self.why_not_updates = ""  # where the optimisers' updates run as they are alone
        self.recorder: Optional[Recorder] = None
        self.arguments: Any = _NO_ARGUMENTS  # of the coming step
        self._given = tuple(modules), tuple(optimisers)
        self._job = job
        self._state: Optional[StepState] = None
        self._watch: Optional[Watch] = None
        self._form: Any = None
        self._watched_steps = self._still = 0
        self._changed = self._hidden = ""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        job = self._job()
        if job.step is self and job.passing.here():
            return job.step_passes(self, args, kwargs)
        if not job.step_begins(self, args, kwargs):
            return detached(self.function(*args, **kwargs))
        try:
            result = self.run(job, args, kwargs)
        except BaseException:
            job.step_failed()
            raise
        job.step_ends(self)
        self.arguments = _NO_ARGUMENTS  # or the batch would live until the next one
        return result

    def run(self, job: Any, args: Any, kwargs: Any) -> Any:
        """As the plan in force says. Raises what the function raises."""
        whole = self.whole  # another thread may take the plan out of force
        if whole is not None:
            if whole.ready(args, kwargs):
                job.note_replay()
                return whole.replay()
            job.note_no_replay()
        if self._watched_steps == _LOOKED_AT_CLOSELY and self._state is not None:
            return self._run_looking(args, kwargs)
        ways = self.updates
        if ways is not None:
            with ways.in_place():
                return detached(self.function(*args, **kwargs))
        return detached(self.function(*args, **kwargs))

    # ---- what the job asks, between steps ----

    def watch(self) -> None:
        """After a step that ran as it is, before the job is described."""
        try:
            self._look()
        except Exception as error:  # a step that blazed cannot look into is one that is not replayed
            self.why_not_whole = f"what the step uses could not be looked at ({type(error).__name__}: {error})"

    def enough(self) -> bool:
        """Whether so many steps have been seen that the job can be described."""
        return bool(self.why_not_whole or self._hidden) or self._still >= STILL_STEPS or self._watched_steps >= _MOST_STEPS_TO_WATCH

    def offers_whole_step(self, recorder: Optional[Recorder]) -> bool:
        """Decided where the job is described; why_not_whole says why not."""
        self.recorder = recorder
        self.why_not_whole = self.why_not_whole or self._why_no_recording(recorder) or self._why_no_trial()
        return not self.why_not_whole

    def offered_updates(self) -> Optional[space.Decision]:
        """How the optimisers run; None where they run as they are alone, and why_not_updates says why."""
        self.why_not_updates = self.why_not_updates or self._why_no_trial() or updates.why_not(self._state.found.optimisers)
        return None if self.why_not_updates else updates.decision(self._state.found.optimisers)

    def new_updates(self, way: str) -> Updates:
        """Of a plan that asks for this way. The optimisers are those that the step reaches by now. Raises ValueError, one
        sentence, where the way is not offered for them."""
        optimisers = self._reached().found.optimisers
        sentence = updates.why_not(optimisers)
        if not sentence and way not in updates.decision(optimisers).options:
            sentence = f"the optimisers that the step uses by now cannot run {way}"
        if sentence:
            raise ValueError(sentence)
        return Updates(optimisers, way)

    def trial(self) -> StepTrial:
        job = self._job()
        return StepTrial(self.function, self._reached, self.recorder, job.quiet, job.options.contract == Contract.BITWISE)

    def new_whole_step(self, ways: Optional[Updates] = None) -> WholeStep:
        """Of a plan that asks for one; to be recorded under it, the updates too."""
        job = self._job()
        return WholeStep(self.function, self._reached, self.recorder, job.quiet, job.options.contract == Contract.BITWISE,
                         ways)

    def fingerprint(self) -> bytes:
        """16 bytes: of a step none of whose graphs was captured, equal in every process."""
        parts: list = [getattr(self.function, "__qualname__", type(self.function).__name__)]
        if self._state is not None:
            parts += [(type(part).__name__,) for part in self._state.parts()]
            parts += [type(optimiser).__name__ for optimiser in self._state.found.optimisers]
            parts += [(tuple(p.shape), str(p.dtype), p.device.type) for p in self._state.trained()]
        parts += [(tuple(t.shape), str(t.dtype)) for t in tensors_in(self.arguments)]
        return identity.digest("step", *parts)

    def device(self) -> str:
        """Type of the device that it trains on."""
        trained = self._state.trained() if self._state is not None else []
        return trained[0].device.type if trained else "cpu"

    # ---- its own ----

    def _run_looking(self, args: Any, kwargs: Any) -> Any:
        self._watched_steps += 1
        versions = hidden.Versions()
        known = self._memory(args, kwargs)
        result = detached(self.function(*args, **kwargs))
        written = versions.written(known + self._memory(args, kwargs))
        if written:
            self._hidden = (f"the step writes to a tensor of shape {tuple(written[0].shape)} that is in no module, "
                            "optimiser or variable that it names")
        return result

    def _memory(self, *arguments: Any) -> list:
        gradients = [p.grad for p in self._state.trained() if p.grad is not None]
        return [t for _, t in self._state.tensors()] + gradients + tensors_in(arguments)

    def _reached(self) -> StepState:
        found = reach.of(self.function, *self._given)
        found.aside = reach.beside(found, hidden.schedulers_of(found.optimisers) + hidden.hooks_of(StepState(found)))
        return StepState(found)

    def _look(self) -> None:
        if self._state is None:
            self._state = self._reached()
            self._watch = Watch(self._state)
        self._watched_steps += 1
        form = form_of(*self.arguments)
        changed = self._watch.changed() or ("" if form == self._form or self._form is None else "an argument's form")
        self._form = form
        self._still = 0 if changed else self._still + 1
        if changed:
            self._changed = changed
            self._watch.note()

    def _why_no_recording(self, recorder: Optional[Recorder]) -> str:
        if recorder is None:
            return "steps are replayed on NVIDIA GPUs alone"
        devices = self._devices()
        return ("the step trains on another device than PyTorch's current one"
                if len(devices) == 1 and not recorder.records_on(*devices) else "")

    def _why_no_trial(self) -> str:
        """Where the step cannot be run without leaving a trace."""
        if self._state is None:
            return "what the step uses could not be looked at"
        found = self._state.found
        if not found.modules:
            return "no module was found in what the step uses; name it: train_step(fn, modules=[...])"
        if not found.optimisers:
            return "no optimiser was found in what the step uses; name it: train_step(fn, optimisers=[...])"
        if len(self._devices()) != 1:
            return "the step trains on several devices"
        if found.streams:
            return (f"the step uses {found.streams[0]}, which a replay would not: hand the batch to the step as an "
                    "argument, and keep input and output outside")
        if any(t.grad_fn is not None for _, t in self._state.tensors()):
            return "the step uses a tensor that has a graph of its own outside it"
        return self._hidden or (frozen(self._changed) if self._still < STILL_STEPS else "")

    def _devices(self) -> set:
        return {p.device for p in self._state.trained()}


def frozen(name: str) -> str:
    """Why a step is not replayed where this value changes all the time."""
    if name == "lr":
        return "lr is a Python number that changes from step to step; give a tensor lr and capturable=True"
    return f"{name} changes from step to step, which a replay would not see"
