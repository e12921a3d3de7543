"""What blazed may do to a job. BLAZED_MODE in the environment is read by the shim, not here.

    Options(mode=Mode.OBSERVE)
    Options(mode=tune_until(seconds=600))

Thread: any.
"""
import enum
from dataclasses import dataclass
from typing import Optional, Union

_NS = 1_000_000_000
_MOST = 2**64 - 1


class Mode(enum.IntEnum):
    FROM_ENVIRONMENT = 0  # BLAZED_MODE; TUNE where it is unset
    OFF = 1               # no socket, no thread, handle 0 for ever; BLAZED_MODE=off always wins
    OBSERVE = 2           # describe, time, forecast; never change
    TUNE = 3
    TUNE_UNTIL = 4        # made by tune_until(): its limits belong to it
    PINNED = 5            # settled plans only, no trials


@dataclass(frozen=True)
class TuneUntil:
    """Tune until so many steps are done or so much time since attach is over, then frozen. 0: no such limit."""
    steps: int
    ns: int


def tune_until(steps: Optional[int] = None, seconds: Optional[float] = None) -> TuneUntil:
    """Raises ValueError where neither limit is given or one is not above zero."""
    if steps is None and seconds is None:
        raise ValueError("tune_until needs steps or seconds")
    limits = [0 if steps is None else int(steps), 0 if seconds is None else int(seconds * _NS)]
    if (steps is not None and limits[0] <= 0) or (seconds is not None and limits[1] <= 0) or max(limits) > _MOST:
        raise ValueError("tune_until needs limits above zero that fit in 64 bits")
    return TuneUntil(*limits)


def mode_of(value: Union[Mode, TuneUntil, str, int]) -> Union[Mode, TuneUntil]:
    """A mode by itself, by number or by its lower-case name. Raises ValueError for anything else."""
    if isinstance(value, TuneUntil):
        return value
    try:
        mode = Mode[value.upper()] if isinstance(value, str) else Mode(value)
    except (KeyError, ValueError):
        raise ValueError(f"{value!r} is no mode; give off, observe, tune, pinned or tune_until(...)") from None
    if mode is Mode.TUNE_UNTIL:
        raise ValueError("tune_until needs a limit; give tune_until(steps=...) or tune_until(seconds=...)")
    return mode
