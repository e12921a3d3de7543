"""Small C programs and libraries for the tests of the C interface."""
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
CC = os.environ.get("CC", "cc")


def output_of(source, folder):
    """What the program prints, as lists of words."""
    program = pathlib.Path(folder) / "program"
    (pathlib.Path(folder) / "program.c").write_text(source, encoding="utf-8")
    subprocess.run([CC, "-I", ROOT / "client/cpp/include", "-o", program, f"{program}.c"], check=True)
    return [line.split() for line in subprocess.run([program], check=True, capture_output=True,
                                                    text=True).stdout.splitlines()]


def library_of(source, path):
    pathlib.Path(f"{path}.c").write_text(source, encoding="utf-8")
    subprocess.run([CC, "-shared", "-fPIC", "-o", path, f"{path}.c"], check=True)
    return str(path)
