#!/usr/bin/env python3
"""Links between documents resolve, and files that documents name in backticks are there."""
import pathlib
import re

from _lint import Lint

_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^(```|~~~).*?^\1", re.M | re.S)
_ROOMS = ("daemon", "proto", "client", "kernels", "storage", "tests", "deploy", "systemd", "docs", "cmake")
_NAMED = re.compile(r"`((?:%s)/[\w./-]+\.(?:h|cc|c|py|md|proto|txt|cmake|sql|sh|json|supp|toml))`" % "|".join(_ROOMS))


def anchors(text):
    """Heading anchors as GitHub makes them."""
    found, seen = set(), {}
    for heading in re.findall(r"^#{1,6}\s+(.+?)\s*#*$", _FENCE.sub("", text), re.M):
        plain = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        anchor = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        count = seen.get(anchor, 0)
        seen[anchor] = count + 1
        found.add(f"{anchor}-{count}" if count else anchor)
    found.update(re.findall(r'<a (?:id|name)="([^"]+)"', text))
    return found


def check_link(lint, name, number, target):
    if re.match(r"[a-z]+:", target):
        return
    path, _, anchor = target.partition("#")
    base = (lint.root / name).parent
    where = (base / path).resolve() if path else lint.root / name
    if not where.exists():
        lint.find(name, number, f"link to {target}: no such file")
    elif anchor and where.suffix == ".md" and anchor not in anchors(where.read_text(encoding="utf-8")):
        lint.find(name, number, f"link to {target}: no such heading")


def main():
    lint = Lint("doc_links")
    for name in lint.files(".md"):
        text = _FENCE.sub(lambda m: "\n" * m.group(0).count("\n"), lint.read(name))
        for number, line in enumerate(text.splitlines(), 1):
            for target in _LINK.findall(line):
                check_link(lint, name, number, target)
            for named in _NAMED.findall(line):
                if "NAME" in named:  # a pattern, not a file
                    continue
                if not (lint.root / named).exists() and not (lint.root / pathlib.PurePosixPath(name).parent / named).exists():
                    lint.find(name, number, f"`{named}`: no such file")
    lint.finish()


if __name__ == "__main__":
    main()
