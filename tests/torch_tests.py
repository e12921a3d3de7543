"""Runs the tests of the PyTorch client in the Python that runs this: tests/unit/torch and tests/system/torch.

    torch_tests.py [NAME ...]

Each file in a process of its own, as many at once as there are processors: what one does to PyTorch's compiler or to the
device must not reach the next. NAME: only files whose name has it in. Prints a line of each file when it is done and what
failed, and ends with 1 where something did.
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import time
from typing import List, Tuple

HERE = pathlib.Path(__file__).resolve().parent
LIMIT_S = 1800
NOT_RUN = 77


def files(wanted: List[str]) -> List[pathlib.Path]:
    """Those of the system first, which take longest."""
    found = [file for room in ("system", "unit") for file in sorted((HERE / room / "torch").glob("*_test.py"))]
    return [file for file in found if not wanted or any(name in file.name for name in wanted)]


def ran(file: pathlib.Path) -> Tuple[pathlib.Path, int, str, float]:
    began = time.monotonic()
    try:
        done = subprocess.run([sys.executable, "-W", "ignore", str(file)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", timeout=LIMIT_S)
        return file, done.returncode, done.stdout, time.monotonic() - began
    except subprocess.TimeoutExpired as late:
        return file, 1, f"{late.stdout or ''}\nnot done after {LIMIT_S} s", time.monotonic() - began


def main() -> int:
    found = files(sys.argv[1:])
    if not found:
        print("torch_tests: no file's name has that in", file=sys.stderr)
        return 2
    counts = {"passed": 0, "FAILED": 0, "not run": 0}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for done in concurrent.futures.as_completed([pool.submit(ran, file) for file in found]):
            file, code, text, took = done.result()
            word = {0: "passed", NOT_RUN: "not run"}.get(code, "FAILED")
            counts[word] += 1
            print(f"{sum(counts.values()):2} of {len(found)}  {word:7} {took:6.1f} s  {file.relative_to(HERE)}", flush=True)
            if word != "passed":
                print(text, flush=True)
    print(f"files of tests with PyTorch: {counts['passed']} passed, {counts['FAILED']} failed, {counts['not run']} not run")
    return 1 if counts["FAILED"] else 0


if __name__ == "__main__":
    sys.exit(main())
