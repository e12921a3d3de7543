#!/usr/bin/env python3
"""docs/dependencies.md names exactly the packages that ./run installs."""
import re

from _lint import Lint


def main():
    lint = Lint("packages")
    installed = set()
    for line in lint.read("deploy/debian-packages.txt").splitlines():
        name = line.split("#")[0].strip()
        if name and not name.startswith("["):
            installed.add(name)
            if "#" not in line:
                lint.find("deploy/debian-packages.txt", 0, f"{name} has no reason")
    documented = set()
    for row in re.findall(r"^\|\s*(`[^|]*`)\s*\|", lint.read("docs/dependencies.md"), re.M):
        documented.update(re.findall(r"`([^`]+)`", row))
    for name in sorted(installed - documented):
        lint.find("docs/dependencies.md", 0, f"has no row for {name}")
    for name in sorted(documented - installed):
        lint.find("docs/dependencies.md", 0, f"names {name}, which deploy/debian-packages.txt does not")
    lint.finish()


if __name__ == "__main__":
    main()
