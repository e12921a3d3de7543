#!/usr/bin/env python3
"""The wheel in other distributions' minimal roots, without a compiler or a network: installed by their own pip, it
attaches to a daemon outside and tries plans; where the C library is too old, pip and the package each say so in one sentence.

BLAZED_ROOTS names the roots, with ':' between them; `./run test --package` makes them. Without it nothing is run."""
import json
import os
import pathlib
import sys
import unittest

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
from distribution import Distribution
from machine import JOB, Machine
from wheels import built, unpacked

ROOTS = [root for root in os.environ.get("BLAZED_ROOTS", "").split(":") if root]
FLOOR = (2, 34)


class InARoot(Machine):
    root = ""

    def setUp(self):
        super().setUp()
        self.place = Distribution(self.root)
        self.addCleanup(self.place.close)
        self.assertEqual(self.place.compilers(), [])
        self.wheel = built(self.place.folder)
        self.socket = f"{self.place.folder}/s"
        self.environment["BLAZED_SOCKET"] = self.socket

    def install(self):
        python = self.place.virtual_environment()
        ran = self.place.run(python, "-m", "pip", "--no-cache-dir", "install", "--no-index",
                             f"{self.place.inside}/{self.wheel.name}")
        version = self.place.run(python, "-m", "pip", "--version").stdout.split()[1]
        print(f"{self.place.name}: glibc {'.'.join(map(str, self.place.glibc))}, Python {self.place.python}, pip {version}")
        return python, ran


class LateEnough(InARoot):
    def test_is_installed_by_pip_and_a_job_there_tries_plans(self):
        python, ran = self.install()
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.place.bring(JOB, JOB.with_name("summing_host.py"))
        self.start()
        ran = self.place.run(python, f"{self.place.inside}/{JOB.name}", "--until-built",
                             BLAZED_SOCKET=f"{self.place.inside}/s")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        job = json.loads(ran.stdout)
        self.assertEqual((job["status"]["state"], job["status"]["why_not"], job["error"]), ("attached", "", ""))
        self.assertRegex(job["status"]["library"], r"/site-packages/blazed/_lib/libblazed\.so\.0$")
        self.assertGreater(job["built"], 0)

    def test_says_what_is_missing_where_no_daemon_is_and_trains(self):
        python, _ = self.install()
        self.place.bring(JOB, JOB.with_name("summing_host.py"))
        ran = self.place.run(python, "-m", "blazed")
        self.assertEqual(ran.returncode, 3, ran.stdout + ran.stderr)
        self.assertIn("start blazed", ran.stdout)
        ran = self.place.run(python, "-m", "blazed", "tune", f"{self.place.inside}/{JOB.name}", "--", "--seconds", "0.2")
        self.assertIn("the Python package brings none; install blazed", ran.stdout + ran.stderr)


class TooOld(InARoot):
    def test_is_refused_by_pip(self):
        _, ran = self.install()
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn(f"{self.wheel.name} is not a supported wheel on this platform", ran.stderr)

    def test_put_there_by_hand_says_what_it_needs_and_a_job_trains(self):
        unpacked(self.wheel, self.place.folder / "site")
        self.place.bring(JOB, JOB.with_name("summing_host.py"))
        ran = self.place.run("python3", f"{self.place.inside}/{JOB.name}", "--seconds", "0.2",
                             PYTHONPATH=f"{self.place.inside}/site")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        job = json.loads(ran.stdout)
        self.assertIn(f"needs glibc 2.34 and this machine has glibc {'.'.join(map(str, self.place.glibc))}; ",
                      job["status"]["why_not"])
        self.assertGreater(job["steps"], 0)


def load_tests(loader, _tests, _pattern):
    """Each promise in each root that it is for."""
    suite = unittest.TestSuite()
    for root in ROOTS:
        place = Distribution(root)
        promises = LateEnough if place.glibc >= FLOOR else TooOld
        place.close()
        suite.addTests(loader.loadTestsFromTestCase(type(f"{promises.__name__}_{place.name}", (promises,),
                                                         {"root": root, "__module__": __name__})))
    return suite


if __name__ == "__main__":
    if not ROOTS:
        print("not run: no root of a distribution was named; ./run test --package makes some")
        sys.exit(77)
    if os.geteuid() != 0:
        print("not run: only root can enter a root")
        sys.exit(77)
    unittest.main(verbosity=2)
