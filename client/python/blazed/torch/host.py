"""What the session asks of a PyTorch job: to build a plan, to check its numbers, to say what ran.

Thread: the session's, between steps; probes see the inputs that the coming step will train on.
"""
import itertools
from typing import Any, Callable, Dict, List, Sequence, Tuple

from .. import host as base
from ..enums import Dtype, Role
from . import plan, probe
from .graph import Graph
from .space import Decision
from .variant import Refused

_ROLES = {probe.OUTPUT: Role.OUTPUT, probe.GRADIENT: Role.GRADIENT, probe.LOSS: Role.LOSS,
          probe.EXACT: Role.PREDICTION}
_DTYPES = {"torch.float32": Dtype.F32, "torch.float64": Dtype.F64, "torch.float16": Dtype.F16,
           "torch.bfloat16": Dtype.BF16, "torch.int64": Dtype.I64}


class TorchHost:
    """`inputs_of` gives the inputs on which a graph is probed."""

    def __init__(self, graphs: Sequence[Graph], decisions: Sequence[Decision],
                 inputs_of: Callable[[Graph], Sequence[Any]]) -> None:
        self._graphs = graphs
        self._decisions = decisions
        self._inputs_of = inputs_of
        self._handles = itertools.count(1)
        self._plans: Dict[int, plan.Built] = {0: plan.default(graphs)}
        self._signatures: Dict[int, bytes] = {}
        self.latched = 0

    def latch(self, handle: int) -> None:
        """The coming steps run this plan."""
        if handle != self.latched:
            self._plans[handle].latch()
            self.latched = handle

    def note_run(self) -> None:
        """A step under the latched plan has ended."""
        self._signatures[self.latched] = self._plans[self.latched].signature()

    def build(self, choices: Tuple[base.Choice, ...]) -> base.Built:
        try:
            built = plan.build(self._graphs, self._decisions, choices)
        except Refused as why:
            raise base.BuildFailed(str(why)) from None
        except Exception as error:
            raise base.BuildFailed(_sentence(error), memory=_is_memory(error)) from error
        handle = next(self._handles)
        self._plans[handle] = built
        return base.Built(handle)

    def drop(self, handle: int) -> None:
        self._plans.pop(handle, None)
        self._signatures.pop(handle, None)
        kept = [variant for built in self._plans.values() for _, variant in built.variants]
        for graph in self._graphs:
            for program in graph.programs.values():
                for direction in program.directions.values():
                    direction.keep_only(kept)

    def probe(self, handle: int, emit: base.Emit) -> None:
        latched = self.latched
        self.latch(handle)
        try:
            for graph in self._graphs:
                probe.run(graph, self._inputs_of(graph), _emitter(emit))
            self.note_run()
        finally:
            self.latch(latched)

    def signature(self, handle: int) -> bytes:
        return self._signatures.get(handle, bytes(16))


def _emitter(emit: base.Emit) -> probe.Emit:
    def give(name: str, role: str, tensor: Any) -> None:
        dtype = _DTYPES[str(tensor.dtype)]
        emit(base.ProbeTensor(name, dtype, _ROLES[role], tensor.numel(), tensor.data_ptr(), 0, tensor))

    return give


def _is_memory(error: BaseException) -> bool:
    return isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"


def _sentence(error: BaseException) -> str:
    lines: List[str] = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"the compiler failed with {type(error).__name__}: {lines[0][:160] if lines else 'no message'}"
