"""What a step runs, kernel by kernel: what a host tells where it is asked by want_kernels.

Thread: any. Owner: the caller; a session copies what it is given. What is not known is None, never 0.
"""
import ctypes
from dataclasses import dataclass
from typing import Any, Dict, Optional, Sequence

from . import abi
from .describe import encoded
from .enums import KernelFact, TotalFact

MOST_KERNELS = 512   # of a step
MOST_NAME_BYTES = 256

# Which fields a fact is about.
_OF_KERNEL = {KernelFact.LAUNCHES: ("launches",), KernelFact.TIME: ("time_ns",),
              KernelFact.BYTES: ("read_bytes", "written_bytes"), KernelFact.REGISTERS: ("registers",),
              KernelFact.SPILLS: ("spill_bytes",), KernelFact.SHARED: ("shared_bytes",)}
_OF_STEP = {TotalFact.STEP: ("step_ns",), TotalFact.BUSY: ("busy_ns",),
            TotalFact.KERNEL_LAUNCHES: ("kernel_launches",), TotalFact.HOST_LAUNCHES: ("host_launches",)}


@dataclass(frozen=True)
class Kernel:
    """A kernel of one step, or on a CPU an operation: all its launches under one name together. Of several kernels of
    one name the last three are the most."""
    name: str  # 1..256 bytes; what is beyond is cut
    launches: Optional[int] = None
    time_ns: Optional[int] = None     # while it ran
    read_bytes: Optional[int] = None  # as the host reckons from shapes; known together with written_bytes
    written_bytes: Optional[int] = None
    registers: Optional[int] = None     # of a thread
    spill_bytes: Optional[int] = None   # of a thread, to memory
    shared_bytes: Optional[int] = None  # of a block


@dataclass(frozen=True)
class StepKernels:
    """What one step ran: as a profiler saw it, or as far as it is known without one."""
    kernels: Sequence[Kernel] = ()  # at most 512, each name once
    step_ns: Optional[int] = None   # of the step that was looked at, which that makes longer
    busy_ns: Optional[int] = None   # of it, while at least one kernel ran
    kernel_launches: Optional[int] = None
    host_launches: Optional[int] = None  # calls that launched them; a recording of many kernels is one

    def to_c(self) -> abi.StepKernels:
        rows = (abi.Kernel * len(self.kernels))(*(
            abi.Kernel(name=encoded(kernel.name), **_known(kernel, _OF_KERNEL)) for kernel in self.kernels))
        step = abi.StepKernels(kernels=ctypes.cast(rows, ctypes.POINTER(abi.Kernel)),
                               kernel_bytes=ctypes.sizeof(abi.Kernel), kernel_count=len(rows),
                               **_known(self, _OF_STEP))
        step.kept = rows
        return step


def _known(of: Any, facts: Any) -> Dict[str, int]:
    """Fields of a structure: those of the facts that are known, and which these are."""
    fields = {"known": 0}
    for fact, names in facts.items():
        values = {name: getattr(of, name) for name in names}
        if None not in values.values():
            fields["known"] |= fact
            fields.update(values)
    return fields
