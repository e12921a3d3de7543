"""What the session asks of a PyTorch job: to build a plan, to check its numbers, to say what ran.

Thread: the session's, between steps; probes see the inputs that the coming step will train on.
"""
import contextlib
import dataclasses
import itertools
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

from .. import host as base
from ..enums import Dtype, Role, StepFlag
from ..log import logger
from . import arithmetic, finer, launch, memory, plan, probe, space, updates
from .draws import Draws
from .explainer import Explainer
from .graph import Graph
from .train_step import TrainStep
from .updates import Updates
from .variant import Refused
from .whole_step import WholeStep

_ROLES = {probe.OUTPUT: Role.OUTPUT, probe.GRADIENT: Role.GRADIENT, probe.LOSS: Role.LOSS,
          probe.EXACT: Role.PREDICTION}
_DTYPES = {"torch.float32": Dtype.F32, "torch.float64": Dtype.F64, "torch.float16": Dtype.F16,
           "torch.bfloat16": Dtype.BF16, "torch.int64": Dtype.I64}

_RUNS_TO_RECORD = 3  # that the compiler's CUDA graphs take until they are replayed


@dataclasses.dataclass(frozen=True)
class Fault:
    """Of a plan that passed its probes and failed on a step."""

    handle: int
    sentence: str


class TorchHost:
    """`inputs_of` gives the inputs on which a graph is probed; `step` is there where the job hands its step over.
    `reference` is there where some graph computes in coarser arithmetic than its results are stored in. `meter`: of the
    device's memory, where something can be known of it."""

    def __init__(self, graphs: Sequence[Graph], decisions: Sequence[space.Decision],
                 inputs_of: Callable[[Graph], Sequence[Any]], step: Optional[TrainStep] = None,
                 meter: Optional[memory.Meter] = None) -> None:
        self._graphs = graphs
        self._decisions = decisions
        self._inputs_of = inputs_of
        self._step = step
        self._meter = meter
        self._judges_steps = any(d.kind == space.UPDATE or d.kind == space.LAUNCH and launch.WHOLE_STEP in d.options
                                 for d in decisions)
        self._handles = itertools.count(1)
        self._plans: Dict[int, plan.Built] = {0: plan.default(graphs)}
        self._signatures: Dict[int, bytes] = {}
        self._faults: Dict[int, str] = {}  # of plans that run no more, whatever the session says
        self._roundoffs = {graph.number: arithmetic.unit_roundoff(graph) for graph in graphs}
        self._draws = Draws()
        self.reference: Optional[Callable[[base.Emit], None]] = (self._reference if any(self._roundoffs.values())
                                                                 else None)
        self.unit_flags: Optional[Callable[[], int]] = self._unit_flags if meter is not None else None
        self._retries = 0  # of the allocator, when it was last asked
        self._ran = False  # something, since the plan was latched
        self._marks = False  # steps begin with a word to the compiler's CUDA graphs
        self.latched = 0
        self.wanted = 0  # a plan whose kernels the daemon asks for
        self.explainer: Optional[Explainer] = None  # there from the session's begin on

    def latch(self, handle: int) -> None:
        """The coming step runs this plan, or the default where it failed on a step before."""
        if handle != self.latched:
            self._switch(handle)
        if self._marks:
            launch.mark_step()

    def note_run(self) -> None:
        """A step under the latched plan has ended."""
        self._ran = True

    def note_passed(self, steps: int) -> None:
        """So many more have ended, which were not looked at."""
        self._ran = self._ran or steps > 0

    def needs_every_step(self) -> bool:
        """Whether steps under the latched plan begin with a word to the framework, or kernels are to be looked at."""
        return self._marks or self.wanted != 0

    def fault_of_call(self, graph: Graph, error: BaseException) -> Optional[Fault]:
        """After a call on a step raised. The plan that is to blame where the call may be made again and the default can do
        it. The default is in force from here on."""
        handle = self.latched
        if handle == 0 or not self._plans[handle].changes(graph):
            return None
        self.latch(0)
        fault = Fault(handle, _sentence("a step under this plan", error))
        if graph.repeats and isinstance(error, Exception):
            return fault
        if _is_memory(error):
            self.refuse(fault)
        return None

    def refuse(self, fault: Fault) -> None:
        """The plan never runs again; the session sees it by its signature, and by the next probe."""
        logger.warning("%s; it is not run any more", fault.sentence)
        self._faults[fault.handle] = fault.sentence

    def _unit_flags(self) -> int:
        """Whether the allocator began anew, which takes time of the framework's own; no flag is nearer. Asked around units
        and not in steps: it takes longer than all else that a step needs."""
        before, self._retries = self._retries, self._meter.retries()
        return StepFlag.RECOMPILE if self._retries != before else 0

    def want_kernels(self, handle: int) -> None:
        self.wanted = handle

    def built(self, handle: int) -> plan.Built:
        """0: the default plan. Raises KeyError where it was dropped."""
        return self._plans[handle]

    def default_peak_bytes(self) -> int:
        """What the default plan's graphs need at most; 0: nothing is known."""
        if self._meter is None:
            return 0
        return max(1, self._needed(self._plans[0]))  # a step without a graph of blazed needs nothing that is counted

    def build(self, choices: Tuple[base.Choice, ...]) -> base.Built:
        held = self._meter.held() if self._meter is not None else 0
        try:
            built = plan.build(self._graphs, self._decisions, choices)
            if built.way != updates.AS_IT_IS:
                built.updates = self._updated(built)
            if built.launch == launch.WHOLE_STEP:
                built.whole_step = self._recorded(built)
        except base.BuildFailed:
            raise
        except Refused as why:
            raise base.BuildFailed(str(why)) from None
        except Exception as error:
            raise base.BuildFailed(_sentence("the compiler", error), memory=_is_memory(error)) from error
        peak, signature = self._rehearsed(built, held)
        handle = next(self._handles)
        self._plans[handle] = built
        return base.Built(handle, signature, peak_bytes=peak)

    def drop(self, handle: int) -> None:
        if handle == self.latched:
            self._switch(0)  # the session says which plan comes next only when it has built and probed
        built = self._plans.pop(handle, None)
        self._signatures.pop(handle, None)
        self._faults.pop(handle, None)
        if built is not None and built.whole_step is not None:
            built.whole_step.release()
        self._forget_unused()

    def stand_down(self) -> None:
        """The graphs and the step run as the framework has them, whatever state this is in."""
        if self.explainer is not None:
            self.explainer.abandon()
        self.give_way()

    def give_way(self) -> None:
        """The same on any thread: a profiler is left to the one that it was started on."""
        if self._step is not None:
            self._step.whole = self._step.updates = None
        self._marks, self._ran, self.latched = False, False, 0
        self._plans[0].latch()

    def probe(self, handle: int, emit: base.Emit) -> None:
        fault = self._fault_of(handle)
        if fault:
            raise RuntimeError(fault)
        latched = self.latched
        self.latch(handle)
        try:
            with contextlib.suppress(_Enough):
                for graph in self._graphs:
                    self._run(graph, emit)
                    if self._marks:
                        launch.mark_step()
                if self._judges_steps:
                    self._probe_whole_step(self._plans[handle], emit)
            self._ran = True
        finally:
            self.latch(latched)

    def _reference(self, emit: base.Emit) -> None:
        latched = self.latched
        self.latch(0)
        try:
            with arithmetic.finest():
                for graph in self._graphs:
                    coarse = self._roundoffs[graph.number] > 0
                    with finer.in_place_of_default(graph, self._draws) if coarse else contextlib.nullcontext():
                        self._run(graph, emit, is_reference=True)
            if self._judges_steps:
                self._probe_whole_step(self._plans[0], emit)
        except _Enough:
            pass
        except Exception as error:
            sentence = "it does not fit in memory" if _is_memory(error) else _sentence("a graph in f32", error)
            raise base.NoReference(sentence) from None
        finally:
            self.latch(latched)

    def signature(self, handle: int) -> bytes:
        if handle == self.latched:
            self._note_signature()
        if self._fault_of(handle):
            return bytes(16)
        return self._signatures.get(handle, bytes(16))

    # ---- its own ----

    def _fault_of(self, handle: int) -> str:
        built = self._plans.get(handle)
        if handle in self._faults or built is None:
            return self._faults.get(handle, "")
        failed = built.failed_backward()
        return f"a backward pass under this plan failed: {failed}" if failed else ""

    def _rehearsed(self, built: plan.Built, held: int) -> Tuple[int, bytes]:
        """Peak memory of a step under a plan that was just built, 0 where nothing is known, and its signature. `held`: by
        recordings before. A run that fails says why, which it could not as a probe."""
        try:
            needed = self._needed(built, _RUNS_TO_RECORD if built.launch == launch.GRAPHS else 1)
            built.look_at_recordings()
            kept = self._meter.held() - held if self._meter is not None else 0
            return needed + max(0, kept), built.signature()
        except Exception as error:
            if built.whole_step is not None:
                built.whole_step.release()
            if isinstance(error, Refused):
                raise base.BuildFailed(str(error)) from None
            raise base.BuildFailed(_sentence("its first run", error), memory=_is_memory(error)) from error

    def _needed(self, built: plan.Built, warm_runs: int = 0) -> int:
        """By all graphs together, as if what each keeps for its backward pass lay there at the same time. The first run
        of a kernel may try several forms of it, which is no step's need."""
        needed = 0
        with self._under(built):
            for graph in self._graphs:
                for _ in range(warm_runs):
                    self._run_for_nobody(graph, built)
                if self._meter is not None:
                    needed += self._meter.needed(lambda graph=graph: self._run_for_nobody(graph, built))
        return needed

    def _run_for_nobody(self, graph: Graph, built: plan.Built) -> None:
        if built.launch == launch.GRAPHS:
            launch.mark_step()
        probe.run(graph, self._inputs_of(graph), None)

    def _forget_unused(self) -> None:
        """A plan that is built again is then compiled again, as a check of a rebuilt plan means it."""
        variants = [variant for built in self._plans.values() for _, variant in built.variants]
        programs = [program for built in self._plans.values() for _, program in built.programs]
        for graph in self._graphs:
            graph.keep_only(programs)
            for program in graph.programs.values():
                for direction in program.directions.values():
                    direction.keep_only(variants)

    def _run(self, graph: Graph, emit: base.Emit, is_reference: bool = False) -> None:
        probe.run(graph, self._inputs_of(graph), _emitter(emit, self._roundoffs[graph.number]), is_reference)

    def _switch(self, handle: int) -> None:
        self._note_signature()
        handle = 0 if self._fault_of(handle) else handle
        built = self._plans[handle]
        built.latch()
        self.latched = handle
        self._marks = built.launch == launch.GRAPHS
        if self._step is not None:
            self._step.whole, self._step.updates = built.whole_step, built.updates

    def _note_signature(self) -> None:
        # Not in each step: a digest takes longer than all else that a step needs.
        if self._ran:
            self._signatures[self.latched] = self._plans[self.latched].signature()
            self._ran = False

    def _updated(self, built: plan.Built) -> Updates:
        try:
            made = self._step.new_updates(built.way)
        except ValueError as why:
            raise base.BuildFailed(str(why)) from None
        with self._under(built), plan.compiler_alone():
            self._step.trial().prepare(made, *self._step.arguments)
        if not made.ran():
            raise base.BuildFailed(f"the optimiser did not run {built.way}")
        return made

    def _recorded(self, built: plan.Built) -> WholeStep:
        whole = self._step.new_whole_step(built.updates)
        with self._under(built):
            whole.record(*self._step.arguments)
        return whole

    @contextlib.contextmanager
    def _under(self, built: plan.Built) -> Iterator[None]:
        """A plan that has no handle yet runs inside."""
        self._note_signature()
        built.latch()
        try:
            yield
        finally:
            self._plans[self.latched].latch()

    def _probe_whole_step(self, built: plan.Built, emit: base.Emit) -> None:
        """One number, compared exactly: how much replays, or steps with other updates, do otherwise than the step. None
        does where it is neither."""
        import torch

        count = 0
        if built.whole_step is not None:
            count = built.whole_step.differing(*self._step.arguments)
        elif built.updates is not None:
            count = self._step.trial().differing(built.updates, *self._step.arguments)
        told = torch.tensor([count], dtype=torch.int64)
        emit(base.ProbeTensor("whole step", Dtype.I64, Role.PREDICTION, 1, told.data_ptr(), 0, told))


def _emitter(emit: base.Emit, unit_roundoff: float) -> probe.Emit:
    def give(name: str, role: str, tensor: Any) -> None:
        dtype = _DTYPES[str(tensor.dtype)]
        told = base.ProbeTensor(name, dtype, _ROLES[role], tensor.numel(), tensor.data_ptr(), 0, tensor, unit_roundoff)
        if not emit(told):
            raise _Enough

    return give


class _Enough(Exception):
    """The session takes no more: the rest need not be computed and copied."""


def _is_memory(error: BaseException) -> bool:
    return isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"


def _sentence(what: str, error: BaseException) -> str:
    lines: List[str] = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{what} failed with {type(error).__name__}: {lines[0][:160] if lines else 'no message'}"
