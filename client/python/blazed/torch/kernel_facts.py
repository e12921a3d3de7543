"""What the compiler's results say of their kernels without being run, and names for them in a trace."""
import contextlib
import dataclasses
from typing import Any, Callable, Dict, Iterator, List, Optional, Set

from ..kernels import MOST_KERNELS, Kernel, StepKernels
from .plan import Built

_BYTES_OF_A_REGISTER = 4
_CPU_PREFIX = "cpp_"


@dataclasses.dataclass
class Facts:
    """Of all kernels of one name in a plan; of a thread or block the most."""

    registers: Optional[int] = None
    spill_bytes: Optional[int] = None
    shared_bytes: Optional[int] = None
    places: int = 0  # in the plan's programs, that launch it
    read_bytes: int = 0  # by one launch from each place
    written_bytes: int = 0


def of(built: Built) -> Dict[str, Facts]:
    """By name. Of what is not compiled nothing is known."""
    found: Dict[str, Facts] = {}
    for module in _modules(built):
        for name, kernel in list(vars(module).items()):
            launchers = getattr(kernel, "launchers", None)
            if isinstance(launchers, list) and launchers:
                _add_launcher(found.setdefault(name, Facts()), launchers[0])
    for _, variant in built.variants:
        for traffic in variant.table.traffic if variant.table is not None else ():
            facts = found.setdefault(traffic.kernel, Facts())
            facts.places += traffic.places
            facts.read_bytes += traffic.read_bytes
            facts.written_bytes += traffic.written_bytes
    return found


def alone(facts: Dict[str, Facts]) -> StepKernels:
    """Where no profiler can look."""
    return StepKernels([_with(Kernel(name), facts[name]) for name in sorted(facts)[:MOST_KERNELS]])


def joined(step: StepKernels, facts: Dict[str, Facts]) -> StepKernels:
    return dataclasses.replace(step, kernels=[_with(kernel, facts.get(kernel.name)) for kernel in step.kernels])


@contextlib.contextmanager
def named(built: Built) -> Iterator[Set[str]]:
    """Inside, the plan's kernels for the CPU run under their names, which a profiler sees; gives the names."""
    changed: List[Any] = []
    names: Set[str] = set()
    try:
        for module in _modules(built):
            for name, kernel in list(vars(module).items()):
                if name.startswith(_CPU_PREFIX) and callable(kernel):
                    changed.append((module, name, kernel))
                    names.add(name)
                    setattr(module, name, _under_its_name(name, kernel))
        yield names
    finally:
        for module, name, kernel in changed:
            setattr(module, name, kernel)


def _under_its_name(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    import torch

    mark = torch._C._profiler._RecordFunctionFast

    def run(*arguments: Any) -> Any:
        with mark(name):
            return kernel(*arguments)

    return run


def _modules(built: Built) -> List[Any]:
    """The generated code of the plan's programs, each once."""
    from torch._inductor.codecache import PyCodeCache

    keys = {getattr(variant.call, "cache_key", None) for _, variant in built.variants}
    loaded = {getattr(module, "key", None): module for module in getattr(PyCodeCache, "modules", ())}
    return [loaded[key] for key in keys if key in loaded]


def _add_launcher(facts: Facts, launcher: Any) -> None:
    spills = getattr(launcher, "n_spills", None)
    facts.registers = _larger(facts.registers, getattr(launcher, "n_regs", None))
    facts.spill_bytes = _larger(facts.spill_bytes, None if spills is None else spills * _BYTES_OF_A_REGISTER)
    facts.shared_bytes = _larger(facts.shared_bytes, getattr(launcher, "shared", None))


def _larger(known: Optional[int], other: Any) -> Optional[int]:
    return known if not isinstance(other, int) else other if known is None else max(known, other)


def _with(kernel: Kernel, facts: Optional[Facts]) -> Kernel:
    """Of a step that runs its programs several times, as one of several batches does, bytes count as often."""
    if facts is None:
        return kernel
    times = 1 if kernel.launches is None else kernel.launches / facts.places if facts.places else 0
    counted = facts.places > 0 and times == int(times)
    return dataclasses.replace(
        kernel, registers=facts.registers if kernel.registers is None else kernel.registers,
        spill_bytes=facts.spill_bytes,
        shared_bytes=facts.shared_bytes if kernel.shared_bytes is None else kernel.shared_bytes,
        read_bytes=int(times) * facts.read_bytes if counted else None,
        written_bytes=int(times) * facts.written_bytes if counted else None)
