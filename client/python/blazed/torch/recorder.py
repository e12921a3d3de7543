"""What records a run on the device and replays it: on NVIDIA GPUs, CUDA graphs.

A recording that fails must leave no trace: PyTorch leaves the allocator and the random generator as they are in the
middle of one, and so every later draw of the job would fail. Here both are put right.
"""
import contextlib
import ctypes
from typing import Any, Callable, Iterator, Optional, Protocol, Sequence

from ..log import logger


class RecordingFailed(Exception):
    """The text is one sentence. `memory`: it did not fit."""

    def __init__(self, sentence: str, memory: bool = False) -> None:
        super().__init__(sentence)
        self.memory = memory


class Recording(Protocol):
    def replay(self) -> None:
        """Runs what was recorded, on the same memory, after what was launched before."""

    def release(self) -> None:
        """Gives back what it holds; replay is not called again."""


class Recorder(Protocol):
    device: str  # type of the device that it records on

    def aside(self) -> Any:
        """A context in which runs prepare a recording."""

    def record(self, run: Callable[[], Any], generators: Sequence[Any]) -> Recording:
        """Calls `run` once; its work on the device is recorded and need not have happened. `generators`: which it may
        draw from beside the device's own. Raises RecordingFailed."""

    def free_bytes(self) -> int:
        """What the device has left."""

    def records_on(self, device: Any) -> bool:
        """Whether it records what runs on this one."""


class CudaRecorder:
    """One of a process; its recordings share one pool of memory, since they never run at the same time and none needs
    what another left. Thread: the one that trains."""

    device = "cuda"

    def __init__(self) -> None:
        import torch

        self._stream = torch.cuda.Stream()
        self._pool: Optional[Any] = None
        self._alive = 0

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        import torch

        current = torch.cuda.current_stream()
        self._stream.wait_stream(current)
        try:
            with torch.cuda.stream(self._stream):
                yield
        finally:
            current.wait_stream(self._stream)

    def record(self, run: Callable[[], Any], generators: Sequence[Any]) -> Recording:
        import torch

        if self._alive == 0:
            self._pool = torch.cuda.graph_pool_handle()
        graph = torch.cuda.CUDAGraph()
        for generator in generators:
            if generator.device.type == "cuda":
                graph.register_generator_state(generator)
        torch.clear_autocast_cache()
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        # So that libraries take their scratch memory from the pool, where it stays as long as the recording does.
        torch._C._cuda_clearCublasWorkspaces()
        try:
            self._captured(graph, run)
        finally:
            torch._C._cuda_clearCublasWorkspaces()
            torch.clear_autocast_cache()
        self._alive += 1
        return _CudaRecording(graph, self)

    def _captured(self, graph: Any, run: Callable[[], Any]) -> None:
        import torch

        with self.aside():
            failure: Optional[BaseException] = None
            try:
                # Threads of the job, such as one that pins memory, go on: only this one is held to the rules.
                graph.capture_begin(pool=self._pool, capture_error_mode="thread_local")
                run()
            except BaseException as error:
                failure = error
            try:
                graph.capture_end()
            except Exception as error:
                failure = failure or error
            if failure is None:
                return
            self._put_right(graph)
            if not isinstance(failure, Exception):
                raise failure  # an order to end
            sentence = sentence_of(failure)
            memory = isinstance(failure, torch.cuda.OutOfMemoryError)
            failure.__traceback__ = None  # holds tensors of the pool
        raise RecordingFailed(sentence, memory)

    def _put_right(self, graph: Any) -> None:
        import torch

        _keep_for_ever(graph)
        device = torch.cuda.current_device()
        for repair in (torch._C._cuda_endAllocateToPool, torch._C._cuda_releasePool):
            with contextlib.suppress(Exception):  # already done where the failure came late
                repair(device, self._pool)
        try:
            _record_nothing()
        except Exception as error:
            logger.warning("after a failed recording the random generator was not put right: %s", error)

    def free_bytes(self) -> int:
        import torch

        free, _ = torch.cuda.mem_get_info()
        return int(free) + torch.cuda.memory_reserved() - torch.cuda.memory_allocated()

    def records_on(self, device: Any) -> bool:
        import torch

        return device.type == "cuda" and device.index == torch.cuda.current_device()

    def released(self) -> None:
        self._alive -= 1


class _CudaRecording:
    def __init__(self, graph: Any, owner: CudaRecorder) -> None:
        self._graph = graph
        self._owner = owner
        self.replay = graph.replay

    def release(self) -> None:
        import torch

        if self._graph is None:
            return
        torch.cuda.current_stream().synchronize()  # it may be running
        self._graph.reset()
        self._graph = None
        self._owner.released()


_cuda: Optional[CudaRecorder] = None


def for_device(device: str) -> Optional[Recorder]:
    """This process's; None where steps cannot be recorded."""
    global _cuda
    if device != "cuda":
        return None
    if _cuda is None:
        _cuda = CudaRecorder()
    return _cuda


def _keep_for_ever(graph: Any) -> None:
    """Its destructor would give back a pool that the allocator has forgotten by then, which ends the process, be it at
    the interpreter's own end."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(graph))


def _record_nothing() -> None:
    """A recording that succeeds ends what one that failed left open in the random generator."""
    import torch

    graph = torch.cuda.CUDAGraph()
    graph.capture_begin(capture_error_mode="thread_local")
    try:
        torch.zeros(1, device="cuda")
    finally:
        graph.capture_end()
    graph.reset()


def sentence_of(error: BaseException) -> str:
    text = str(error)
    line = next((line.strip() for line in text.splitlines() if line.strip()), type(error).__name__)
    if "capturable" in text:
        return "the optimiser keeps numbers on the host; make it with capturable=True"
    if "captur" in text:
        return f"the step waits for the device or does what cannot be recorded, such as .item() ({line[:120]})"
    return f"the step cannot be recorded ({type(error).__name__}: {line[:140]})"
