#!/usr/bin/env python3
"""A figure's marker `[measured: results/NAME.json]` or `[derived: ...]` leads to a well-formed result of that kind."""
import json
import pathlib
import re

from _lint import Lint

_MARKER = re.compile(r"\[(measured|derived): ([^\]\s]+)\]")
# DESIGN's form of a result: these keys on top, and in every row.
TOP = ("schema", "what", "kind", "date", "commit", "machine", "gpu", "versions", "command", "rows")
ROW = ("workload", "regime", "arm", "unit", "n", "median", "low", "high")


def check_result(lint, name):
    try:
        result = json.loads(lint.read(name))
    except json.JSONDecodeError as error:
        lint.find(name, error.lineno, f"no JSON: {error.msg}")
        return None
    for key in TOP:
        if key not in result:
            lint.find(name, 0, f"has no '{key}'")
    if result.get("kind") not in ("measured", "derived"):
        lint.find(name, 0, "kind must be measured or derived")
    if not result.get("rows"):
        lint.find(name, 0, "has no rows")
    for index, row in enumerate(result.get("rows", [])):
        missing = [key for key in ROW if key not in row]
        if missing:
            lint.find(name, 0, f"row {index} has no {', '.join(missing)}")
        elif not row["low"] <= row["median"] <= row["high"]:
            lint.find(name, 0, f"row {index}: median outside low..high")
    return result


def main():
    lint = Lint("doc_figures")
    results = {name: check_result(lint, name) for name in lint.files(".json", under="docs/results")}
    for name in lint.files(".md"):
        for number, line in enumerate(lint.read(name).splitlines(), 1):
            # A marker in backticks is the documentation of the marker itself.
            for kind, target in _MARKER.findall(re.sub(r"`[^`]*`", "", line)):
                path = str(pathlib.PurePosixPath("docs") / target)
                if path not in results:
                    lint.find(name, number, f"{target}: no such result")
                elif results[path] and results[path].get("kind") != kind:
                    lint.find(name, number, f"{target} is {results[path].get('kind')}, the text says {kind}")
    lint.finish()


if __name__ == "__main__":
    main()
