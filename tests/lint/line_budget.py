#!/usr/bin/env python3
"""No file over 600 lines, no function over 60. Exceptions, each with a reason: tests/lint/allow.txt."""
import ast
import re

from _lint import SOURCES, Lint, without_comments_and_strings

FILE_LINES = 600
FUNCTION_LINES = 60
_SCOPE = re.compile(r"\b(namespace|class|struct|union|enum)\b|\bextern\s*\"\"")
_CONTROL = re.compile(r"^\s*(if|for|while|switch|do|else|try|catch|return)\b")


def cpp_functions(text):
    """(name, first line, last line) of every function defined at namespace or class scope."""
    code = without_comments_and_strings(text)
    code = re.sub(r"^[ \t]*#.*(?:\\\n.*)*", lambda m: re.sub(r"[^\n]", " ", m.group(0)), code, flags=re.M)
    scopes, start, parens = [], 0, 0
    for position, char in enumerate(code):
        if char in "()":
            parens += 1 if char == "(" else -1
        elif char == ";" and parens == 0:
            start = position + 1
        elif char == "{":
            header = code[start:position]
            scopes.append(_classify(header, scopes, parens, start + len(header) - len(header.lstrip()), code))
            if scopes[-1][0] != "value":
                start = position + 1
        elif char == "}" and scopes:
            kind, name, first = scopes.pop()
            if kind == "function":
                yield name, first, code.count("\n", 0, position) + 1
            if kind != "value":
                start = position + 1


def _classify(header, scopes, parens, begin, code):
    inside = any(kind in ("function", "value") for kind, _, _ in scopes)
    plain = re.sub(r"<[^<>]*>", "", header)
    if parens or inside or _CONTROL.match(plain):
        return ("value" if parens or (scopes and scopes[-1][0] == "value") else "block"), "", 0
    called = re.search(r"([\w~:]+(?:\s*operator\s*\S+)?)\s*\(", plain)
    if called and not re.search(r"[^=!<>]=\s*$", plain) and not re.match(r"\s*(namespace|enum)\b", plain):
        if re.search(r"=\s*\[", plain) or not re.search(r"\b(class|struct|union)\s+\w+[^()]*$", plain):
            return "function", called.group(1), code.count("\n", 0, begin) + 1
    if _SCOPE.search(plain):
        return "scope", "", 0
    return "value", "", 0


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, node.end_lineno


def bash_functions(text):
    for match in re.finditer(r"^(\w+)\(\) \{\n(.*?)^\}", text, re.M | re.S):
        first = text.count("\n", 0, match.start()) + 1
        yield match.group(1), first, first + match.group(0).count("\n")


def functions(name, text):
    if name.endswith(SOURCES):
        return cpp_functions(text)
    if name.endswith(".py"):
        return python_functions(text)
    return bash_functions(text) if text.startswith("#!") else ()


def allowances(lint):
    """Lines `path function reason`; each must still be needed."""
    rows = {}
    if (lint.root / "tests/lint/allow.txt").is_file():
        for number, line in enumerate(lint.read("tests/lint/allow.txt").splitlines(), 1):
            if line.strip() and not line.startswith("#"):
                parts = line.split(None, 2)
                if len(parts) < 3:
                    lint.find("tests/lint/allow.txt", number, "needs a path, a function and a reason")
                else:
                    rows[tuple(parts[:2])] = number
    return rows


def main():
    lint = Lint("line_budget")
    allowed = allowances(lint)
    used = set()
    for name in lint.files():
        if not name.endswith((*SOURCES, ".py", ".sh", ".proto", ".md", ".txt", ".cmake", ".sql", "run")):
            continue
        text = lint.read(name)
        lines = len(text.splitlines())
        if lines > FILE_LINES:
            lint.find(name, 0, f"{lines} lines; split it by idea, at most {FILE_LINES}")
        for function, first, last in functions(name, text):
            length = last - first + 1
            if length <= FUNCTION_LINES:
                continue
            if (name, function) in allowed:
                used.add((name, function))
                continue
            lint.find(name, first, f"{function} has {length} lines; split it by idea, at most {FUNCTION_LINES}")
    for key in sorted(set(allowed) - used):
        lint.find("tests/lint/allow.txt", allowed[key], f"{key[0]} {key[1]} needs no allowance; remove the line")
    lint.finish()


if __name__ == "__main__":
    main()
