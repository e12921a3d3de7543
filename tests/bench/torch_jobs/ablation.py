"""A settled plan taken apart by kinds of decision: which kinds it holds, what became of each in the search, and the plan
with one kind undone, built to be timed beside it. Such a plan is timed only: its numbers are not probed, and the job that
runs it ends with the bench.
"""
from typing import Any, Dict, Iterable, List, Tuple

FUSION = "cuts"
_CUT_OPTIONS = ("merged", "cut")


def kind_of(choice: str) -> str:
    """Of `name=option`: cuts are one kind; any other decision's kind is what it says, such as `graph 0 runs as`."""
    name, _, option = choice.rpartition("=")
    return FUSION if option in _CUT_OPTIONS else name


def kinds_of(plan: Iterable[str]) -> Tuple[str, ...]:
    return tuple(sorted({kind_of(choice) for choice in plan}))


def of_report(report: Dict[str, Any]) -> List[Dict[str, Any]]:
    """For each set of kinds that candidates changed together: how many, what became of them, what they cost, and the
    greatest saving in a race against the default, its interval with it."""
    groups: Dict[Tuple[str, ...], Dict[str, Any]] = {}
    for candidate in report.get("plans") or []:
        kinds = kinds_of(candidate["plan"])
        group = groups.setdefault(kinds, {"kinds": list(kinds), "candidates": 0, "verdicts": {}, "pairs": 0, "build_s": 0.0,
                                          "best_race": None})
        group["candidates"] += 1
        group["verdicts"][candidate["verdict"]] = group["verdicts"].get(candidate["verdict"], 0) + 1
        group["pairs"] += candidate.get("pairs") or 0
        group["build_s"] += candidate.get("build_s") or 0.0
    for race in report.get("race_list") or []:
        effect = race.get("log_ratio") or {}
        group = groups.get(kinds_of(race.get("challenger") or []))
        if group is None or race.get("champion") or effect.get("estimate") is None:
            continue
        if group["best_race"] is None or effect["estimate"] > group["best_race"]["estimate"]:
            group["best_race"] = effect
    return sorted(groups.values(), key=lambda group: -group["candidates"])


def without_each_kind(running: Any, told: Dict[str, Any]) -> Dict[str, int]:
    """Name to handle of the settled plan with one kind undone; none where it holds one kind alone. What cannot be built
    is a sentence in told["ablation_failures"]."""
    status, workload = running.status(), running.job.session.workload
    kinds: Dict[str, List[Any]] = {}
    for choice in status.plan:
        decision = workload.decisions[choice.decision]
        kinds.setdefault(kind_of(f"{decision.name}={decision.options[choice.option]}"), []).append(choice)
    handles: Dict[str, int] = {}
    failures = told.setdefault("ablation_failures", {})
    told["plan_kinds"] = {kind: len(choices) for kind, choices in kinds.items()}
    if len(kinds) < 2:
        return handles
    for kind, undone in kinds.items():
        name = f"its plan without: {kind}"
        try:
            handles[name] = running.job.host.build(tuple(choice for choice in status.plan if choice not in undone)).handle
        except Exception as error:
            failures[name] = str(error)[:300]
    return handles
