"""What a host gives to a session: how to build a plan, check its numbers and say what ran.

Thread: every method runs on the session's thread, only inside Session.step_begin, step_end or close.
Errors: an exception in any of them is that callback's failure: it is kept (Session.last_error), logged once and never
reaches the training script. What is no failure but an order to end (KeyboardInterrupt, SystemExit) is raised to the
script as soon as the call of the session returns.
"""
import ctypes
import hashlib
from dataclasses import dataclass, field
from typing import Any, Callable, NamedTuple, Optional, Protocol, Tuple

from .enums import Dtype, Role

_DTYPES = {"f": Dtype.F32, "d": Dtype.F64, "e": Dtype.F16}


class Choice(NamedTuple):
    """An option other than the host's own. Plans are tuples of these, sorted by decision; () is the default plan."""
    decision: int  # index into Workload.decisions
    option: int    # 1 and above


@dataclass(frozen=True)
class Built:
    """What became of a build that succeeded."""
    handle: int             # the host's name for the plan, not 0 and not that of another live plan
    signature: bytes = b""  # 16 bytes, digest of what ran in one run under this plan; empty: the probe tells
    build_ns: int = 0       # 0: the time around Host.build is taken
    peak_bytes: int = 0     # peak memory of a step; 0: not known, not judged


class BuildFailed(Exception):
    """Raised by Host.build where a plan cannot be built; `sentence` goes into the report as the reason."""

    def __init__(self, sentence: str, memory: bool = False):
        super().__init__(sentence)
        self.sentence = sentence
        self.memory = memory  # it did not fit


class NoReference(Exception):
    """Raised by Host.reference where there is none now, such as for want of memory; `sentence` says why."""

    def __init__(self, sentence: str):
        super().__init__(sentence)
        self.sentence = sentence


@dataclass(frozen=True)
class ProbeTensor:
    """One tensor of a check computation, dense, in this process's memory, which stays as it is during emit()."""
    name: str      # 1..96 bytes; the same tensors in the same order in every probe of a session
    dtype: Dtype
    role: Role
    count: int     # elements
    address: int
    row: int = 0   # Role.PREDICTION of a float type: row length for the arg-max; 0: one row
    owner: Any = field(default=None, repr=False, compare=False)  # whatever keeps the memory alive
    unit_roundoff: float = 0.0  # of the default plan's arithmetic, where it is coarser than the dtype; at most 2**-8

    @classmethod
    def of_buffer(cls, name: str, role: Role, data: Any, dtype: Optional[Dtype] = None, row: int = 0) -> "ProbeTensor":
        """Of an array, bytearray, bytes, numpy array or what else is a dense buffer; one that is read-only is copied.
        Raises TypeError where `dtype` is not given and the buffer's format is none of f, d, e, and for a buffer that
        is not dense."""
        view = memoryview(data)
        if dtype is None:
            dtype = _dtype_of(view)
        flat = (bytearray(view) if view.readonly else view.cast("B")) if view.nbytes else bytearray(1)
        memory = (ctypes.c_char * len(flat)).from_buffer(flat)
        return cls(name, dtype, role, view.nbytes // _BYTES[dtype], ctypes.addressof(memory), row, memory)


_BYTES = {Dtype.F32: 4, Dtype.F64: 8, Dtype.F16: 2, Dtype.BF16: 2, Dtype.I32: 4, Dtype.I64: 8}


def _dtype_of(view: memoryview) -> Dtype:
    code = view.format[-1]
    if code in "ilq" and view.itemsize in (4, 8):
        return Dtype.I32 if view.itemsize == 4 else Dtype.I64
    if code not in _DTYPES:
        raise TypeError(f"a buffer of format {view.format} has no dtype of blazed; give dtype=")
    return _DTYPES[code]


Emit = Callable[[ProbeTensor], bool]


class Host(Protocol):
    """Without one of build, drop, probe and signature the session only observes. A host may also have

    - drain(): waits until the host's queue is empty, by one event. Without it the host waits in every step anyway.
    - device_clock_ns() -> int: the device's clock at a drained point.
    - steps_in_flight() -> int: how many of the ended steps the device has still to end; nothing is waited for.
    - reference(emit): runs the default plan's check computation in finer arithmetic than the plan's own, from the same
      random state, and gives the same tensors as probe(0, emit). How far the default is from it is the default's own
      error, by which Contract.ROUNDING judges variants. Asked once and seldom again. Raise NoReference, or anything,
      where there is none now: the default's repeats alone count then.
    - unit_flags() -> int: StepFlag bits of what only the host's runtime knows to have happened since the latest call, such
      as an allocator that began anew. Asked at the drained points around the timed steps of a unit; the first answer is
      dropped, the second marks the unit.
    - want_kernels(handle): what does a step run under this settled plan in use, and what under the default? The host
      tells at leisure, between steps and once, by Session.give_kernels; or never. To look it may run one step under the
      default where step_begin named `handle`, and take a profiler to that one and to one of `handle`: where
      Session.in_unit() is False, and both flagged StepFlag.PROFILER. Asking again is harmless.
    """

    def build(self, plan: Tuple[Choice, ...]) -> Built:
        """Builds the plan and keeps it until drop. Raises BuildFailed, MemoryError where it does not fit, or what it
        likes."""

    def drop(self, handle: int) -> None:
        """Forgets a built handle; it is never asked for again. Never called with 0."""

    def probe(self, handle: int, emit: Emit) -> None:
        """Runs the check computation (outputs, gradients, predictions, loss) of `handle` (0: the default plan) on the
        batch of the coming step, undoes every side effect, and gives each tensor to emit(). Within one step_begin all
        probes must see the same batch and the same state. emit() says False for a tensor that is malformed or differs
        in name, type or count from the default's; the probe is then inconclusive. Raise where the run faults: the
        variant is then rejected as broken."""

    def signature(self, handle: int) -> bytes:
        """16 bytes: the digest of what the latest run of `handle` went through, from the record of what ran, never
        from what was asked. Cheap: it is asked after every probe, unit and service window."""


def digest(*parts: Any) -> bytes:
    """16 bytes for fingerprints, ids and signatures: the same in every process, and no two lists of texts (or bytes)
    alike."""
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        raw = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogatepass")
        state.update(len(raw).to_bytes(8, "little") + raw)
    return state.digest()
