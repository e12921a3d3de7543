#!/usr/bin/env python3
"""docs/blazectl.md describes exactly the verbs and flags that blazectl's command line has."""
import re

from _lint import Lint

SOURCE = "client/blazectl/command_line.cc"
PAGE = "docs/blazectl.md"


def main():
    lint = Lint("commands")
    source, page = lint.read(SOURCE), lint.read(PAGE)
    verbs = set(re.findall(r'Verb::k\w+,\s*"(\w+)"', source))
    described = set(re.findall(r"^### `(\w+)", page, re.M))
    for verb in sorted(verbs - described):
        lint.find(PAGE, 0, f"has no section for the verb {verb}")
    for verb in sorted(described - verbs):
        lint.find(PAGE, 0, f"describes {verb}, which blazectl does not have")
    flags = set(re.findall(r'"(--[a-z-]+)"', source)) | {"--version", "--help"}
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", page))
    for flag in sorted(flags - named):
        lint.find(PAGE, 0, f"does not name {flag}")
    for flag in sorted(named - flags):
        lint.find(PAGE, 0, f"names {flag}, which blazectl does not have")
    lint.finish()


if __name__ == "__main__":
    main()
