"""One step under PyTorch's profiler, or why there may be none.

Nothing of it stays: the trace goes to a file that is read and removed. A profiler that the script or another tool
brought has the device to itself.
"""
import contextlib
import gc
import json
import os
import tempfile
import time
from typing import Any, Callable, Dict, Iterator, Optional, Set

from ..kernels import StepKernels
from . import kernel_facts, kernel_trace
from .plan import Built

# Tools that were put into this process from outside, and the collector of traces that may come at any time.
_OTHER_TOOLS = ("CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "NSYS_PROFILING_SESSION_ID", "KINETO_USE_DAEMON")
_SAFE_WITH_GRAPHS = (12, 6)  # from this release of CUDA on PyTorch itself profiles CUDA graphs without precautions
_OURS = "_of_blazed"  # an attribute of profilers made here
_LOG_LEVEL, _SILENT = "KINETO_LOG_LEVEL", "5"


def why_not(device: str) -> str:
    """Empty where a step may be looked at. Looks at every object of the process: a tenth of a second at most."""
    import torch
    from torch.profiler import ProfilerActivity, kineto_available, supported_activities
    from torch.profiler.profiler import _KinetoProfile

    if not kineto_available():
        return "this build of PyTorch has no profiler"
    if any(os.environ.get(name) for name in _OTHER_TOOLS):
        return "another tool profiles this process"
    if device == "cuda":
        if ProfilerActivity.CUDA not in supported_activities():
            return "PyTorch's profiler does not reach this GPU"
        if tuple(map(int, str(torch.version.cuda or "0").split(".")[:2])) < _SAFE_WITH_GRAPHS:
            return "under this release of CUDA a profiler may end a process that runs CUDA graphs"
    # One that waits for its turn is not active, and would be disturbed all the same.
    others = (o for o in gc.get_objects() if issubclass(type(o), _KinetoProfile) and not hasattr(o, _OURS))
    if torch.autograd._profiler_enabled() or any(True for _ in others):
        return "the script has a profiler of its own"
    return ""


class StepProfile:
    """From the begin of a step to its end. Thread: the one that trains. `drain`: waits for the device, where there is
    one to wait for."""

    def __init__(self, device: str, built: Built, drain: Optional[Callable[[], None]]) -> None:
        self._on_device = device == "cuda"
        self._built = built
        self._drain = drain or _no_queue
        self._began_ns = 0
        self._process = os.getpid()
        self._profiler: Optional[Any] = None
        self._compiled: Set[str] = set()
        self._open = contextlib.ExitStack()

    def begin(self) -> None:
        from torch.profiler import ProfilerActivity, profile

        with self._open:
            if not self._on_device:
                self._compiled = self._open.enter_context(kernel_facts.named(self._built))
            self._drain()  # what is still under way is none of this step's
            activity = ProfilerActivity.CUDA if self._on_device else ProfilerActivity.CPU
            profiler = profile(activities=[activity])
            setattr(profiler, _OURS, True)
            with _quiet_without_a_gpu():
                profiler.start()
            self._profiler = profiler
            self._open = self._open.pop_all()
        self._began_ns = time.monotonic_ns()

    def end(self) -> StepKernels:
        """Raises what the profiler raises; it is over then too."""
        try:
            self._drain()
            step_ns = time.monotonic_ns() - self._began_ns
            trace = self._stopped()
        finally:
            self.abandon()
        if self._on_device:
            return kernel_trace.of_device(trace, step_ns)
        return kernel_trace.of_host(trace, step_ns, self._compiled)

    def abandon(self) -> None:
        """Ends it without a word, also where it has ended."""
        profiler, self._profiler = self._profiler, None
        self._open.close()
        if profiler is not None and os.getpid() == self._process:  # a forked child has none of its threads
            with contextlib.suppress(Exception):
                profiler.stop()

    def _stopped(self) -> Dict[str, Any]:
        profiler, self._profiler = self._profiler, None
        profiler.stop()
        handle, path = tempfile.mkstemp(suffix=".json", prefix="blazed-step-")
        os.close(handle)
        try:
            profiler.export_chrome_trace(path)
            with open(path, encoding="utf-8", errors="replace") as file:
                return json.load(file)
        finally:
            os.unlink(path)


def _no_queue() -> None:
    pass


@contextlib.contextmanager
def _quiet_without_a_gpu() -> Iterator[None]:
    """A build for GPUs complains on standard error that there is none, once, where its profiler first looks."""
    import torch

    if torch.version.cuda is None or torch.cuda.is_available() or _LOG_LEVEL in os.environ:
        yield
        return
    os.environ[_LOG_LEVEL] = _SILENT
    try:
        yield
    finally:
        os.environ.pop(_LOG_LEVEL, None)
