#!/usr/bin/env python3
"""A figure's marker `[measured: results/NAME.json]` (or `derived`, `simulated`) leads to a well-formed result of that kind, and each
number in a table's marked cell is some row's median, low, high or n, or the sum of the samples of a row or of all rows of a unit, at
the digits printed."""
import json
import pathlib
import re

from _lint import Lint

KINDS = ("measured", "derived", "simulated")
_MARKER = re.compile(rf"\[({'|'.join(KINDS)}): ([^\]\s]+)\]")
# A number by itself: no part of a name or of a version.
_NUMBER = re.compile(r"(?<![\w.,])-?\d+(?:,\d{3})*(?:\.\d+)?(?:e([+-]?\d+))?(?![\w]|\.\d)")
# DESIGN's form of a result: these keys on top, and in every row.
TOP = ("schema", "what", "kind", "date", "commit", "machine", "gpu", "versions", "command", "rows")
FIGURES = ("n", "median", "low", "high")
ROW = ("workload", "regime", "arm", "unit", *FIGURES)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value


def check_row(lint, name, index, row):
    missing = [key for key in ROW if key not in row]
    if missing:
        return lint.find(name, 0, f"row {index} has no {', '.join(missing)}")
    blank = [key for key in FIGURES if not is_number(row[key])]
    if blank:
        return lint.find(name, 0, f"row {index}: {', '.join(blank)} is no number")
    if not row["low"] <= row["median"] <= row["high"]:
        lint.find(name, 0, f"row {index}: median outside low..high")


def check_result(lint, name):
    try:
        result = json.loads(lint.read(name))
    except json.JSONDecodeError as error:
        lint.find(name, error.lineno, f"no JSON: {error.msg}")
        return None
    for key in TOP:
        if key not in result:
            lint.find(name, 0, f"has no '{key}'")
    if result.get("kind") not in KINDS:
        lint.find(name, 0, f"kind must be one of {', '.join(KINDS)}")
    if not result.get("rows"):
        lint.find(name, 0, "has no rows")
    for index, row in enumerate(result.get("rows", [])):
        check_row(lint, name, index, row)
    return result


def numbers_of(result):
    sums = {}
    for row in result.get("rows", []):
        yield from (row[key] for key in FIGURES if is_number(row.get(key)))
        samples = row.get("samples", [])
        if samples and all(is_number(sample) for sample in samples):
            yield sum(samples)
            sums[row.get("unit")] = sums.get(row.get("unit"), 0) + sum(samples)
    yield from sums.values()


def is_among(printed, exponent, numbers):
    """Whether one of the numbers reads so at as many digits."""
    value = float(printed.replace(",", ""))
    digits = len(printed.split("e")[0].partition(".")[2]) - int(exponent or 0)
    return any(abs(number - value) <= 0.5 * 10.0**-digits * (1 + 1e-9) for number in numbers)


def check_cell(lint, name, number, cell, results):
    targets = [str(pathlib.PurePosixPath("docs") / target) for _, target in _MARKER.findall(cell)]
    numbers = {figure for target in targets if results.get(target) for figure in numbers_of(results[target])}
    if not numbers:
        return
    for match in _NUMBER.finditer(_MARKER.sub("", cell)):
        if not is_among(match.group(0), match.group(1), numbers):
            lint.find(name, number, f"{match.group(0)} is in no row of {' and '.join(targets)}")


def main():
    lint = Lint("doc_figures")
    results = {name: check_result(lint, name) for name in lint.files(".json", under="docs/results")}
    for name in lint.files(".md"):
        for number, line in enumerate(lint.read(name).splitlines(), 1):
            # A marker in backticks is the documentation of the marker itself.
            line = re.sub(r"`[^`]*`", "", line)
            for kind, target in _MARKER.findall(line):
                path = str(pathlib.PurePosixPath("docs") / target)
                if path not in results:
                    lint.find(name, number, f"{target}: no such result")
                elif results[path] and results[path].get("kind") != kind:
                    lint.find(name, number, f"{target} is {results[path].get('kind')}, the text says {kind}")
            for cell in line.split("|") if line.startswith("|") else []:
                check_cell(lint, name, number, cell, results)
    lint.finish()


if __name__ == "__main__":
    main()
