"""What the tests of PyTorch jobs with the real daemon share. Imported where PyTorch is not, it ends them as not run."""
import pathlib
import sys

try:
    import torch  # noqa: F401
except ModuleNotFoundError:
    print("not run: PyTorch is not installed here; ./run test --torch installs it and runs this")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))

from machine import BIN, Machine  # noqa: E402, F401

# Builds take as long as thousands of these tiny steps, so that a search that asks whether one pays would wait.
CONFIGURATION = '[tuning]\nsearch = "random"\nbudget_share = 1.0\n'
