#!/usr/bin/env python3
"""docs/pytorch.md names the releases of PyTorch that the client tunes under, and .ci/run tests with one of them."""
import re

from _lint import Lint

RELEASES, PAGE, GATE = "client/python/blazed/torch/releases.txt", "docs/pytorch.md", ".ci/run"


def main():
    lint = Lint("releases")
    tuned = lint.read(RELEASES).split()
    section = lint.read(PAGE).partition("\n## Versions\n")[2].partition("\n## ")[0]
    documented = re.findall(r"^\|\s*(\d[\d.]*)\s*\|", section, re.M)
    for release in sorted(set(tuned) - set(documented)):
        lint.find(PAGE, 0, f"its table of versions has no row for {release} of {RELEASES}")
    for release in sorted(set(documented) - set(tuned)):
        lint.find(PAGE, 0, f"its table of versions names {release}, which {RELEASES} does not")
    for release in re.findall(r"test --torch (\S+)", lint.read(GATE)):
        if release not in tuned:
            lint.find(GATE, 0, f"tests with {release}, which {RELEASES} does not name")
    lint.finish()


if __name__ == "__main__":
    main()
