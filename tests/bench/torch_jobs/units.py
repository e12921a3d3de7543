"""Drained units: w warm and k timed steps between points where the host waits for the end of what it launched.

The host's clock between the two points judges, the device's own time of the same steps is kept beside it. Thread: the
one that trains. Units: milliseconds a step.
"""
import math
import time
from typing import Any, NamedTuple

import torch

UNIT_MS = 30.0      # a unit lasts at least as long
LONG_STEP_MS = 10.0  # beyond it the queue's fill is next to nothing, and few steps do
FEWEST, FEWEST_LONG, MOST = 8, 3, 64


class Shape(NamedTuple):
    warm: int
    timed: int


class Unit(NamedTuple):
    host_ms: float
    device_ms: float  # 0 on a CPU


def shape_for(step_ms: float) -> Shape:
    if step_ms >= LONG_STEP_MS:
        return Shape(1, max(FEWEST_LONG, min(FEWEST, math.ceil(UNIT_MS / step_ms))))
    return Shape(2, max(FEWEST, min(MOST, math.ceil(UNIT_MS / max(step_ms, 1e-3)))))


class Clock:
    """Of one device. On a CPU a step has ended when its call returns."""

    def __init__(self, device: str):
        self.is_gpu = torch.device(device).type == "cuda"
        if self.is_gpu:
            self._begin, self._end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def drain(self) -> None:
        if self.is_gpu:
            self._end.record()
            self._end.synchronize()

    def unit(self, stepper: Any, shape: Shape) -> Unit:
        stepper.enter()
        try:
            for _ in range(shape.warm):
                stepper.step()
            self.drain()
            began = time.perf_counter()
            if self.is_gpu:
                self._begin.record()
            for _ in range(shape.timed):
                stepper.step()
            self.drain()
            host = time.perf_counter() - began
        finally:
            stepper.leave()
        device = self._begin.elapsed_time(self._end) / shape.timed if self.is_gpu else 0.0
        return Unit(1e3 * host / shape.timed, device)
