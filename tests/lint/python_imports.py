#!/usr/bin/env python3
"""The Python package needs only Python: each file of client/python/blazed imports the standard library and the package
itself, and only what Python 3.9 has. The part for a framework, a folder of its own, may import that framework."""
import ast
import sys

from _lint import Lint

PACKAGE = "client/python/blazed/"
# Folder -> what it may see beside.
FRAMEWORKS = {"torch": {"torch", "triton"}}


def imported(tree):
    """(line, top name) of every absolute import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name.split(".")[0]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.lineno, node.module.split(".")[0]


def main():
    lint = Lint("python_imports")
    for name in lint.files(".py", under=PACKAGE):
        folder = name[len(PACKAGE):].rpartition("/")[0].split("/")[0]
        allowed = set(sys.stdlib_module_names) | {"blazed"} | FRAMEWORKS.get(folder, set())
        try:
            tree = ast.parse(lint.read(name), feature_version=(3, 9))
        except SyntaxError as error:
            lint.find(name, error.lineno, f"is no Python 3.9: {error.msg}")
            continue
        for line, top in imported(tree):
            if top not in allowed:
                lint.find(name, line, f"imports {top}: the package needs only the standard library")
    lint.finish()


if __name__ == "__main__":
    main()
