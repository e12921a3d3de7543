#!/usr/bin/env python3
"""A folder that runs on a machine with nothing but a driver, Python and PyTorch: `./run device [FOLDER]`.

    bundle.py --build build/release --out build/device

bin/ holds blazed and blazectl behind starters that find their libraries beside themselves, lib/ what the shim needs,
python/ the client, bench/ these programs and a text to train on. It may be copied anywhere; the C library is the
machine's own and at least as new as the one of the machine that built it. Nothing of PyTorch's process sees lib/programs:
another C++ library there would replace the one that PyTorch was built for.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE.parent), str(HERE)]
import collect  # noqa: E402
import corpus  # noqa: E402

PROGRAMS = ("blazed", "blazectl")
SHIM = "libblazed.so.0"
MOST_BYTES = 64 << 20
# What every machine has of its own and must not have twice.
_OF_THE_MACHINE = re.compile(r"^(linux-vdso|ld-linux[\w-]*|lib(c|m|pthread|dl|rt|resolv|util|nsl))\.so")
_CXX = re.compile(r"^lib(stdc\+\+|gcc_s)\.so")
_STARTER = """#!/bin/sh
set -eu
here=$(dirname "$(readlink -f "$0")")
LD_LIBRARY_PATH=$here/../lib/programs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} exec "$here/../lib/programs/NAME" "$@"
"""


def needed(binary):
    """(name, path) of each library that it loads, the machine's own left out."""
    shown = subprocess.run(["ldd", str(binary)], check=True, capture_output=True, text=True).stdout
    for line in shown.splitlines():
        found = re.match(r"\s*(\S+) => (\S+) \(", line)
        if "not found" in line:
            raise SystemExit(f"bundle: {binary} needs {line.split()[0]}, which is not on this machine; install it")
        if found and not _OF_THE_MACHINE.match(found[1]):
            yield found[1], pathlib.Path(found[2])


def copied(source, target):
    shutil.copyfile(pathlib.Path(source).resolve(), target)
    target.chmod(0o755)
    subprocess.run(["strip", "--strip-unneeded", str(target)], check=True)


def add_programs(build, out):
    beside = out / "lib/programs"
    beside.mkdir(parents=True)
    (out / "bin").mkdir()
    for name in PROGRAMS:
        copied(build / "bin" / name, beside / name)
        starter = out / "bin" / name
        starter.write_text(_STARTER.replace("NAME", name), encoding="ascii")
        starter.chmod(0o755)
        for library, path in needed(build / "bin" / name):
            if not (beside / library).exists():
                copied(path, beside / library)


def add_client(build, out):
    copied(build / "lib" / SHIM, out / "lib" / SHIM)
    for library, path in needed(build / "lib" / SHIM):
        if not _CXX.match(library):
            copied(path, out / "lib" / library)
    shutil.copytree(ROOT / "client/python/blazed", out / "python/blazed",
                    ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))


def add_bench(out):
    bench = out / "bench/torch_jobs"
    bench.mkdir(parents=True)
    for script in sorted(HERE.glob("*.py")):
        if not script.name.endswith("_test.py") and script.name != "bundle.py":
            shutil.copyfile(script, bench / script.name)
    for script in ("collect.py", "samples.py", "private_daemon.py"):
        shutil.copyfile(HERE.parent / script, out / "bench" / script)
    (bench / "text.txt").write_bytes(corpus.read())
    (bench / "COMMIT").write_text(collect.commit() + "\n", encoding="ascii")
    shutil.copyfile(HERE / "device.sh", out / "device.sh")
    (out / "device.sh").chmod(0o755)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    args = parser.parse_args()
    partial = args.out.with_name(args.out.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    add_programs(args.build, partial)
    add_client(args.build, partial)
    add_bench(partial)
    size = sum(path.stat().st_size for path in partial.rglob("*") if path.is_file())
    if size > MOST_BYTES:
        raise SystemExit(f"bundle: {size >> 20} MiB are more than {MOST_BYTES >> 20}; look at what {partial} holds")
    shutil.rmtree(args.out, ignore_errors=True)
    partial.rename(args.out)
    print(f"{args.out}: {size / 2**20:.1f} MiB; copy it to the machine and run device.sh there")
    return 0


if __name__ == "__main__":
    sys.exit(main())
