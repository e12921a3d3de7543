"""The training job of this process: which graphs make up a step, when one begins and ends, and the
session that says how to run it.

A step begins with the first call of one of its graphs and ends with the optimiser's step. After a
few steps of the same graphs the job is described to the daemon; from then on every step asks the
session which plan to run. What the job cannot promise to keep right is not offered, and `why_not`
says so in one sentence.
"""
import os
import threading
import time
from typing import Any, Dict, List, Optional, Sequence, Tuple

from .. import describe
from ..enums import DecisionKind, Regime, StepFlag
from ..log import logger
from ..options import Options
from ..session import Session
from . import plan, probe, program, space, support, timing
from .graph import Graph
from .host import TorchHost

_STEPS_TO_KNOW = 3  # equal ones in a row, before the job is described


class Job:
    """Made at the first graph. Thread: the one that trains."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.session: Optional[Session] = None
        self.host: Optional[TorchHost] = None
        self.why_not = ""
        self.graphs: List[Graph] = []
        self._known: Dict[int, Graph] = {}  # of the described workload, by number
        self._in_step = False
        self._flags = 0
        self._began_ns = 0
        self._called: List[int] = []  # graphs of this step, in order
        self._steps: List[Tuple[Tuple[int, ...], int]] = []  # what the latest ones called, and their ns
        self._inputs: Dict[int, Sequence[Any]] = {}
        self._pid = os.getpid()
        self._thread = threading.get_ident()

    # ---- what the framework does ----

    def add(self, graph: Graph) -> None:
        """A graph was captured: a compile, and so a step that is no sample."""
        self.graphs.append(graph)
        self._flags |= StepFlag.RECOMPILE
        if support.has_symbols(graph) and not self.why_not:
            self.why_not = "a graph has symbolic shapes; torch.compile(..., dynamic=False) makes them fixed"

    def next_number(self) -> int:
        return len(self.graphs)

    def graph_called(self, graph: Graph, inputs: Sequence[Any]) -> None:
        """Before each call of a captured graph."""
        if self._in_step and (self.session is None or self.host is None):
            self._called.append(graph.number)
            self._inputs[graph.number] = inputs
            return
        if self._in_step:
            self._while_attached(graph, inputs)
            return
        if not self._begins_a_step(graph):
            self._flags |= StepFlag.EVALUATION
            return
        self._in_step = True
        self._called = [graph.number]
        self._inputs[graph.number] = inputs
        self._began_ns = time.monotonic_ns()
        if self.session is None and not self.why_not and self._steps_agree():
            self._describe()
        if self.session is not None and self.host is not None:
            self.host.latch(self.session.step_begin())

    def optimiser_stepped(self) -> None:
        """After an optimiser's step."""
        if not self._in_step or not self._mine():
            return
        self._in_step = False
        flags, self._flags = self._flags, 0
        if support.profiling():
            flags |= StepFlag.PROFILER
        if self.session is not None and self.host is not None:
            self.host.note_run()
            self.session.step_end(flags)
        elif not flags:
            self._steps.append((tuple(self._called), time.monotonic_ns() - self._began_ns))
            del self._steps[:-_STEPS_TO_KNOW]

    # ---- its own ----

    def _mine(self) -> bool:
        return os.getpid() == self._pid and threading.get_ident() == self._thread

    def _begins_a_step(self, graph: Graph) -> bool:
        if not self._mine() or not graph.training:
            return False
        return not self._known or graph.number in self._known

    def _while_attached(self, graph: Graph, inputs: Sequence[Any]) -> None:
        if graph.number not in self._known:
            self._flags |= StepFlag.EVALUATION
        elif graph.number != self._called[0]:
            self._inputs[graph.number] = _kept(inputs)

    def _steps_agree(self) -> bool:
        return len(self._steps) == _STEPS_TO_KNOW and len({called for called, _ in self._steps}) == 1

    def _describe(self) -> None:
        numbers = dict.fromkeys(self._steps[-1][0])
        graphs = [graph for graph in self.graphs if graph.number in numbers]
        try:
            self._attach(graphs)
        except Exception as error:  # blazed never ends a job
            self.why_not = f"the job could not be described: {error}"
            logger.warning("%s", self.why_not, exc_info=True)

    def _attach(self, graphs: Sequence[Graph]) -> None:
        self.why_not = support.why_not(graphs)
        if self.why_not:
            return
        for graph in graphs:
            probe.find_written(graph, self._inputs[graph.number])
        device = graphs[0].device()
        decisions = space.decisions_of(graphs, program.names_for(device))
        if not decisions:
            self.why_not = "the compiler merged nothing here, so there is nothing to decide"
            return
        host = timing.host_class(device)(graphs, decisions, lambda graph: self._inputs[graph.number])
        session = Session(host, support.filled(self.options, device)).attach()
        for graph in graphs:
            session.describe_graph(describe.Graph(graph.fingerprint(), f"graph{graph.number}", graph.nodes(),
                                                  Regime.TRAINING))
        times = sorted(ns for _, ns in self._steps)
        session.describe_workload(describe.Workload(
            support.workload_name(), [graph.fingerprint() for graph in graphs],
            [_described(decision, len(graphs)) for decision in decisions], plan.default(graphs).signature(),
            default_step_ns=times[len(times) // 2], default_build_ns=_build_ns(graphs)))
        self._known = {graph.number: graph for graph in graphs}
        self.host, self.session = host, session

    def plan_in_use(self) -> int:
        """The session's handle of the plan that the latest step ran; 0: the default."""
        return self.host.latched if self.host is not None else 0

    def close(self) -> None:
        if self.session is not None and self._mine():
            self.session.close()


def _build_ns(graphs: Sequence[Graph]) -> int:
    """What compiling one direction takes here; most plans change one. A result from the compiler's
    cache came sooner than a new plan's will."""
    took = [d.default.build_ns for graph in graphs for d in graph.default.directions.values()]
    return max(took, default=0)


def _kept(inputs: Sequence[Any]) -> Sequence[Any]:
    """For a probe at the next step's begin. Parameters are shared, the rest is copied: it may be
    written to until then, and would keep the step's whole graph alive."""
    import torch

    return [probe.copy_of(value).requires_grad_(value.requires_grad)
            if isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter) else value
            for value in inputs]


def _described(decision: space.Decision, graphs: int) -> describe.Decision:
    # How the only graph of a step runs is how the step runs.
    whole = decision.kind == space.CHOICE and graphs == 1
    kind = DecisionKind.BOUNDARY if decision.kind == space.BOUNDARY else DecisionKind.CHOICE
    return describe.Decision(decision.id, decision.name, decision.options, kind, 0 if whole else decision.graph + 1,
                             decision.sites, decision.reorders_sums)
