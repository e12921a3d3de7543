#!/usr/bin/env python3
"""A session's rules that hold without a daemon."""
import gc
import os
import subprocess
import sys
import tempfile
import threading
import unittest
from unittest import mock

import blazed
from blazed import current

NOWHERE = "/dev/null"  # nobody can listen on a device


def session(**options):
    return blazed.Session(None, blazed.Options(socket=NOWHERE, **options))


class Off(unittest.TestCase):
    def test_before_attach_a_step_runs_the_default(self):
        fresh = session()
        self.assertEqual(fresh.step_begin(), 0)
        fresh.step_end(blazed.StepFlag.CHECKPOINT)
        self.assertEqual(fresh.status().why_not, "the session has not attached")
        fresh.close()

    def test_without_a_daemon_it_says_so_and_nothing_raises(self):
        with session() as off:
            self.assertTrue(off.off)
            self.assertIn("no daemon listens there", off.reason())
            self.assertEqual(off.describe_graph(blazed.Graph(blazed.digest("g"), "g", 1)), blazed.Result.OFF)
            self.assertEqual(off.describe_workload(
                blazed.Workload("w", [blazed.digest("g")], [], blazed.digest("s"))), blazed.Result.OFF)
            self.assertEqual((off.step_begin(), off.step_end()), (0, None))
            self.assertEqual((off.report_json(), off.report()), ("", None))
        self.assertIn("no daemon listens there", off.reason())
        self.assertEqual((off.step_begin(), off.step_end()), (0, None))

    def test_says_why_no_daemon_could_be_started_for_it_and_goes_on_saying_so(self):
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.dict(os.environ, {"BLAZED_DAEMON": folder + "/none", "XDG_STATE_HOME": folder}):
            off = session(autostart=True).attach()
            for _ in range(2):
                for picture in (off.status(), blazed.status()):
                    self.assertEqual(picture.state, "off")
                    self.assertIn("no daemon listens there; none was started: no blazed program was found to start",
                                  picture.why_not)
                off.close()
        with session() as off:
            self.assertNotIn("none was started", off.status().why_not)

    def test_the_environment_switches_it_off_whatever_the_host_asks_for(self):
        with mock.patch.dict(os.environ, {"BLAZED_MODE": "off"}):
            with session(mode="tune") as off:
                self.assertEqual(off.reason(), "the mode is off")

    def test_a_word_that_is_no_mode_is_named(self):
        with mock.patch.dict(os.environ, {"BLAZED_MODE": "fast"}):
            with session() as off:
                self.assertIn("BLAZED_MODE is none of", off.reason())

    def test_options_that_c_cannot_take_make_it_off(self):
        with blazed.Session(None, blazed.Options(rank="first")) as off:
            self.assertIn("the session could not attach", off.reason())
            self.assertEqual(off.step_begin(), 0)

    def test_attach_and_close_may_be_called_again(self):
        off = session()
        self.assertIs(off.attach(), off)
        self.assertIs(off.attach(), off)
        off.close()
        off.close()
        self.assertEqual(off.step_begin(), 0)

    def test_a_forked_child_is_off_and_ends_in_order(self):
        with session():
            child = os.fork()
            if child == 0:
                os._exit(0 if blazed.status().state == "off" else 1)
            self.assertEqual(os.waitpid(child, 0)[1], 0)


class TheStatusOfTheProcess(unittest.TestCase):
    def test_speaks_before_during_and_after_a_session(self):
        program = ("import blazed\n"
                   "print(blazed.status().why_not)\n"
                   f"s = blazed.Session(None, blazed.Options(socket={NOWHERE!r})).attach()\n"
                   "print(blazed.status().why_not)\n"
                   "del s\n"
                   "print(blazed.status().why_not)\n"
                   "import json; json.dumps(blazed.status().as_dict())\n")
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        lines = ran.stdout.splitlines()
        self.assertEqual(len(lines), 3, ran.stderr)
        self.assertEqual(lines[0], "no session has been opened in this process")
        self.assertIn("no daemon listens there", lines[1])
        self.assertEqual(lines[2], lines[1])

    def test_a_dropped_session_is_closed(self):
        off = session().attach()
        closed = []
        with mock.patch.object(off._library, "close", side_effect=closed.append):
            del off
            gc.collect()
        self.assertEqual(len(closed), 1)
        self.assertIsNone(current.session())


class Threads(unittest.TestCase):
    def elsewhere(self, function):
        got = []

        def run():
            try:
                got.append(function())
            except BaseException as error:
                got.append(error)
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        return got[0]

    def test_another_one_may_ask_for_the_latest_picture(self):
        with session() as off:
            with mock.patch.object(off._library, "status", side_effect=AssertionError("asked the library")):
                self.assertEqual(self.elsewhere(off.status), off._picture)
                self.assertEqual(self.elsewhere(blazed.status), off._picture)

    def test_calls_from_another_one_are_errors_while_debugging(self):
        with session() as off:
            with mock.patch.dict(os.environ, {"BLAZED_DEBUG": "1"}):
                self.assertIsInstance(self.elsewhere(off.close), RuntimeError)
                self.assertIsInstance(self.elsewhere(off.report_json), RuntimeError)
            self.assertEqual(self.elsewhere(off.report_json), "")


if __name__ == "__main__":
    unittest.main()
