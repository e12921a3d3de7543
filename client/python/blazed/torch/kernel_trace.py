"""Kernels of a step, read from the trace that PyTorch's profiler writes of it (Chrome's format).

On a GPU they are what the device ran, copies included. On a CPU there is no such thing: there they are the framework's
operations and the compiler's kernels, each with the time that it spent itself and not in another of them.
"""
from typing import Any, Callable, Container, Dict, Iterable, List, Optional, Tuple

from ..kernels import MOST_KERNELS, MOST_NAME_BYTES, Kernel, StepKernels

_ON_DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
_REST = "all others"

Event = Dict[str, Any]
Span = Tuple[float, float]  # in microseconds


def of_device(trace: Dict[str, Any], step_ns: int) -> StepKernels:
    """Empty where the trace tells of none: the profiler did not reach the device."""
    events = [event for event in trace["traceEvents"] if event.get("ph") == "X" and event.get("cat") in _ON_DEVICE]
    kernels = _summed(events, lambda event: event["dur"])
    # What one call of the host launched bears one number, be it a kernel or a recording of many.
    calls = {event.get("args", {}).get("correlation") for event in events}
    return StepKernels(kernels, step_ns, _ns(_length(map(_span, events))), len(events),
                       None if None in calls else len(calls))


def of_host(trace: Dict[str, Any], step_ns: int, compiled: Container[str]) -> StepKernels:
    """`compiled`: names of the compiler's kernels in the trace."""
    events = [event for event in trace["traceEvents"] if event.get("ph") == "X" and event.get("cat") == "cpu_op"
              and (event["name"] in compiled or _is_operation(event["name"]))]
    own = _own_times(events)
    kernels = _summed(events, lambda event: own[id(event)])
    return StepKernels(kernels, step_ns, _ns(_length(map(_span, events))), len(events))


def _is_operation(name: str) -> bool:
    """aten::mm and the like; what leads to them, such as autograd's own marks, is none."""
    space, found, _ = name.partition("::")
    return bool(found) and space.isidentifier() and space not in ("autograd", "torch")


def _summed(events: Iterable[Event], time_of: Callable[[Event], float]) -> List[Kernel]:
    """By name, those that took longest first, at most as many as may be told."""
    found: Dict[str, List[Event]] = {}
    for event in events:
        found.setdefault(_cut(event["name"]), []).append(event)
    kernels = [Kernel(name, len(those), _ns(sum(map(time_of, those))), *_moved(those),
                      registers=_most(those, "registers per thread"), shared_bytes=_most(those, "shared memory"))
               for name, those in found.items()]
    kernels.sort(key=lambda kernel: (-kernel.time_ns, kernel.name))
    return kernels if len(kernels) <= MOST_KERNELS else _folded(kernels)


def _folded(kernels: List[Kernel]) -> List[Kernel]:
    rest = kernels[MOST_KERNELS - 1:]
    return [*kernels[:MOST_KERNELS - 1],
            Kernel(_REST, sum(kernel.launches for kernel in rest), sum(kernel.time_ns for kernel in rest))]


def _cut(name: str) -> str:
    return name.encode("utf-8", "replace")[:MOST_NAME_BYTES].decode("utf-8", "ignore") or "?"


def _most(events: List[Event], key: str) -> Optional[int]:
    values = [event.get("args", {}).get(key) for event in events]
    return None if None in values else int(max(values))


def _moved(events: List[Event]) -> Tuple[Optional[int], Optional[int]]:
    """Bytes that copies read and write, and what is filled."""
    values = [event.get("args", {}).get("bytes") for event in events]
    if None in values:
        return None, None
    return (0 if events[0]["cat"] == "gpu_memset" else int(sum(values))), int(sum(values))


def _span(event: Event) -> Span:
    return event["ts"], event["ts"] + event["dur"]


def _length(spans: Iterable[Span]) -> float:
    """Of what they cover together."""
    covered, until = 0.0, float("-inf")
    for start, end in sorted(spans):
        covered += max(0.0, end - max(start, until))
        until = max(until, end)
    return covered


def _own_times(events: Iterable[Event]) -> Dict[int, float]:
    """By identity, in microseconds: without what others took inside."""
    own: Dict[int, float] = {}
    around: Dict[Any, List[Event]] = {}  # what is still open, by thread
    for event in sorted(events, key=lambda event: (event["ts"], -event["dur"])):
        own[id(event)] = event["dur"]
        open_ones = around.setdefault((event.get("pid"), event.get("tid")), [])
        while open_ones and _span(open_ones[-1])[1] <= event["ts"]:
            open_ones.pop()
        if open_ones:
            own[id(open_ones[-1])] -= event["dur"]
        open_ones.append(event)
    return own


def _ns(microseconds: float) -> int:
    return max(0, round(microseconds * 1000))
