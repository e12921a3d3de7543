"""The training job of this process: which graphs make up a step, when one begins and ends, and the
session that says how to run it.

A step begins with the first call of one of its graphs and ends with the optimiser's step; where the job
hands its step to train_step, it begins and ends with that call. In a job that never trains each call of
a graph is one (forward.py). After a few steps of the same graphs the job is described to the daemon; from
then on every step asks the session which plan to run. What the job cannot promise to keep right is not
offered, and `why_not` says so in one sentence.
"""
import contextlib
import operator
import time
import weakref
from threading import get_ident
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

from ..enums import Regime, StepFlag
from ..log import logger
from ..options import Options
from ..session import Session
from . import job_description, launch, memory, probe, support, timing
from .elsewhere import SEVERAL_THREADS, Elsewhere, in_backward
from .explainer import Explainer
from .forward import CALLS_TO_KNOW, Forward, ForwardStep
from .graph import Graph
from .host import Fault, TorchHost
from .passing import Passing
from .train_step import TrainStep

_OFF = "blazed is off in this job: BLAZED_MODE or the job's options say so"
_STEPS_TO_LEAVE = 16  # in a row with the same other graphs, before a described workload counts as gone
_MOST_LEFT = 8  # workloads of a job: each session that ends and begins is waited for
_MOST_OTHERS = 256
_STEPS_TO_KNOW = 3  # equal ones in a row, before the job is described
_STEPS_TO_SAY_WHY = 64  # without such
_DIFFERENT = "steps run different compiled graphs from one to the next, so that there is none to describe"
_DISTURBED = ("no steps in a row are without a recompile, a profiler or a call of another graph, such as an evaluation, so "
              "that there is none to describe")
_NOTHING_TRAINS = "the optimiser steps, and no graph with a backward pass that was compiled for blazed runs before it"


class Job:
    """Made at the first graph or step. Thread: the one that trains."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.session: Optional[Session] = None
        self.host: Optional[TorchHost] = None
        self.off = support.is_off(options)
        self._why_not = _OFF if self.off else ""
        self._graphs: "weakref.WeakValueDictionary[int, Graph]" = weakref.WeakValueDictionary()  # by number
        self._captured = 0
        self.step: Optional[TrainStep] = None  # where the job hands its step over
        self._forward = Forward()
        self._elsewhere = Elsewhere()
        self._trains = False  # a graph with a backward pass was captured, or an optimiser stepped
        self._known: Dict[int, Graph] = {}  # of the described workload, by number
        self._calls = 0  # of graphs, in a step of it
        self._in_step = False
        self._aside = self.off  # what runs is none of the job's steps
        self._quiet = False  # the script's step runs for a check
        self._flags = 0
        self._stepped = 0  # optimiser's steps in this call of train_step
        self._began_ns = 0
        self._called: List[int] = []  # graphs of this step, in order
        self._in_vain = 0  # steps that did not lead to a description
        self._why_in_vain = ""  # the latest of them
        self._others: List[int] = []  # since the optimiser's latest step: graphs that train and were not described
        self._latest_others: Tuple[int, ...] = ()
        self._alike = 0  # optimiser's steps in a row with the same others
        self._left = 0  # workloads
        self._steps: List[Tuple[Tuple[int, ...], int]] = []  # what the latest ones called, and their ns
        self._sampling = probe.Sampling()
        self.passing = Passing()
        self._profiling = support.profiler_question()
        self._forked = False
        self._thread = get_ident()

    @property
    def why_not(self) -> str:
        """One sentence where nothing is tuned; empty where something is, or will be within a few steps."""
        return self._why_not or ("" if self.host is not None else self._why_not_yet())

    # ---- what the framework does ----

    def add(self, graph: Graph) -> None:
        """A graph was captured: a compile, and so a step that is no sample."""
        if self.passing.here():
            self._stop_passing()
        else:
            self.passing.interrupt()  # the session is another thread's
        if not self._captured:
            self._thread = get_ident()  # a script may have asked the job something on another one before
        self._graphs[graph.number] = graph
        self._captured += 1
        self._trains = self._trains or graph.training
        if self._aside:
            return
        self._flags |= StepFlag.RECOMPILE

    def stay_away(self, sentence: str) -> None:
        """The job is not tuned, for this reason, unless it is tuned by now."""
        if self.host is None and not self._why_not:
            self._why_not = sentence

    def next_number(self) -> int:
        return self._captured

    @property
    def graphs(self) -> List[Graph]:
        """Captured ones that somebody can still call, in order."""
        return [graph for _, graph in sorted(self._graphs.items())]

    def graph_called(self, graph: Graph, inputs: Sequence[Any]) -> None:
        """Before each call of a captured graph. May wait for a build, once, where that is on another thread."""
        if self._is_elsewhere():
            self._called_elsewhere(graph)
            return
        if self._aside or self._forked or self.passing.on and not self._mine():
            return
        try:
            self._graph_called(graph, inputs)
        except Exception as error:
            self._stand_aside(error)

    def _graph_called(self, graph: Graph, inputs: Sequence[Any]) -> None:
        if self._forward.seen and self._trains and self._mine():
            self._end_forward(self._forward.before)
        if self._in_step:
            if self.host is None:
                self._called.append(graph.number)
                graph.latest = probe.kept(inputs) if self._handed_over() else inputs
            else:
                self._while_attached(graph, inputs)
        elif self._begins_a_step(graph):
            self._called = [graph.number]
            graph.latest = inputs
            self._begin()
        else:
            self._meet_another(graph)

    def call_failed(self, graph: Graph, error: BaseException) -> Optional[Fault]:
        """After a call that raised. The plan where it may be made again: the default is in force by then. None where the
        script has to see the error; then the rest of its step runs under the default too."""
        if self.host is None or self._aside or self._is_elsewhere() or not (self._in_step or self.passing.on):
            return None
        self.passing.interrupt()
        self._flags |= StepFlag.RECOMPILE
        try:
            return self.host.fault_of_call(graph, error)
        except Exception as own:
            self._stand_aside(own)
            return None

    def call_repeated(self, fault: Fault) -> None:
        """The default could do what the plan could not."""
        if self.host is not None:
            self.host.refuse(fault)

    def forward_called(self, graph: Graph, inputs: Sequence[Any]) -> bool:
        """Before each call of a graph without a backward pass. Whether that call is a step, which forward_ended ends."""
        if not self._may_run_forward():
            self.graph_called(graph, inputs)
            return False
        return self._begun(lambda: self._forward_begins(graph, inputs))

    def forward_step_begins(self, step: ForwardStep) -> bool:
        """Before each call of a function that was handed over. Whether it is a step, which forward_ended ends."""
        return self._may_run_forward() and self._begun(lambda: self._forward_step_begins(step))

    def forward_ended(self, returned: bool) -> None:
        """After a call that is a step. `returned`: it raised nothing."""
        try:
            if returned:
                self._end()
            self._in_step = False
        except Exception as error:
            self._stand_aside(error)

    def optimiser_stepped(self) -> None:
        """After an optimiser's step."""
        passing = self.passing
        if passing.on and get_ident() == passing.thread:  # no call more than need be: that is all that such a step costs
            if self.step is not None:
                self._stepped = 1
            elif passing.seen and passing.step():
                self._stop_passing()
            return
        self._trains = True
        if self._aside or not self._mine():
            return
        if self.step is not None:
            self._stepped += self._in_step
            return
        try:
            if self._in_step:
                self._end()
            elif self._others:
                self._count_others()
            elif self.host is None:
                self._note_in_vain(_NOTHING_TRAINS)
        except Exception as error:
            self._stand_aside(error)

    # ---- what train_step does ----

    def step_begins(self, step: TrainStep, args: Any, kwargs: Any) -> bool:
        """False where this call is none of the job's steps: another function's, or of another thread."""
        try:
            return self._step_begins(step, args, kwargs)
        except Exception as error:
            self._stand_aside(error)
            return False

    def _step_begins(self, step: TrainStep, args: Any, kwargs: Any) -> bool:
        if self.step is None and self.host is None and self._mine() and not self.off:
            self.step = step
            self._in_step = False  # graphs that ran before are none of its steps
            self._steps.clear()
        if self.step is not step or self._aside or not self._mine():
            self._say_why_not(step)
            return False
        step.arguments = args, kwargs
        self._stepped = 0
        if not self._in_step:
            self._called = []
            self._begin()
        return True

    def _say_why_not(self, step: TrainStep) -> None:
        """A function that runs as it is, though it was handed over, says so."""
        told = step.why_not
        if self._aside:
            step.why_not = self._why_not or step.why_not
        elif not self._mine():
            step.why_not = "this step was called on another thread or in another process than the one that trains"
        elif self.step is not step:
            first = getattr(self.step.function, "__qualname__", type(self.step.function).__name__)
            step.why_not = f"a job has one step that is tuned as one, and {first} was handed over before"
        if step.why_not and not told and not self.off:
            logger.warning("a function given to train_step runs as it is: %s", step.why_not)

    def step_ends(self, step: TrainStep) -> None:
        """After each call. A step that adds up gradients over calls ends with the one in which the optimiser stepped."""
        if not self._stepped:
            step.why_not_whole = step.why_not_whole or "the optimiser does not step in every call of the step"
            return
        try:
            self._end()
        except Exception as error:
            self._stand_aside(error)

    def step_failed(self) -> None:
        """The script's function raised: the step is not counted."""
        self._in_step = False
        if self.host is not None:
            self.host.explainer.abandon()

    def note_replay(self) -> None:
        self._stepped = 1

    def note_no_replay(self) -> None:
        """The plan says that the step is replayed, and this one is not: it is no sample of the plan."""
        self._flags |= StepFlag.RECOMPILE

    @contextlib.contextmanager
    def quiet(self) -> Iterator[None]:
        """What runs inside is none of the job's steps."""
        before = self._aside, self._quiet
        self._aside, self._quiet = True, True
        try:
            yield
        finally:
            self._aside, self._quiet = before

    # ---- its own ----

    def _stand_aside(self, error: Exception) -> None:
        """blazed never ends a job: what fails of its own leaves the job to the framework, for good."""
        self._stop_passing()
        self._why_not = f"blazed failed and left the job to PyTorch ({type(error).__name__}: {error})"
        logger.warning("%s", self._why_not, exc_info=True)
        host, session, self.host, self._in_step, self._aside = self.host, self.session, None, False, True
        if host is not None:
            host.stand_down()
        if session is not None:
            try:
                session.close()
            except Exception:
                logger.warning("the session could not be closed", exc_info=True)

    def _not_forward(self) -> bool:
        return self._trains or self._aside or self.step is not None or self._forward.given_up

    def _is_elsewhere(self) -> bool:
        return (get_ident() != self._thread and not self._forked and not self.off and not in_backward())

    def _called_elsewhere(self, graph: Graph) -> None:
        self._elsewhere.note(graph.number)
        if graph.number in self._known:
            self.passing.interrupt()
            self._elsewhere.give_way(lambda: self.host, self._quiet)

    def _may_run_forward(self) -> bool:
        """Whether a call without a backward pass may be a step."""
        return not self._not_forward() and self._mine() and not self._in_step

    def _begun(self, begins: Callable[[], bool]) -> bool:
        began = False
        try:
            began = begins()
        except Exception as error:
            self._stand_aside(error)
        finally:
            if not began:
                self._in_step = False
        return began

    def _forward_begins(self, graph: Graph, inputs: Sequence[Any]) -> bool:
        if self._forward.step is not None or self._known and graph.number not in self._known:
            self._flags |= StepFlag.EVALUATION
            return False
        graph.latest = inputs
        return self._call_begins([graph.number])

    def _forward_step_begins(self, step: ForwardStep) -> bool:
        if self._forward.step is None:
            self._forward.hand_over(step)
            self._end_session()  # of calls of a graph by itself
            self.session = None
        if self._forward.step is not step:
            self._flags |= StepFlag.EVALUATION
            return False
        return self._call_begins([])

    def _call_begins(self, called: List[int]) -> bool:
        if not self._known:
            self._why_not = self._forward.why_not(self._why_not, self._steps_agree())
        self._called = called
        self._begin()
        return True

    def _end_forward(self, sentence: str) -> None:
        """The job's calls are no steps any more: it trains, or for the reason given."""
        self._forward.seen, self._forward.given_up = False, True
        if self.host is not None:
            self._end_session()
            self.session = None
        self._steps.clear()
        self._why_not = sentence

    # ---- steps that nothing is asked in ----

    def step_passes(self, step: TrainStep, args: Any, kwargs: Any) -> Any:
        """Result of a call of train_step in which nothing is asked."""
        self._stepped = 0
        result = step.run(self, args, kwargs)
        if self._stepped and self.passing.here() and self.passing.step():
            self._stop_passing()
        return result

    def _stop_passing(self) -> None:
        steps = self.passing.end(self.session)
        if steps and self.host is not None:
            self.host.note_passed(steps)

    def _may_pass(self) -> None:
        if self._runs_forward() or self.host is None or self.host.needs_every_step():
            return
        self.passing.begin(self.session, self.host.latched)
        if self._elsewhere.met(self._known):
            self.passing.interrupt()

    # ---- a step ----

    def _begin(self) -> None:
        self._in_step = True
        if self._profiling():
            self._flags |= StepFlag.PROFILER
        if self.host is not None:
            self._latch()
            return
        self._began_ns = time.monotonic_ns()
        if not self._why_not and self._steps_agree() and (self.step is None or self.step.enough()):
            self._describe()
            if self.host is not None:
                self._latch()

    def _latch(self) -> None:
        with self._elsewhere.turn:
            if not self._elsewhere.met(self._known):
                self._latch_in_turn()
                return
        self._end_for_others()

    def _latch_in_turn(self) -> None:
        try:
            handle = self.session.step_begin()
        except BaseException:  # an order to end, after which a script may go on: with a step whose plan was not said
            self.host.latch(0)
            self._flags |= StepFlag.RECOMPILE
            raise
        self.host.latch(handle)
        if self.host.wanted:
            self._flags |= self.host.explainer.begins(handle)

    def _end_for_others(self) -> None:
        """Another thread called what is tuned here, and has put the default in place."""
        self._why_not = SEVERAL_THREADS
        self._end_session()
        self.session = None

    def _end(self) -> None:
        self._in_step = False
        flags, self._flags = self._flags, 0
        if self._profiling():
            flags |= StepFlag.PROFILER
        if self._elsewhere.since():
            flags |= StepFlag.EVALUATION
        if self.host is not None:
            self._end_attached(flags)
            return
        if self.step is not None:
            self.step.watch()
        if not flags and (self._called or self.step is not None):
            self._steps.append((tuple(self._called), time.monotonic_ns() - self._began_ns))
            del self._steps[:-self._steps_to_know()]
        if not self._runs_forward():
            self._note_in_vain(_DISTURBED if flags else _DIFFERENT)

    def _note_in_vain(self, sentence: str) -> None:
        self._in_vain, self._why_in_vain = self._in_vain + 1, sentence

    def _why_not_yet(self) -> str:
        """Before the job is described."""
        if not self._captured and self.step is None:
            return support.why_no_graph()
        if self._in_vain > _STEPS_TO_SAY_WHY:
            return self._why_in_vain
        return SEVERAL_THREADS if self._elsewhere.graphs and not self._in_vain and not self._forward.seen else ""

    def _end_attached(self, flags: int) -> None:
        flags |= self.host.explainer.ends(flags)
        with self._elsewhere.turn:
            if not self._elsewhere.met(self._known):
                self.host.note_run()
                self.session.step_end(flags)
        if self._others or self._alike:
            self._count_others()
        else:
            self._may_pass()

    def forked(self) -> None:
        """In a child process, which the session does not follow. Its graphs are not left to a plan that was being tried
        when it was made, on whatever thread."""
        self._forked = True
        self.passing.on = False
        if self.host is not None:
            self.host.stand_down()

    def _handed_over(self) -> bool:
        """A step may begin before its first graph is called, and is then probed on an earlier one's inputs."""
        return self.step is not None or self._forward.step is not None

    def _mine(self) -> bool:
        return not self._forked and get_ident() == self._thread

    def _begins_a_step(self, graph: Graph) -> bool:
        if self.step is not None or not graph.training or not self._mine():
            return False
        return not self._known or graph.number in self._known

    def _while_attached(self, graph: Graph, inputs: Sequence[Any]) -> None:
        if graph.number not in self._known:
            self._meet_another(graph)
        elif (self._handed_over() or graph.number != self._called[0]) and self._sampling.wanted(self.session):
            graph.latest = probe.kept(inputs)

    def _meet_another(self, graph: Graph) -> None:
        """A graph that is none of the described workload's is about to run. One that trains comes of a recompile, or the
        job went on to train something else."""
        trains = graph.training and self._mine() and (self._in_step or self.step is None)
        if self.host is None or not trains:
            self._flags |= StepFlag.EVALUATION
            return
        self._flags |= StepFlag.RECOMPILE
        if len(self._others) < _MOST_OTHERS:
            self._others.append(graph.number)

    def _count_others(self) -> None:
        """At an optimiser's step. Where all go on with the same other graphs, these are the job's workload from now on."""
        others, self._others = tuple(self._others), []
        self._alike = self._alike + 1 if others and others == self._latest_others else len(others[:1])
        self._latest_others = others
        if self._alike == _STEPS_TO_LEAVE and self._left < _MOST_LEFT:
            self._leave()

    def _leave(self) -> None:
        """The session ends, and steps are looked at anew until they agree."""
        logger.info("the job's steps run other graphs than those that were described; they are described anew")
        self._left += 1
        self._alike, self._why_not = 0, ""
        self._end_session()
        self.session = None

    def _end_session(self) -> None:
        self._stop_passing()
        host, self.host, self._known = self.host, None, {}
        self._steps.clear()
        for graph in self._graphs.values():
            graph.latest = ()
        if host is not None:
            host.stand_down()
        if self.session is not None:
            self.session.close()

    def _steps_to_know(self) -> int:
        return CALLS_TO_KNOW if self._runs_forward() else _STEPS_TO_KNOW

    def _runs_forward(self) -> bool:
        return self._forward.seen and not self._trains

    def _steps_agree(self) -> bool:
        return len(self._steps) == self._steps_to_know() and len({called for called, _ in self._steps}) == 1

    def _describe(self) -> None:
        numbers = dict.fromkeys(self._steps[-1][0])
        if not all(number in self._graphs for number in numbers):
            self._steps.clear()  # of a model that is gone
            return
        if self._elsewhere.met(numbers):
            self._why_not = SEVERAL_THREADS
            return
        graphs = [self._graphs[number] for number in numbers]  # as the step calls them: captures come in any order
        try:
            self._attach(graphs)
        except Exception as error:  # blazed never ends a job
            self._why_not = f"the job could not be described: {error}"
            logger.warning("%s", self._why_not, exc_info=True)

    def _attach(self, graphs: Sequence[Graph]) -> None:
        self._why_not = support.why_not(graphs)
        if self._why_not:
            return
        for graph in graphs:
            probe.look_at_default(graph, graph.latest)
        device = graphs[0].device() if graphs else self.step.device()
        self._calls = len(self._steps[-1][0])
        decisions = job_description.decisions_of(graphs, self._calls, device, self.step)
        if not decisions:
            self._why_not = ("the compiler merged nothing here, so there is nothing to decide" if graphs
                            else self.step.why_not_whole)
            return
        meter = memory.for_device(device)
        host = timing.host_class(device)(graphs, decisions, operator.attrgetter("latest"), self.step, meter)
        peak = host.default_peak_bytes()
        inputs = [graph.latest for graph in graphs]
        options = support.filled(self.options, device, probe.bytes_told(inputs), meter.spare() if meter else 0)
        if not support.explains_kernels(options, device):
            host.want_kernels = None
        session = Session(host, options).attach()
        host.explainer = Explainer(host, session, device)
        times = sorted(ns for _, ns in self._steps)
        refused = job_description.describe(session, graphs, decisions, self.step, times[len(times) // 2], peak,
                                            Regime.FORWARD if self._runs_forward() else Regime.TRAINING)
        self._why_not = refused or support.why_only_observed(options)
        self._in_vain = 0
        self._known = {graph.number: graph for graph in graphs}
        self.host, self.session = host, session

    def plan_in_use(self) -> int:
        """The session's handle of the plan that the latest step ran; 0: the default."""
        return self.host.latched if self.host is not None else 0

    def why_no_whole_step(self) -> str:
        """One sentence where steps of this job are not replayed as a whole; empty where they may be."""
        if self.off:
            return self._why_not
        if self.step is None:
            return "the job does not hand its step to blazed.torch.train_step"
        return self.step.why_not_whole

    def why_no_graphs(self) -> str:
        """One sentence where the compiler's CUDA graphs are not offered; empty where they are, or before a job is described."""
        if self.off or self.host is None:
            return self.why_not
        graphs = list(self._known.values())
        return launch.why_no_graphs(graphs[0].device() if graphs else self.step.device(), self._calls)

    def close(self) -> None:
        """Ends the session and lets go of what belongs to the script. The job trains on as the framework has it."""
        if not self._mine() or self.off:
            return
        self._why_not = self._why_not or "the job was closed"
        self._aside, self._in_step = True, False
        self._end_session()
        self.step = None
