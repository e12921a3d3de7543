"""How a step's end is known: on the CPU a step has ended when its call returns; on a GPU the host
runs ahead, and events at steps' ends tell, without ever waiting for the whole device.
"""
import collections
from typing import Any, Deque, Type

from .host import TorchHost

_MOST_EVENTS = 64  # steps in flight beyond it are not told apart
_STEPS_WATCHED = 256  # by events, since plans changed or something was timed
_UNKNOWN = 2**32 - 1  # more than can be in flight, which the session takes as no answer


class CudaHost(TorchHost):
    """A host that runs ahead of one GPU's current stream. Thread: the session's."""

    def __init__(self, *arguments: Any) -> None:
        import torch

        super().__init__(*arguments)
        self._ends: Deque[Any] = collections.deque(maxlen=_MOST_EVENTS)
        self._steps = 0  # since plans changed or something was timed
        self._latest = _recorded(torch.cuda.Event(enable_timing=True))
        self._next = torch.cuda.Event(enable_timing=True)
        self._clock_ns = 0  # at self._latest

    def latch(self, handle: int) -> None:
        if handle != self.latched:
            self._steps = 0
        super().latch(handle)

    def note_run(self) -> None:
        import torch

        super().note_run()
        self._steps += 1
        if self._steps <= _STEPS_WATCHED:  # an event in every step would be most of what blazed costs
            # Used events come round again: making one costs more than recording it.
            event = self._ends.popleft() if len(self._ends) == _MOST_EVENTS else torch.cuda.Event()
            self._ends.append(_recorded(event))

    def note_passed(self, steps: int) -> None:
        super().note_passed(steps)
        self._steps += steps

    def drain(self) -> None:
        self._next.record()
        self._next.synchronize()
        self._steps = 0

    def steps_in_flight(self) -> int:
        if self._steps > _STEPS_WATCHED:
            self._steps = 0  # the next question finds events
            return _UNKNOWN
        count = 0
        for event in reversed(self._ends):
            if event.query():
                break
            count += 1
        return count

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
