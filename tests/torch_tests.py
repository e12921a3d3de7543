"""Runs the tests of the PyTorch client in the Python that runs this: tests/unit/torch and tests/system/torch.

    torch_tests.py [--small] [--minutes N] [NAME ...]

Each file in a process of its own, as many at once as there are processors: what one does to PyTorch's compiler or to the
device must not reach the next. NAME: only files whose name has it in. --small: only those of SMALL. Prints a line of each
file when it is done and what failed, and ends with 1 where something did. Files whose turn has not come after N minutes are
not run, and it says so.
"""
import argparse
import dataclasses
import os
import pathlib
import runpy
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from typing import Dict, List, Tuple

HERE = pathlib.Path(__file__).resolve().parent
LIMIT_S = 1800
NOT_RUN = 77

# The set that each change must pass, by files' names; no tests named are all of a file. Each kind of decision trains to the
# same losses or says why it is not offered, each fallback to the same bits, and beside the real daemon a job is tuned,
# explained by blazectl, and left alone by a daemon that dies; one example of three. Left to the whole suite is what takes
# longest: more ways to die, faults planted under each arithmetic, each decision looked at by itself, jobs that never train,
# the rest of the optimisers.
SMALL: Dict[str, Tuple[str, ...]] = {
    "examples_test": ("Examples.test_a_network_that_reads_digits",),
    "explained_test": (),
    "fallbacks_test": (),
    "faults_test": (),
    "gpu_code_test": (),
    "identity_test": (),
    "installed_test": (),
    "job_test": (),
    "kinds_test": (),
    "memory_test": (),
    "observed_test": (),
    "off_test": (),
    "passing_test": (),
    "recorded_test": (),
    "space_test": (),
    "surroundings_test": (),
    "threads_test": (),
    "tuned_job_test": ("TunedJobs.test_trains_to_the_same_bits_while_variants_run",
                       "TunedJobs.test_a_daemon_that_dies_costs_nothing"),
    "undescribed_test": (),
    "updates_test": ("EveryOptimiser.test_those_that_can_be_fused_train_to_nearly_the_same_losses", "Met", "Replayed",
                     "NotOffered"),
    "variant_test": (),
    "whole_step_test": (),
}

# PyTorch asks anew in each process whether code with the processor's vectors loads, in one that imports all of PyTorch.
ASK_OF_VECTORS = """
from torch._inductor import cpu_vec_isa
flags = cpu_vec_isa.x86_isa_checker()
said = [isa for isa in cpu_vec_isa.supported_vec_isa_list if all(flag in flags for flag in str(isa).split())]
raise SystemExit(not (said and all(said)))
"""


@dataclasses.dataclass
class Running:
    file: pathlib.Path
    began: float
    output: pathlib.Path


def files(wanted: List[str], small: bool) -> List[pathlib.Path]:
    """Those of the system first, which take longest."""
    found = [file for room in ("system", "unit") for file in sorted((HERE / room / "torch").glob("*_test.py"))]
    if small:
        gone = set(SMALL) - {file.stem for file in found}
        if gone:
            raise SystemExit(f"torch_tests: SMALL names what is not there: {' '.join(sorted(gone))}")
        found = [file for file in found if file.stem in SMALL]
    return [file for file in found if not wanted or any(name in file.name for name in wanted)]


def prepare(folder: pathlib.Path) -> None:
    """Sets this process up as those of the tests, whose compiled code and other files of this run go into `folder`."""
    (folder / "kernels").mkdir()
    (folder / "compiler").mkdir()
    compiler = folder / "compiler" / "g++"  # PyTorch knows by its name which compiler it is
    compiler.symlink_to(HERE / "torch_compiler.sh")
    os.environ.update(TMPDIR=str(folder), CXX=str(compiler), BLAZED_KERNELS=str(folder / "kernels"), OMP_NUM_THREADS="1",
                      # The files share the processors: no workers beside, each with a PyTorch of its own.
                      TORCHINDUCTOR_COMPILE_THREADS="1")
    tempfile.tempdir = None  # as the environment has it
    if subprocess.run([sys.executable, "-c", ASK_OF_VECTORS], stderr=subprocess.DEVNULL).returncode == 0:
        os.environ["TORCHINDUCTOR_VEC_ISA_OK"] = "1"
    import torch._dynamo  # noqa: F401
    import torch._inductor.compile_fx  # noqa: F401  once for all files, which takes longer than many a test


def start(file: pathlib.Path, tests: Tuple[str, ...], folder: pathlib.Path) -> Tuple[int, Running]:
    """Its process, which leads a group of its own. `tests`: of the file, all where none is named."""
    running = Running(file, time.monotonic(), folder / f"{file.parent.parent.name}-{file.stem}.txt")
    pid = os.fork()
    if pid:
        return pid, running
    os.setsid()
    signal.alarm(LIMIT_S)
    output = os.open(running.output, os.O_CREAT | os.O_WRONLY)
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.argv, sys.path[0] = [str(file), *tests], str(file.parent)
    runpy.run_path(str(file), run_name="__main__")
    sys.exit(0)


def ended() -> Tuple[int, int]:
    """The next process that ends, when all that it started and left has ended with it, and its exit code."""
    pid = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT).si_pid
    os.killpg(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return pid, os.waitstatus_to_exitcode(status)


def reported(running: Running, code: int, count: str) -> str:
    """The word for how it went. What the file wrote is printed where it did not simply pass."""
    word = {0: "passed", NOT_RUN: "not run"}.get(code, "FAILED")
    took = time.monotonic() - running.began
    print(f"{count}  {word:7} {took:6.1f} s  {running.file.relative_to(HERE)}", flush=True)
    if word != "passed":
        print(running.output.read_text(encoding="utf-8", errors="replace"), flush=True)
    if code == -signal.SIGALRM:
        print(f"not done after {LIMIT_S} s", flush=True)
    return word


def run(found: Dict[pathlib.Path, Tuple[str, ...]], folder: pathlib.Path, running: Dict[int, Running],
        until: float) -> Dict[str, int]:
    """How many there were of each word. `found`: files and which of their tests. `running`: processes, by their ids, while
    they are there."""
    counts = {"passed": 0, "FAILED": 0, "not run": 0}
    waiting = list(found)
    while waiting or running:
        if waiting and time.monotonic() > until:
            print("not run, as the time is over:", *(file.relative_to(HERE) for file in waiting), flush=True)
            counts["not run"] += len(waiting)
            waiting.clear()
            continue
        while waiting and len(running) < (os.cpu_count() or 1):
            file = waiting.pop(0)
            pid, begun = start(file, found[file], folder)
            running[pid] = begun
        pid, code = ended()
        counts[reported(running.pop(pid), code, f"{sum(counts.values()) + 1:2} of {len(found)}")] += 1
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(prog="torch_tests")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    until = time.monotonic() + 60 * arguments.minutes
    found = {file: SMALL[file.stem] if arguments.small else () for file in files(arguments.names, arguments.small)}
    if not found:
        print("torch_tests: no file's name has that in", file=sys.stderr)
        return 2
    me, folder = os.getpid(), pathlib.Path(tempfile.mkdtemp(prefix="torch-tests-"))
    running: Dict[int, Running] = {}
    try:
        prepare(folder)
        counts = run(found, folder, running, until)
    finally:
        if os.getpid() == me:  # and no test's process
            for pid in running:  # after an interrupt, which does not reach groups of their own
                os.killpg(pid, signal.SIGKILL)
            shutil.rmtree(folder, ignore_errors=True)
    print(f"files of tests with PyTorch: {counts['passed']} passed, {counts['FAILED']} failed, {counts['not run']} not run")
    return 1 if counts["FAILED"] else 0


if __name__ == "__main__":
    sys.exit(main())
