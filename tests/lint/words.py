#!/usr/bin/env python3
"""Words that say a thing is unfinished or tied to one moment or machine."""
import re

from _lint import SOURCES, Lint, comments

# (pattern, where, what to do); where: all text, the product's (not the tests'), or prose (comments and documents).
RULES = [
    (re.compile(r"\b(TODO|FIXME|XXX|HACK)\b"), "all", "finish it, or write an issue and name the limit in the docs"),
    (re.compile(r"\b((?i:placeholder|lorem ipsum|not implemented)|unimplemented)\b"), "all",
     "finish it or leave it out"),
    (re.compile(r"\b(dummy|stubbed|stub (for|implementation))\b", re.I), "prose", "say what it is: a fake, a scratch value"),
    (re.compile(r"\b(currently|nowadays|at the moment|for now)\b", re.I), "prose", "name the version instead"),
    (re.compile(r"(?<![\w.])/(w[o]rk(space|dir)?|mnt|builds)/\w"), "all", "a path of one machine; use a variable or a relative path"),
    # Tests may name homes that are nobody's.
    (re.compile(r"(?<![\w.])/(home|root)/\w"), "product", "a path of one machine; use a variable or a relative path"),
]
# The lints and their tests hold the words they look for.
EXEMPT = ("tests/lint/",)


def prose(name, text):
    if name.endswith(SOURCES) or name.endswith(".proto"):
        return list(comments(text))
    if name.endswith((".md", ".txt")):
        return list(enumerate(text.splitlines(), 1))
    return [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.lstrip().startswith(("#", "--"))]


def main():
    lint = Lint("words")
    for name in lint.files():
        if name.startswith(EXEMPT) or name.endswith((".json", ".png", ".svg", ".bin", ".db")):
            continue
        text = lint.read(name)
        everything = list(enumerate(text.splitlines(), 1))
        spoken = prose(name, text)
        for pattern, where, advice in RULES:
            if where == "product" and name.startswith("tests/"):
                continue
            for number, line in spoken if where == "prose" else everything:
                match = pattern.search(line)
                if match:
                    lint.find(name, number, f"'{match.group(0)}': {advice}")
    lint.finish()


if __name__ == "__main__":
    main()
