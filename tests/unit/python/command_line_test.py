#!/usr/bin/env python3
"""python -m blazed: flags, exit codes and the end of a run, without a daemon."""
import argparse
import os
import subprocess
import sys
import tempfile
import types
import unittest

import blazed
from blazed import cli_tune, tune_run


def blazed_program(*arguments, **environment):
    return subprocess.run([sys.executable, "-m", "blazed", *arguments], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "BLAZED_SOCKET": "/dev/null", **environment})


class Program(unittest.TestCase):
    def test_help_is_no_error_and_names_the_codes(self):
        for arguments in (("--help",), ("status", "--help"), ("tune", "--help")):
            ran = blazed_program(*arguments)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertIn("exit codes: 0 done; 1 failed", ran.stdout)

    def test_wrong_usage_is_two(self):
        for arguments in (("frobnicate",), ("tune",), ("tune", "/absent.py"), ("tune", __file__, "--for", "soon"),
                          ("tune", "--for", "0s", __file__)):
            self.assertEqual(blazed_program(*arguments).returncode, 2, arguments)
        ran = blazed_program("tune", __file__, BLAZED_MODE="off")
        self.assertEqual(ran.returncode, 2)
        self.assertIn("BLAZED_MODE is off", ran.stderr)

    def test_a_place_that_takes_no_report_is_said_before_the_script_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            for place, sentence in (("", "the value is empty"), (folder, "is a folder"),
                                    (f"{folder}/absent/report.json", "cannot be written")):
                ran = blazed_program("tune", "--no-autostart", "--report", place, __file__)
                self.assertEqual(ran.returncode, 2, ran.stderr)
                self.assertIn(sentence, ran.stderr)
            ran = blazed_program("tune", "--no-autostart", "--report", f"{folder}/report.json", __file__)
            self.assertEqual(ran.returncode, 3, ran.stderr)

    def test_an_empty_socket_is_no_socket(self):
        self.assertEqual(blazed_program("--socket", "").returncode, 2)

    def test_what_the_environment_says_does_not_steer_a_terminal(self):
        ran = blazed_program(BLAZED_MODE="\x1b[31mred\x9b")
        self.assertIn("?[31mred?", ran.stdout)
        self.assertNotIn("\x1b", ran.stdout)

    def test_no_daemon_is_three(self):
        for arguments in ((), ("status",), ("tune", "--no-autostart", __file__)):
            ran = blazed_program(*arguments)
            self.assertEqual(ran.returncode, 3, arguments)
            self.assertIn("nobody listens on /dev/null", ran.stdout + ran.stderr)

    def test_no_library_is_one(self):
        for arguments in ((), ("tune", __file__)):
            ran = blazed_program(*arguments, BLAZED_LIBRARY="/absent")
            self.assertEqual(ran.returncode, 1, arguments)
            self.assertIn("which is not there", ran.stdout + ran.stderr)

    def test_a_word_that_is_no_mode_is_named(self):
        self.assertIn("BLAZED_MODE is none of", blazed_program(BLAZED_MODE="fast").stdout)
        self.assertIn('"mode": "observe"', blazed_program("--json", BLAZED_MODE="observe").stdout)


class Flags(unittest.TestCase):
    def test_of_ours_may_stand_behind_the_script(self):
        self.assertEqual(cli_tune._split(["--for", "1m", "--full", "x", "--for", "2m"]),
                         (["--for", "1m", "--full"], ["x", "--for", "2m"]))
        self.assertEqual(cli_tune._split(["--report=r", "--", "--for"]), (["--report=r"], ["--for"]))
        self.assertEqual(cli_tune._split([]), ([], []))

    def test_times_have_units(self):
        for text, seconds in (("90", 90), ("90s", 90), ("10m", 600), ("1.5h", 5400)):
            self.assertEqual(cli_tune._duration(text), seconds)
        for text in ("", "m", "10 m", "-1s", "0.5s", "1d", "9" * 12):
            with self.assertRaises(argparse.ArgumentTypeError):
                cli_tune._duration(text)


class FakeSession:
    def __init__(self):
        self.settled = False
        self.ended = 0
        self.asked = 0

    def status(self):
        self.asked += 1
        return types.SimpleNamespace(settled=self.settled)

    def step_end(self, flags=0):
        self.ended += 1


class Run(unittest.TestCase):
    def setUp(self):
        self.now = 100.0
        self.session = FakeSession()
        self.addCleanup(setattr, tune_run, "run", None)

    def start(self, **options):
        tune_run.run = tune_run.Run(10, clock=lambda: self.now, **options)
        tune_run.watch(self.session)

    def test_without_one_a_session_is_left_as_it_is(self):
        before = self.session.step_end
        tune_run.watch(self.session)
        self.assertEqual(self.session.step_end, before)

    def test_ends_after_a_step_when_its_time_is_over(self):
        self.start()
        for self.now in (100.0, 104.0, 109.9):
            self.session.step_end()
        self.now = 110.4
        with self.assertRaisesRegex(blazed.Tuned, "the 10 seconds are over") as raised:
            self.session.step_end()
        self.assertEqual(raised.exception.code, 0)
        self.assertEqual(self.session.ended, 4)

    def test_ends_when_nothing_is_left_to_explore_unless_told_to_go_on(self):
        self.session.settled = True
        self.start()
        with self.assertRaises(blazed.Tuned):
            self.session.step_end()
        self.session = FakeSession()
        self.session.settled = True
        self.start(until_settled=False)
        self.session.step_end()

    def test_looks_twice_a_second_and_not_in_every_step(self):
        self.start()
        for step in range(1000):
            self.now = 100 + step / 1000
            self.session.step_end()
        self.assertEqual(self.session.asked, 2)

    def test_leaves_a_script_alone_that_asks_by_itself(self):
        self.start()
        self.assertFalse(blazed.tuned())
        self.now = 200.0
        self.session.step_end()
        self.assertTrue(blazed.tuned())

    def test_no_except_of_a_script_swallows_its_end(self):
        self.assertFalse(issubclass(blazed.Tuned, Exception))
        self.assertTrue(issubclass(blazed.Tuned, SystemExit))


class Scripts(unittest.TestCase):
    """_run_script alone, in processes of their own."""

    def run_script(self, text, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/script.py"
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            program = ("import argparse, sys\nfrom blazed import cli_tune\n"
                       "given = argparse.Namespace(module=False, script=sys.argv[1])\n"
                       "sys.exit(cli_tune._run_script(given, sys.argv[2:]))\n")
            return subprocess.run([sys.executable, "-c", program, path, *arguments], capture_output=True, text=True)

    def test_run_as_the_main_program_with_their_arguments_and_beside_their_modules(self):
        ran = self.run_script("import os, sys\nif __name__ == '__main__': print(sys.argv[1:], "
                              "sys.path[0] == os.path.dirname(os.path.abspath(__file__)))\n", "a", "--b")
        self.assertEqual((ran.stdout, ran.returncode), ("['a', '--b'] True\n", 0))

    def test_end_with_their_own_codes(self):
        for text, code in (("pass", 0), ("import sys; sys.exit(7)", 7), ("import sys; sys.exit('why')", 1),
                           ("import sys; sys.exit(['why'])", 1),
                           ("raise ValueError('why')", 1), ("raise KeyboardInterrupt", 130),
                           ("import blazed; raise blazed.Tuned('done')", 0)):
            ran = self.run_script(text)
            self.assertEqual(ran.returncode, code, text)
            self.assertEqual("why" in ran.stderr, "why" in text, text)


if __name__ == "__main__":
    unittest.main()
