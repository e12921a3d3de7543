"""Samples to a result's row: median and a 95 % interval of the median."""
import math

KEPT = 64  # more samples than this are left out of the file


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def median_interval(values):
    """Order statistics k and n+1-k with P(Binomial(n, 1/2) < k) <= 2.5 %; the whole range where n < 6 allows no such k."""
    ordered = sorted(values)
    n = len(ordered)
    tail, k = 0.0, 0
    while tail + math.comb(n, k) * 0.5**n <= 0.025:
        tail += math.comb(n, k) * 0.5**n
        k += 1
    k = max(k, 1)
    return ordered[k - 1], ordered[n - k]


def row(workload, regime, arm, unit, values, **extra):
    if not values:
        raise ValueError(f"the arm \"{arm}\" has no samples: it measured nothing")
    low, high = median_interval(values)
    result = {"workload": workload, "regime": regime, "arm": arm, "unit": unit, "n": len(values), "median": median(values),
              "low": low, "high": high, **extra}
    if len(values) <= KEPT:
        result["samples"] = list(values)
    return result


def summary_row(series):
    """A series that a program has summed up by itself: its figure stands as the median, with an interval of its own."""
    result = {"workload": "none", "regime": "none", **series}
    missing = [key for key in ("arm", "unit", "n", "median", "low", "high") if key not in result]
    if missing or not result["low"] <= result["median"] <= result["high"]:
        lack = "lacks " + ", ".join(missing) if missing else "lies outside of its interval"
        raise ValueError(f"the arm \"{result.get('arm')}\" {lack}")
    return result
