"""Runs the tests of the PyTorch client in the Python that runs this: tests/unit/torch and tests/system/torch.

    torch_tests.py [NAME ...]

Each file in a process of its own, as many at once as there are processors: what one does to PyTorch's compiler or to the
device must not reach the next. NAME: only files whose name has it in. Prints a line of each file when it is done and what
failed, and ends with 1 where something did.
"""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
from typing import Dict, List, Tuple

HERE = pathlib.Path(__file__).resolve().parent
LIMIT_S = 1800
NOT_RUN = 77

# PyTorch asks anew in each process whether code with the processor's vectors loads, in one that imports all of PyTorch.
ASK_OF_VECTORS = """
from torch._inductor import cpu_vec_isa
flags = cpu_vec_isa.x86_isa_checker()
said = [isa for isa in cpu_vec_isa.supported_vec_isa_list if all(flag in flags for flag in str(isa).split())]
raise SystemExit(not (said and all(said)))
"""


def files(wanted: List[str]) -> List[pathlib.Path]:
    """Those of the system first, which take longest."""
    found = [file for room in ("system", "unit") for file in sorted((HERE / room / "torch").glob("*_test.py"))]
    return [file for file in found if not wanted or any(name in file.name for name in wanted)]


def environment(folder: pathlib.Path) -> Dict[str, str]:
    """Of the tests, whose compiled code and other files of this run go into `folder`."""
    (folder / "kernels").mkdir()
    (folder / "compiler").mkdir()
    compiler = folder / "compiler" / "g++"  # PyTorch knows by its name which compiler it is
    compiler.symlink_to(HERE / "torch_compiler.sh")
    found = {**os.environ, "TMPDIR": str(folder), "CXX": str(compiler), "BLAZED_KERNELS": str(folder / "kernels"),
             "OMP_NUM_THREADS": "1",
             # The files share the processors: no workers beside, each with a PyTorch of its own.
             "TORCHINDUCTOR_COMPILE_THREADS": "1"}
    if subprocess.run([sys.executable, "-c", ASK_OF_VECTORS], env=found, stderr=subprocess.DEVNULL).returncode == 0:
        found["TORCHINDUCTOR_VEC_ISA_OK"] = "1"
    return found


def ran(file: pathlib.Path, surroundings: Dict[str, str]) -> Tuple[pathlib.Path, int, str, float]:
    began = time.monotonic()
    try:
        done = subprocess.run([sys.executable, "-W", "ignore", str(file)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", timeout=LIMIT_S, env=surroundings)
        return file, done.returncode, done.stdout, time.monotonic() - began
    except subprocess.TimeoutExpired as late:
        return file, 1, f"{late.stdout or ''}\nnot done after {LIMIT_S} s", time.monotonic() - began


def main() -> int:
    found = files(sys.argv[1:])
    if not found:
        print("torch_tests: no file's name has that in", file=sys.stderr)
        return 2
    counts = {"passed": 0, "FAILED": 0, "not run": 0}
    folder = pathlib.Path(tempfile.mkdtemp(prefix="torch-tests-"))
    surroundings = environment(folder)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for done in concurrent.futures.as_completed([pool.submit(ran, file, surroundings) for file in found]):
            file, code, text, took = done.result()
            word = {0: "passed", NOT_RUN: "not run"}.get(code, "FAILED")
            counts[word] += 1
            print(f"{sum(counts.values()):2} of {len(found)}  {word:7} {took:6.1f} s  {file.relative_to(HERE)}", flush=True)
            if word != "passed":
                print(text, flush=True)
    shutil.rmtree(folder, ignore_errors=True)  # a daemon that a failed test left may still write there
    print(f"files of tests with PyTorch: {counts['passed']} passed, {counts['FAILED']} failed, {counts['not run']} not run")
    return 1 if counts["FAILED"] else 0


if __name__ == "__main__":
    sys.exit(main())
