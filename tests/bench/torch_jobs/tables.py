"""Results as text: a short table of a job, for a terminal, and one of many, for a document."""
import math
from typing import Any, Dict, List, Optional

import ablation

_ROW = "{:<30} {:>9} {:>22} {:>22} {:>22} {:>7} {:>8}"


def _interval(ratio: Optional[Dict[str, Any]], digits: int = 3) -> str:
    if ratio is None:
        return ""
    return f"{ratio['estimate']:.{digits}f} ({ratio['low']:.{digits}f} to {ratio['high']:.{digits}f})"


def of_job(job: Dict[str, Any]) -> str:
    """Lines of at most 130 characters."""
    lines = [f"== {job['job']}: {job['what']}"]
    if job["rows"]:
        rounds = job["rows"][0]["ms"]["n"]
        lines.append(f"   {rounds} rounds, {job.get('took_s', 0):.0f} s; best stock arm: {job['rows'][0].get('best_stock', '?')}")
        lines.append(_ROW.format("arm", "ms a step", "95 %", "/ torch.compile", "/ best stock", "GPU GiB", "warm s"))
    for row in sorted(job["rows"], key=lambda row: row["ms"]["median"]):
        ms = row["ms"]
        lines.append(_ROW.format(row["arm"], f"{ms['median']:.3f}", f"{ms['low']:.3f} to {ms['high']:.3f}",
                                 _interval(row.get("against_compile")), _interval(row.get("against_best_stock")),
                                 f"{row['peak_bytes'] / 2**30:.1f}", f"{row['warm_s']:.1f}"))
    lines += [f"   {name} failed: {why}" for name, why in job["failures"].items()]
    lines += [f"   {name}: {told['ended']}" for name, told in job.get("blazed", {}).items()]
    return "\n".join(lines)


def _found(report: Optional[Dict[str, Any]]) -> List[str]:
    """What the daemon says of the search."""
    if not report:
        return ["   the daemon gave no report"]
    plan = ", ".join(report["plan"][:6]) + (f" and {len(report['plan']) - 6} more" if len(report["plan"]) > 6 else "")
    gain, forecast = report.get("gain"), report.get("forecast") or {}
    lines = [f"   outcome {report['outcome']}; numbers {report.get('equivalence')} under the contract rounding; "
             f"plan {plan or 'the default'}"]
    if gain:
        lines.append(f"   the daemon's own figure: saves {100 * gain['estimate']:.1f} % ({100 * gain['low']:.1f} to "
                     f"{100 * gain['high']:.1f})")
    lines.append(f"   window {report['window_s']:.1f} s: {report['builds']} builds {report['build_s']:.1f} s, {report['probes']} "
                 f"probes {report['probe_s']:.1f} s, drains {report['drain_s']:.2f} s, regret {report['regret_s']:.1f} s, "
                 f"{report['search_pairs']} + {report['replication_pairs']} pairs; forecast {forecast.get('window_s') or 0:.0f} s, "
                 f"{forecast.get('builds') or 0:.0f} builds; break-even {report.get('break_even_steps')} steps")
    return lines


def _kinds(report: Optional[Dict[str, Any]]) -> List[str]:
    lines = []
    for group in ablation.of_report(report or {}):
        race = group["best_race"]
        best = f", at best {100 * -math.expm1(-race['estimate']):.1f} % saved in a race" if race else ""
        verdicts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(group["verdicts"].items()))
        lines.append(f"   {' and '.join(group['kinds']) or 'default'}: {group['candidates']} candidates ({verdicts}), "
                     f"{group['build_s']:.1f} s of builds{best}")
    return lines


def of_tuned_job(job: Dict[str, Any]) -> str:
    lines = [f"== {job['job']} under blazed: {job.get('ended', 'it did not start')}"]
    if "report" in job:
        lines += _found(job["report"]) + _kinds(job["report"])
    if job.get("why_not"):
        lines.append(f"   not tuned: {job['why_not']}")
    if job["rows"]:
        lines.append(_ROW.format("arm", "ms a step", "/ blazed default", "/ torch.compile", "/ best stock", "GPU GiB", "warm s"))
    for row in sorted(job["rows"], key=lambda row: row["ms"]["median"]):
        lines.append(_ROW.format(row["arm"], f"{row['ms']['median']:.3f}", _interval(row.get("against_default")),
                                 _interval(row.get("against_compile")), _interval(row.get("against_best_stock")),
                                 f"{row['peak_bytes'] / 2**30:.1f}", f"{row['warm_s']:.1f}"))
    lines += [f"   {name} failed: {why}" for name, why in {**job["failures"], **job.get("ablation_failures", {})}.items()]
    if "second" in job:
        lines.append(f"   second job: {job['second']}")
    return "\n".join(lines)


def _cell(rows: Dict[str, Any], arm: str, marker: str) -> str:
    return f"{rows[arm]['ms']['median']:.3g} {marker}" if arm in rows else ""


def of_jobs(jobs: List[Dict[str, Any]], marker: str) -> str:
    """Markdown: one row a job, one column for each arm that any of them has; `marker` names the file of the figures."""
    jobs = [job for job in jobs if job["rows"]]
    arms = list(dict.fromkeys(row["arm"] for job in jobs for row in job["rows"]))
    lines = ["| job | " + " | ".join(arms) + " | best stock arm |", "| --- |" + " --- |" * (len(arms) + 1)]
    for job in jobs:
        rows = {row["arm"]: row for row in job["rows"]}
        best = job["rows"][0].get("best_stock", "")
        lines.append("| " + " | ".join([job["job"], *(_cell(rows, arm, marker) for arm in arms), best]) + " |")
    return "\n".join(lines)
