"""What a compiler's kernels read and write, noted while it writes their code.

The compiler hands each kernel's name and the operations in it to a function of its own that keeps provenance. It is
listened to there: nothing else in a compile has both. Where a release has no such function nothing is known.
"""
import contextlib
import contextvars
import dataclasses
import functools
import importlib
from typing import Any, Callable, Dict, Iterator, Optional, Tuple

_MODULES = ("torch._inductor.codegen.triton", "torch._inductor.codegen.cpp")
_TOLD = "set_kernel_post_grad_provenance_tracing"


@dataclasses.dataclass(frozen=True)
class Traffic:
    """One launch from each place of a program that launches a kernel of this name."""

    kernel: str
    places: int
    read_bytes: int
    written_bytes: int


Notes = Dict[str, Tuple[int, int, int]]  # by kernel: places, bytes

_notes: "contextvars.ContextVar[Optional[Notes]]" = contextvars.ContextVar("kernel notes", default=None)


@contextlib.contextmanager
def noted(notes: Notes) -> Iterator[None]:
    """Around a compile on this thread."""
    _listen()
    token = _notes.set(notes)
    try:
        yield
    finally:
        _notes.reset(token)


def table_of(notes: Notes) -> Tuple[Traffic, ...]:
    return tuple(Traffic(kernel, *numbers) for kernel, numbers in sorted(notes.items()))


@functools.lru_cache(maxsize=None)
def _listen() -> None:
    """Once a process. Compiles of others pass through it unheard."""
    for name in _MODULES:
        with contextlib.suppress(ImportError):
            module = importlib.import_module(name)
            told = getattr(module, _TOLD, None)
            if told is not None:
                setattr(module, _TOLD, _heard(told))


def _heard(told: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(told)
    def hear(operations: Any, kernel: Any, *more: Any, **named: Any) -> Any:
        notes = _notes.get()
        if notes is not None:
            with contextlib.suppress(Exception):  # private data, of a release that has it otherwise
                _note(notes, operations, kernel)
        return told(operations, kernel, *more, **named)

    return hear


def _note(notes: Notes, operations: Any, kernel: str) -> None:
    whole: Dict[int, Any] = {}
    for operation in operations:
        if hasattr(operation, "scheduler"):  # others mark where loops begin and end
            merged = operation.scheduler.name_to_fused_node[operation.get_name()]
            whole[id(merged)] = merged
    read = sum(int(node.get_read_buffer_sizes()) for node in whole.values())
    written = sum(int(node.get_write_buffer_sizes()) for node in whole.values())
    before = notes.get(kernel, (0, 0, 0))
    notes[kernel] = before[0] + 1, before[1] + read, before[2] + written
