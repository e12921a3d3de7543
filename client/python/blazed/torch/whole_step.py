"""A step recorded once under one plan and replayed: forward, backward and optimiser as one launch.

Runs that prepare the recording happen on a snapshot of the job's state that is put back. Before every replay what the
recording froze is looked at; where a value is another one, that step runs as it would without a recording, and the
recording is made again once the values have held still, and compared again.
"""
import contextlib
from typing import Any, Callable, ContextManager, Optional, Tuple

from ..host import BuildFailed
from ..log import logger
from . import snapshot, step_gradients, step_probe
from .recorder import Recorder, Recording, RecordingFailed, sentence_of
from .static_values import StaticInputs, StaticResults
from .step_state import StepState
from .step_trial import look_for_room
from .updates import ROUNDS, Updates
from .watched import Watch

STILL_STEPS = 8  # in a row without a change, before a value counts as constant
_WARM_RUNS = 3
_MOST_RECORDINGS = 16  # of one plan; a job whose values go on changing is better off without


class WholeStep:
    """`look`: says anew what the step reaches. `quiet`: a context in which runs of the step are none of the job's steps.
    `exact`: the job asks for equal bits. `updates`: of the optimisers, where they are recorded otherwise than as they are.
    Thread: the one that trains."""

    def __init__(self, function: Callable[..., Any], look: Callable[[], StepState], recorder: Recorder,
                 quiet: Callable[[], ContextManager[None]], exact: bool, updates: Optional[Updates] = None) -> None:
        self.function = function
        self._updates = updates
        self._exact = exact
        self.state = look()
        self.given_up = ""  # one sentence, where it is not recorded any more
        self._look = look
        self._recorder = recorder
        self._quiet = quiet
        self._recording: Optional[Recording] = None
        self._inputs: Optional[StaticInputs] = None
        self._results: Optional[StaticResults] = None
        self._gradients: Optional[step_gradients.StepGradients] = None
        self._watch: Optional[Watch] = None
        self._made = self._still = 0
        self._unfit = 0  # steps in a row that were other than the recorded one

    @property
    def replayed(self) -> bool:
        """Whether steps under this plan are replayed, but for those that are flagged."""
        return not self.given_up

    # ---- a step ----

    def ready(self, args: Tuple[Any, ...], kwargs: Any) -> bool:
        """Whether this step may be replayed; its arguments are then in place. May record anew, where what changed has
        held still since."""
        if self.given_up:
            return False
        try:
            return self._ready(args, kwargs)
        except Exception as error:  # blazed never ends a job
            self._give_up(error.sentence if isinstance(error, BuildFailed) else sentence_of(error))
            return False

    def _ready(self, args: Tuple[Any, ...], kwargs: Any) -> bool:
        if self._recording is None and not self._again(args, kwargs):
            return False
        changed = self._watch.changed()
        if not changed:
            if self._gradients.fit() and self._inputs.copy_in(args, kwargs):
                self._unfit = 0
                return True
            self._unfit += 1
            if self._unfit < STILL_STEPS:
                return False  # one of another size, as the last batch of an epoch
            changed = "the form of the arguments"
        self._void(changed)
        return False

    def replay(self) -> Any:
        """After ready(). The results are the caller's."""
        self._recording.replay()
        self._gradients.hand_over()
        return self._results.copy_out()

    # ---- recording ----

    def record(self, args: Tuple[Any, ...], kwargs: Any) -> None:
        """Raises blazed.BuildFailed; the job's state is then as it was."""
        try:
            inputs = StaticInputs(args, kwargs, self._recorder.device)
        except ValueError as why:
            raise BuildFailed(str(why)) from None
        self.release()
        self.state = self._look()
        look_for_room(self.state, self._recorder, inputs.size())
        kept = snapshot.Snapshot(self.state)
        try:
            with self._quiet(), kept.versions_kept():
                try:
                    self._record(kept, inputs)
                finally:
                    kept.restore()
        except RecordingFailed as why:
            raise BuildFailed(str(why), memory=why.memory) from None
        except Exception as error:
            memory = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"
            raise BuildFailed(sentence_of(error), memory=memory) from error
        self._inputs = inputs
        self._made += 1
        self._still = self._unfit = 0
        self._watch = Watch(self.state)

    def _record(self, kept: snapshot.Snapshot, inputs: StaticInputs) -> None:
        args, kwargs = inputs.arguments()
        trained = self.state.trained()
        before = step_gradients.now(trained)
        with self._recorder.aside(), self._updated():
            self.function(*args, **kwargs)
            gradients = step_gradients.StepGradients(trained, before, step_gradients.now(trained))
            for _ in range(_WARM_RUNS - 1):  # as the recording will find it: nothing is to be compiled there
                gradients.prepare()
                self.function(*args, **kwargs)
        kept.restore()
        gradients.prepare()
        results = []
        with self._updated():
            self._recording = self._recorder.record(
                lambda: results.append(StaticResults(self.function(*args, **kwargs))), self.state.found.generators)
        gradients.note_left()
        self._gradients, self._results = gradients, results[0]

    def _updated(self) -> ContextManager[None]:
        return self._updates.in_place() if self._updates is not None else contextlib.nullcontext()

    def release(self) -> None:
        """Gives the recording back."""
        recording, self._recording = self._recording, None
        self._results = self._gradients = None
        if recording is not None:
            recording.release()

    def _void(self, changed: str) -> None:
        logger.info("the recorded step is void: %s changed", changed)
        self.release()
        self._still = 0
        self._watch.note()

    def _again(self, args: Tuple[Any, ...], kwargs: Any) -> bool:
        changed = self._watch.changed()
        if changed:
            self._still = 0
            self._watch.note()
            return False
        self._still += 1
        if self._still < STILL_STEPS:
            return False
        if self._made >= _MOST_RECORDINGS:
            raise BuildFailed("values that a recording froze change too often")
        self.record(args, kwargs)
        if self.differing(args, kwargs):
            raise BuildFailed("a recording that was made anew computes something else")
        return True

    def _give_up(self, sentence: str) -> None:
        self.given_up = sentence
        self.release()
        logger.warning("the step is not replayed any more: %s", sentence)

    # ---- the check ----

    def differing(self, args: Tuple[Any, ...], kwargs: Any) -> int:
        """How many results and parts of the state replays leave otherwise than the step itself does. Between steps;
        raises BuildFailed where there is no recording and none can be made, else what the step raises."""
        if self.given_up:
            raise BuildFailed(self.given_up)
        if not self.ready(args, kwargs):
            self.record(args, kwargs)
        kept = snapshot.Snapshot(self.state)
        with self._quiet(), kept.versions_kept():
            return step_probe.differing(self.state, kept, lambda: self._as_it_is(args, kwargs),
                                        lambda: self._replayed(args, kwargs), self._exact, self._recorder.aside,
                                        0.0 if self._exact or self._updates is None else ROUNDS)

    def _as_it_is(self, args: Tuple[Any, ...], kwargs: Any) -> Any:
        # On the copies: a step may write to its arguments.
        self._inputs.copy_in(args, kwargs)
        self._gradients.clear()
        args, kwargs = self._inputs.arguments()
        return self.function(*args, **kwargs)

    def _replayed(self, args: Tuple[Any, ...], kwargs: Any) -> Any:
        self._inputs.copy_in(args, kwargs)
        self._gradients.clear()
        return self.replay()
