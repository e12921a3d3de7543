"""Arms warmed, then run in turns: in each round every arm has one drained unit, in an order drawn for that round.

What fails in one arm is written down as a sentence and ends that arm alone.
"""
import contextlib
import gc
import signal
import time
from typing import Any, Callable, Dict, Iterator, List

import torch

import paired
import units

WARM_STEPS = 10
SEED = 7
FEWEST_ROUNDS = 8


AGAIN_S = 5.0  # code that swallowed the end is asked again


class TimeIsOver(BaseException):
    """No Exception: the compiler tries things and goes on where they fail, which this must not look like."""


@contextlib.contextmanager
def no_longer_than(seconds: float, doing: str) -> Iterator[None]:
    """Breaks off Python code on the main thread."""
    def end(_signal: int, _frame: Any) -> None:
        raise TimeIsOver(f"{doing} took longer than {seconds:.0f} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001), AGAIN_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def sentence(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0][:300] if lines else 'no message'}"


class Warmed:
    """One arm that is ready for its turns."""

    def __init__(self, stepper: Any, warm_s: float, peak_bytes: int, first_loss: float, shape: units.Shape):
        self.stepper, self.warm_s, self.peak_bytes = stepper, warm_s, peak_bytes
        self.first_loss, self.shape = first_loss, shape


class Group:
    """The arms of one job in one process."""

    def __init__(self, device: str):
        self.device = device
        self.clock = units.Clock(device)
        self.arms: Dict[str, Warmed] = {}
        self.failures: Dict[str, str] = {}

    def warm(self, name: str, start: Callable[[], Any], seconds: float) -> bool:
        """Builds, compiles and runs an arm. False, with a sentence kept, where it cannot."""
        try:
            with no_longer_than(seconds, "warming up"):
                self.arms[name] = self._warmed(start)
            return True
        except (Exception, TimeIsOver) as error:
            why = sentence(error)
        self.fail(name, why)
        return False

    def fail(self, name: str, why: str) -> None:
        """Outside of the handler: its exception holds the frames, and with them the arm's memory."""
        self.failures[name] = why
        self.arms.pop(name, None)
        self._tidy()

    def _warmed(self, start: Callable[[], Any]) -> Warmed:
        if self.clock.is_gpu:
            torch.cuda.reset_peak_memory_stats()
            before = torch.cuda.memory_allocated()
        began = time.monotonic()
        stepper = start()
        stepper.enter()
        try:
            first = float(stepper.step())
            for _ in range(WARM_STEPS - 1):
                stepper.step()
        finally:
            stepper.leave()
        self.clock.drain()
        took = time.monotonic() - began
        peak = torch.cuda.max_memory_allocated() - before if self.clock.is_gpu else 0
        if first != first:
            raise RuntimeError("the loss of its first step is no number")
        warmed = self.reshaped(Warmed(stepper, took, peak, first, units.Shape(1, 3)))
        self._tidy()
        return warmed

    def reshaped(self, arm: Warmed) -> Warmed:
        """With units of the length that its steps ask for."""
        step_ms = min(self.clock.unit(arm.stepper, units.Shape(1, 3)).host_ms for _ in range(2))
        return Warmed(arm.stepper, arm.warm_s, arm.peak_bytes, arm.first_loss, units.shape_for(step_ms))

    def _tidy(self) -> None:
        gc.collect()
        if self.clock.is_gpu:
            torch.cuda.empty_cache()

    def run(self, rounds: int, seconds: float) -> Dict[str, Any]:
        """At most so many rounds in so much time, but FEWEST_ROUNDS; the first one warms again and is no sample."""
        names = list(self.arms)
        drawn = paired.orders(names, rounds + 1, SEED)
        kept: List[Dict[str, units.Unit]] = []
        ends = time.monotonic() + seconds
        gc.collect()
        gc.disable()
        try:
            for number, order in enumerate(drawn):
                values = self._round([name for name in order if name in self.arms])
                if number:
                    kept.append(values)
                gc.collect()
                if number >= FEWEST_ROUNDS and time.monotonic() > ends:
                    break
        finally:
            gc.enable()
        return {"orders": drawn[1:len(kept) + 1],
                "host_ms": {name: [r[name].host_ms for r in kept] for name in self.arms},
                "device_ms": {name: [r[name].device_ms for r in kept] for name in self.arms}}

    def _round(self, order: List[str]) -> Dict[str, units.Unit]:
        values = {}
        for name in order:
            why = ""
            try:
                values[name] = self.clock.unit(self.arms[name].stepper, self.arms[name].shape)
            except Exception as error:
                why = sentence(error)
            if why:
                self.fail(name, why)
        return values

    def close(self) -> None:
        for arm in self.arms.values():
            arm.stepper.close()
        self.arms.clear()
        self._tidy()
