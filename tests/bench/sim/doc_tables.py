#!/usr/bin/env python3
"""The tables of docs/simulator.md that stand between `<!-- NAME: begin` and `<!-- NAME: end -->`, made from docs/results/sim.json and
compare.json, so that nobody types a figure. `--check` changes nothing and exits 1 where the page says something else."""
import argparse
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = "docs/simulator.md"
MET = ("within", "reached, not shown")
HORIZON = 20000  # steps of a job in the comparison, which is what doing nothing takes
_FINDING = re.compile(r"(?P<standing>[^:]+): (?P<scenario>[^,:;]+)(?:, (?P<row>.*?))?(?:: (?P<measured>[^:;]+))?; bar: (?P<bar>.+)")
_MEASURED = re.compile(r"\S+ (?P<value>\S+)(?: \((?P<low>\S+) to (?P<high>[^,)]+)(?:, n (?P<n>\d+))?\))?")


def number(value, digits=4):
    value = float(value)
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{digits}g}"


def interval(value, low, high, n=None):
    count = "" if n is None else f", n {int(n):,}"
    return f"{number(value)} ({number(low, 3)} to {number(high, 3)}{count})"


def marked(text, name):
    return f"{text} [simulated: results/{name}.json]"


def findings_of(result):
    for row in result["rows"]:
        for text in row.get("findings", ()):
            found = _FINDING.fullmatch(text)
            if found is None:
                raise ValueError(f"no finding of blaze-sim: {text}")
            yield found.groupdict()


def measured_of(finding):
    figure = _MEASURED.fullmatch(finding["measured"] or "")
    if finding["standing"] in ("no data", "not run") or figure is None:
        return "-"
    value, low, high, n = figure.group("value", "low", "high", "n")
    return marked(number(value) if low is None else interval(value, low, high, n), "sim")


def sum_up(bar, findings):
    """One line for each row that does not reach the bar, and one for all that do: the row that is nearest to it."""
    lines = [[finding] for finding in findings if finding["standing"] not in MET]
    met = [finding for finding in findings if finding["standing"] in MET]
    if met:
        sign = 1 if " at most " in bar else -1
        met.sort(key=lambda f: (MET.index(f["standing"]), sign * float(_MEASURED.fullmatch(f["measured"]).group("value"))))
        lines.append(met[::-1])
    for line in lines:
        row = (line[0]["row"] or "all").replace("|", "/")
        others = f" (the nearest of {len(line)} rows)" if len(line) > 1 else ""
        standing = line[0]["standing"] if line[0]["standing"] in MET else f"**{line[0]['standing']}**"
        yield f"| `{line[0]['scenario']}` | {bar} | {row}{others} | {measured_of(line[0])} | {standing} |"


def bars_table(results):
    bars = {}
    for finding in findings_of(results["sim"]):
        bars.setdefault((finding["scenario"], finding["bar"]), []).append(finding)
    yield "| scenario | bar | row | measured | standing |"
    yield "| --- | --- | --- | --- | --- |"
    for (_, bar), findings in bars.items():
        yield from sum_up(bar, findings)


def contests_of(result):
    """(space, build) -> {which workloads: {method: {figure: row}}}, in the order of the rows."""
    contests = {}
    for row in result["rows"]:
        method, split, figure = row["arm"].rpartition(": ")
        build, _, workloads = row["regime"].partition(", ")
        if split:
            contests.setdefault((row["workload"], build), {}).setdefault(workloads, {}).setdefault(method, {})[figure] = row
    return contests


def shown(row):
    return interval(row["median"], row["low"], row["high"], row["n"])


def better_than(ours, others):
    """Methods with a lower regret on the same workloads, the least first."""
    better = [(name, of) for name, of in others.items() if of["regret"]["median"] < ours["regret"]["median"]
              and of["regret"]["n"] == ours["regret"]["n"]]
    for name, of in sorted(better, key=lambda entry: entry[1]["regret"]["median"]):
        apart = of["regret"]["high"] < ours["regret"]["low"]
        yield f"`{name}`: {shown(of['regret'])}, slower than the default in {number(of['worse']['median'], 3)}{'' if apart else '; within the error'}"


def losses_of(groups):
    """What wins against the planner: (in words, with figures) for each."""
    ours = next(iter(groups.values()))["ours"]
    if ours["wall"]["median"] > HORIZON:
        yield f"doing nothing: the job takes {shown(ours['wall'])}"
    seen = set()
    everything = next(iter(groups))
    for workloads, methods in groups.items():
        for text in better_than(methods["ours"], {name: of for name, of in methods.items() if name != "ours"}):
            name = text.partition(":")[0]
            if name not in seen:
                yield text + (f", on {workloads}" if workloads != everything else "")
        seen |= {f"`{name}`" for name in methods}  # where all workloads tell, fewer of them add nothing


def comparison_table(results):
    contests = contests_of(results["compare"])
    yield "| space | build | the planner: regret | capture | who does better |"
    yield "| --- | --- | --- | --- | --- |"
    for (space, build), groups in contests.items():
        ours = next(iter(groups.values()))["ours"]
        losses = "; ".join(losses_of(groups))
        better = marked(losses, "compare") if losses else "nobody"
        yield (f"| {space} | {build.removeprefix('build ')} | {marked(shown(ours['regret']), 'compare')} | "
               f"{marked(shown(ours['capture']), 'compare')} | {better} |")


def losses_text(results):
    """Where the planner loses, in one sentence a kind."""
    contests = contests_of(results["compare"])
    nothing, others = [], []
    for (space, build), groups in contests.items():
        losses = list(losses_of(groups))
        name = f"{space} with builds of {build.removeprefix('build ')}"
        if losses and losses[0].startswith("doing nothing"):
            nothing.append(name)
        if any("within the error" not in loss for loss in losses if not loss.startswith("doing nothing")):
            others.append(name)
    if nothing:
        yield f"A job with the planner takes longer than one that tries nothing in: {', '.join(nothing)}."
    if others:
        yield f"Another method has less regret, beyond the error, in: {', '.join(others)}."
    if not nothing and not others:
        yield "It loses nowhere."


TABLES = {"bars": bars_table, "losses": losses_text, "comparison": comparison_table}


def renewed(text, results):
    for name, make in TABLES.items():
        begin, end = f"<!-- {name}: begin, written by tests/bench/sim/doc_tables.py -->", f"<!-- {name}: end -->"
        before, found, rest = text.partition(begin)
        _, closed, after = rest.partition(end)
        if not found or not closed:
            raise ValueError(f"{PAGE} lacks {begin if not found else end}")
        body = "\n".join(make(results))
        text = f"{before}{begin}\n\n{body}\n\n{end}{after}"
    return text


def results_of(root):
    return {name: json.loads((root / f"docs/results/{name}.json").read_text(encoding="utf-8")) for name in ("sim", "compare")}


def renew(root=ROOT, check=False):
    page = root / PAGE
    text = page.read_text(encoding="utf-8")
    current = renewed(text, results_of(root))
    if check and current != text:
        print(f"{PAGE} does not say what docs/results says; renew it: python3 tests/bench/sim/sim_bench.py --table", file=sys.stderr)
        return 1
    if current != text:
        page.write_text(current, encoding="utf-8")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=pathlib.Path, default=ROOT)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    sys.exit(renew(arguments.root, arguments.check))
