"""Runs the tests of the PyTorch client in the Python that runs this: tests/unit/torch and tests/system/torch."""
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def main() -> int:
    suite = unittest.TestSuite()
    for room in ("unit", "system"):
        folder = HERE / room / "torch"
        sys.path.insert(0, str(folder))
        suite.addTests(unittest.TestLoader().discover(str(folder), "*_test.py"))
    return 0 if unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
