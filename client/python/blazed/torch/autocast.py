"""Autocast as it was where a graph was captured.

The compiler wrote the casts into what it made of the graph. The captured operations themselves, run one by one or given
to the compiler again, get them from the mode that they meet, which between steps is another: a script enters it around
the model.
"""
import contextlib
from typing import Iterator, Tuple

_DEVICES = ("cuda", "cpu")


class Autocast:
    """Noted where it is made. Thread: the one that trains."""

    def __init__(self) -> None:
        self._state = _now()

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        import torch

        before = _now()
        if before == self._state:
            yield
            return
        _set(self._state)
        torch.autocast_increment_nesting()
        try:
            yield
        finally:
            if torch.autocast_decrement_nesting() == 0:
                torch.clear_autocast_cache()
            _set(before)


def _now() -> Tuple[object, ...]:
    import torch

    return (torch.is_autocast_cache_enabled(), *((device, torch.is_autocast_enabled(device), torch.get_autocast_dtype(device))
                                                 for device in _DEVICES))


def _set(state: Tuple[object, ...]) -> None:
    import torch

    cache, *devices = state
    torch.set_autocast_cache_enabled(cache)
    for device, enabled, dtype in devices:
        torch.set_autocast_enabled(device, enabled)
        torch.set_autocast_dtype(device, dtype)


@contextlib.contextmanager
def off() -> Iterator[None]:
    """Below autocast, where the compiler lowers a graph: its casts are operations of the graph by then."""
    import torch

    with torch._C._DisableAutocast():
        yield
