#!/usr/bin/env python3
"""Every test file on disk is registered with CMake, and none is switched off."""
import pathlib
import re

from _lint import Lint, line_of, without_comments_and_strings

_SWITCHED_OFF = re.compile(r"\bTEST(?:_F|_P)?\s*\(\s*\w+\s*,\s*DISABLED_|\b(DISABLED_\w+)")
_COMMENTED_OUT = re.compile(r"^\s*//\s*TEST(_F|_P)?\s*\(", re.M)


def nearest_cmake(lint, name):
    for folder in pathlib.PurePosixPath(name).parents:
        if (lint.root / folder / "CMakeLists.txt").is_file():
            return folder / "CMakeLists.txt"
    return None


def main():
    lint = Lint("registered_tests")
    for name in lint.files("_test.cc", "_test.c", "_test.py", "_test.sh"):
        listing = nearest_cmake(lint, name)
        text = re.sub(r"#.*|\$\{\w+\}/", "", lint.read(str(listing))) if listing else ""
        relative = pathlib.PurePosixPath(name).relative_to(listing.parent) if listing else name
        if not re.search(rf"(?<![\w/]){re.escape(str(relative))}(?![\w.])", text):
            lint.find(name, 0, f"is not registered; name it in {listing}")
        source = lint.read(name)
        if name.endswith((".cc", ".c")):
            for match in _SWITCHED_OFF.finditer(without_comments_and_strings(source)):
                lint.find(name, line_of(source, match.start()), "a test is switched off; repair it or remove it")
            for match in _COMMENTED_OUT.finditer(source):
                lint.find(name, line_of(source, match.start()), "a test is commented out; repair it or remove it")
    for listing in lint.files("CMakeLists.txt", under="tests"):
        folder = pathlib.PurePosixPath(listing).parent
        for named in re.findall(r"[\w/.]+_test\.(?:cc|c|py|sh)\b", re.sub(r"#.*|\$\{\w+\}/", "", lint.read(listing))):
            if not (lint.root / folder / named).is_file():
                lint.find(listing, 0, f"names {named}, which is not there")
    lint.finish()


if __name__ == "__main__":
    main()
