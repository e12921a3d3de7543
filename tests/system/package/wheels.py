"""A wheel for a test: built from the tree's shim, and unpacked as an installer would."""
import importlib.util
import os
import pathlib
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
BACKEND = ROOT / "client/python/wheel_backend/blazed_wheel.py"
SHIM = os.environ.get("BLAZED_BUNDLE", "")  # CMake's target blazed_shim_bundle
INSIDE = "blazed/_lib/libblazed.so.0"


def backend(path=BACKEND):
    spec = importlib.util.spec_from_file_location("blazed_wheel", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def build(out, shim=SHIM, path=BACKEND, **environment):
    """By the command that `./run package` uses. Returns the completed process, whose text is the wheel's path."""
    return subprocess.run([sys.executable, path, "--shim", shim, "--out", out], capture_output=True, text=True,
                          env={**os.environ, **environment})


def built(out):
    ran = build(out)
    assert ran.returncode == 0, ran.stderr
    return pathlib.Path(ran.stdout.strip())


def unpacked(wheel, folder):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder
