#!/usr/bin/env python3
"""Sources are in the format that .clang-format describes; `./run format` repairs."""
import re
import shutil
import subprocess

from _lint import SOURCES, Lint


def main():
    lint = Lint("format")
    tool = shutil.which("clang-format-14") or shutil.which("clang-format")
    if not tool:
        lint.skip("clang-format is not installed; ./run lint installs it")
    names = lint.files(*SOURCES)
    if names:
        ran = subprocess.run([tool, "--dry-run", "--Werror", *names], cwd=lint.root, capture_output=True, text=True)
        wrong = sorted({m for m in re.findall(r"^(\S+?):\d+:\d+: error", ran.stderr, re.M)})
        for name in wrong:
            lint.find(name, 0, "is not in the house format; ./run format repairs it")
        if ran.returncode and not wrong:
            lint.find(".clang-format", 0, ran.stderr.strip()[:400])
    lint.finish()


if __name__ == "__main__":
    main()
