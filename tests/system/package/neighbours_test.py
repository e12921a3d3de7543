#!/usr/bin/env python3
"""The wheel's shim beside other copies of what it is made of: a job whose process has PyPI's gRPC and Protocol Buffers
tries plans, and they work on, whoever came first.

BLAZED_NEIGHBOURS names a Python that has both; `./run test --package` makes one. Without it nothing is run."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent / "python"))
from machine import Machine
from wheels import INSIDE, built, unpacked

PYTHON = os.environ.get("BLAZED_NEIGHBOURS", "")


class Neighbours(Machine):
    def beside(self, first):
        site = unpacked(built(f"{self.folder}/wheels"), f"{self.folder}/site")
        self.start()
        ran = subprocess.run([PYTHON, HERE / "neighbours_job.py", first], capture_output=True, text=True, timeout=120,
                             env={**self.environment, "PYTHONPATH": f"{site}:{HERE.parent / 'python'}"})
        self.assertEqual(ran.returncode, 0, ran.stderr)
        job = json.loads(ran.stdout)
        self.assertEqual((job["state"], job["why_not"], job["library"]), ("attached", "", f"{site}/{INSIDE}"))
        self.assertGreater(job["built"], 0)
        self.assertGreater(job["calls"], 100)
        self.assertEqual(job["wrong"], 0)

    def test_came_first(self):
        self.beside("neighbours")

    def test_came_later(self):
        self.beside("blazed")


if __name__ == "__main__":
    if not PYTHON:
        print("not run: no Python with grpcio and protobuf was named; ./run test --package makes one")
        sys.exit(77)
    unittest.main(verbosity=2)
