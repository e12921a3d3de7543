"""How a step's end is known: on the CPU a step has ended when its call returns; on a GPU the host
runs ahead, and events at steps' ends tell, without ever waiting for the whole device.
"""
import collections
from typing import Any, Deque, Type

from .host import TorchHost

_MOST_EVENTS = 64  # steps in flight beyond it are not told apart
_STEPS_WATCHED = 256  # after a change of plans; later an event stands for several steps
_STEPS_AN_EVENT = 16


class CudaHost(TorchHost):
    """A host that runs ahead of one GPU's current stream. Thread: the session's."""

    def __init__(self, *arguments: Any) -> None:
        import torch

        super().__init__(*arguments)
        self._ends: Deque[Any] = collections.deque(maxlen=_MOST_EVENTS)
        self._steps = 0  # since plans changed
        self._latest = _recorded(torch.cuda.Event(enable_timing=True))
        self._next = torch.cuda.Event(enable_timing=True)
        self._clock_ns = 0  # at self._latest

    def latch(self, handle: int) -> None:
        if handle != self.latched:
            self._steps = 0
        super().latch(handle)

    def note_run(self) -> None:
        super().note_run()
        self._steps += 1
        # Where nothing is measured an event in every step would be most of what blazed costs.
        if self._steps <= _STEPS_WATCHED or self._steps % _STEPS_AN_EVENT == 0:
            self._mark_end()

    def _mark_end(self) -> None:
        import torch

        # Used events come round again: making one costs more than recording it.
        event = self._ends.popleft() if len(self._ends) == _MOST_EVENTS else torch.cuda.Event()
        self._ends.append(_recorded(event))

    def drain(self) -> None:
        self._next.record()
        self._next.synchronize()

    def steps_in_flight(self) -> int:
        """At least so many as are: an event that has not come counts for all the steps that it stands for."""
        count = 0
        for event in reversed(self._ends):
            if event.query():
                break
            count += 1
        return count if self._steps <= _STEPS_WATCHED else count * _STEPS_AN_EVENT

    def device_clock_ns(self) -> int:
        self._next.record()
        self._next.synchronize()
        # A time between two events is a float of milliseconds, which in an hour is good to a quarter
        # of one; so short ones are added up.
        self._clock_ns += round(self._latest.elapsed_time(self._next) * 1e6)
        self._latest, self._next = self._next, self._latest
        return self._clock_ns


def _recorded(event: Any) -> Any:
    event.record()
    return event


def host_class(device: str) -> Type[TorchHost]:
    return CudaHost if device == "cuda" else TorchHost
