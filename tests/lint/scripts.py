#!/usr/bin/env python3
"""Shell scripts pass shellcheck and stop at the first failure."""
import shutil
import subprocess

from _lint import Lint


def main():
    lint = Lint("scripts")
    tool = shutil.which("shellcheck")
    if not tool:
        lint.skip("shellcheck is not installed; ./run lint installs it")
    for name in lint.files():
        with open(lint.root / name, "rb") as file:
            first = file.readline(64)
        if not (first.startswith(b"#!") and b"sh" in first):
            continue
        if "set -euo pipefail" not in lint.read(name):
            lint.find(name, 1, "lacks 'set -euo pipefail'")
        ran = subprocess.run([tool, "--format=gcc", name], cwd=lint.root, capture_output=True, text=True)
        lint.findings.extend(ran.stdout.splitlines())
    lint.finish()


if __name__ == "__main__":
    main()
