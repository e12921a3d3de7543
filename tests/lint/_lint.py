"""What every lint shares: the files of the tree, findings, and the exit code.

Exit codes: 0 clean, 1 findings, 77 the lint's tool is missing (ctest shows it as skipped).
"""
import argparse
import pathlib
import re
import subprocess
import sys

SKIPPED = 77
SOURCES = (".h", ".c", ".cc")


class Lint:
    def __init__(self, name):
        parser = argparse.ArgumentParser(prog=name)
        parser.add_argument("--root", required=True, type=pathlib.Path, help="root of the checkout")
        self.name = name
        self.root = parser.parse_args().root.resolve()
        self.findings = []

    def files(self, *suffixes, under=""):
        """Paths relative to the root: what git tracks or would track, else every file on disk."""
        git = subprocess.run(
            ["git", "-C", self.root, "ls-files", "--cached", "--others", "--exclude-standard", "--", under or "."],
            capture_output=True, text=True)
        if git.returncode == 0 and git.stdout:
            names = git.stdout.splitlines()
        else:
            names = [str(p.relative_to(self.root)) for p in (self.root / under).rglob("*") if p.is_file()]
        return sorted(n for n in set(names)
                      if (not suffixes or n.endswith(suffixes)) and (self.root / n).is_file()
                      and not n.startswith("build/"))

    def read(self, name):
        return (self.root / name).read_text(encoding="utf-8", errors="replace")

    def find(self, name, line, text):
        self.findings.append(f"{name}:{line}: {text}" if line else f"{name}: {text}")

    def finish(self):
        for finding in self.findings:
            print(finding)
        if self.findings:
            print(f"{self.name}: {len(self.findings)} findings")
            sys.exit(1)
        print(f"{self.name}: clean")
        sys.exit(0)

    def skip(self, why):
        print(f"{self.name}: skipped, {why}")
        sys.exit(SKIPPED)


_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)


def without_comments_and_strings(text):
    """C++ text with comments and literals blanked, every line kept in its place."""
    def blank(match):
        kept = re.sub(r"[^\n]", " ", match.group(0))
        return '""' + kept[2:] if match.group(0)[0] in "\"R" and len(kept) >= 2 else kept
    # Digit separators are no character literals.
    return _TOKEN.sub(blank, re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", "_", text))


def comments(text):
    """(line, text) of every C++ comment."""
    for match in _TOKEN.finditer(re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", "_", text)):
        if match.group(0).startswith(("//", "/*")):
            first = text.count("\n", 0, match.start()) + 1
            for offset, line in enumerate(match.group(0).splitlines()):
                yield first + offset, line


def line_of(text, position):
    return text.count("\n", 0, position) + 1
