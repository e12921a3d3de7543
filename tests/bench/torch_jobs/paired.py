"""What interleaved rounds say: medians, and ratios of arms paired by round with bootstrap intervals.

Nothing here knows of PyTorch. Rounds: for each arm a list with one value a round, the same round at the same place.
"""
import math
import pathlib
import random
import sys
from typing import Dict, List, NamedTuple, Sequence

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from samples import median, median_interval  # noqa: E402

RESAMPLES = 2000
CHOOSING = 4  # the first of so many parts of the rounds names the best arm, the others compare with it


class Ratio(NamedTuple):
    estimate: float
    low: float
    high: float
    n: int


class Summary(NamedTuple):
    n: int
    median: float
    low: float
    high: float


def summary(values: Sequence[float]) -> Summary:
    return Summary(len(values), median(values), *median_interval(values))


def orders(arms: Sequence[str], rounds: int, seed: int) -> List[List[str]]:
    """Of each round, drawn anew."""
    chance = random.Random(seed)
    drawn = []
    for _ in range(rounds):
        order = list(arms)
        chance.shuffle(order)
        drawn.append(order)
    return drawn


def ratio(arm: Sequence[float], base: Sequence[float], seed: int = 1) -> Ratio:
    """Median over the rounds of arm / base, and the 95 % percentile interval of it where rounds are drawn anew with
    replacement. Below 1: the arm is the faster one."""
    if len(arm) != len(base) or not arm:
        raise ValueError(f"{len(arm)} rounds of an arm cannot be paired with {len(base)} of the other")
    logs = [math.log(one / other) for one, other in zip(arm, base)]
    chance = random.Random(seed)
    drawn = sorted(median(chance.choices(logs, k=len(logs))) for _ in range(RESAMPLES))
    tail = RESAMPLES // 40
    return Ratio(math.exp(median(logs)), math.exp(drawn[tail]), math.exp(drawn[-1 - tail]), len(logs))


def best(values: Dict[str, Sequence[float]], among: Sequence[str]) -> str:
    """Least median in the first part of the rounds; the other rounds did not choose it, so they may compare with it."""
    first = choosing_rounds(len(next(iter(values.values()))))
    return min(among, key=lambda arm: median(values[arm][:first]))


def choosing_rounds(rounds: int) -> int:
    return max(1, rounds // CHOOSING)


def against_best(values: Dict[str, Sequence[float]], among: Sequence[str], arm: str) -> Ratio:
    """Of rounds that had no part in naming the best one. At least two rounds."""
    name, first = best(values, among), choosing_rounds(len(values[arm]))
    return ratio(values[arm][first:], values[name][first:])
