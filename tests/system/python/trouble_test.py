#!/usr/bin/env python3
"""Nothing that goes wrong around a session reaches the training loop, and what people order does."""
import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import traceback
import unittest

import blazed
from machine import PATIENCE_S, Machine
from summing_host import SummingHost


class Daemon(Machine):
    def test_its_death_in_the_middle_stops_no_step_and_its_return_is_met(self):
        self.start()
        host, session = self.attached()
        epoch = session.status().daemon_epoch
        self.step_until(host, session, lambda: host.built)
        self.stop(signal.SIGKILL)
        self.step_until(host, session, lambda: session.status().state == "reconnecting")
        self.assertTrue(session.status().why_not)
        for _ in range(50):
            host.step(session)
        self.start()
        self.step_until(host, session, lambda: session.status().attached)
        self.assertGreater(session.status().daemon_epoch, epoch)
        built = len(host.built)
        self.step_until(host, session, lambda: len(host.built) > built or session.status().settled)
        session.close()
        self.assertEqual(blazed.status().state, "closed")
        self.assertEqual(sorted(host.dropped), list(range(1, len(host.built) + 1)))
        self.assertIsNone(session.last_error)

    def test_one_that_is_stopped_keeps_no_step_waiting(self):
        self.start()
        host, session = self.attached(mode="observe")
        self.daemon.send_signal(signal.SIGSTOP)
        try:
            for _ in range(300):
                self.assertEqual(host.step(session), 0)
            session.close()
        finally:
            self.daemon.send_signal(signal.SIGCONT)


ENDING = """
import sys
import blazed
from summing_host import SummingHost
host = SummingHost()
session = blazed.Session(host, blazed.Options(host_name="summing 1")).attach()
host.describe(session)
while not host.built:
    host.step(session)
session.step_begin()
"""


class Ends(Machine):
    def end(self, last_line):
        """Exit code and standard error of a job that attached, built something and ends with this line in a step."""
        ran = subprocess.run([sys.executable, "-X", "dev", "-W", "error", "-c", ENDING + last_line], text=True,
                             capture_output=True, timeout=PATIENCE_S, cwd=pathlib.Path(__file__).parent,
                             env=self.environment)
        return ran.returncode, ran.stderr

    def test_of_a_process_without_closing_are_in_order_and_seen_by_the_daemon(self):
        self.start()
        for number, (line, code) in enumerate((("pass", 0), ("sys.exit(3)", 3), ("import os; os._exit(4)", 4)), 1):
            self.assertEqual(self.end(line), (code, ""))
            self.wait_for(lambda: self.log().count("session ended") == number)
        code, errors = self.end("raise ValueError('of the script')")
        self.assertEqual((code, errors.splitlines()[-1]), (1, "ValueError: of the script"))

    def test_of_a_session_that_is_dropped_are_seen_by_the_daemon(self):
        self.start()
        host = SummingHost()
        session = blazed.Session(host, blazed.Options(host_name="summing 1")).attach()
        host.describe(session)
        self.step_until(host, session, lambda: host.built)
        del session
        self.wait_for(lambda: "session ended" in self.log())
        self.assertEqual(len(host.dropped), len(host.built))


class Forks(Machine):
    def test_a_child_is_off_may_attach_anew_and_leaves_the_parent_alone(self):
        self.start()
        host, session = self.attached()
        token = session.status().session
        child = os.fork()
        if child == 0:
            code = 99
            try:
                code = self.in_child(host, session, token)
            finally:
                os._exit(code)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        for _ in range(50):
            host.step(session)
        self.assertEqual((session.status().state, session.status().session), ("attached", token))

    def in_child(self, host, session, token):
        """A code that says which line did not hold."""
        built = len(host.built)
        if [host.step(session) for _ in range(20)] != [0] * 20:
            return 10
        if session.status().state != "off" or "forked" not in session.reason() or len(host.built) != built:
            return 11
        if "forked" not in blazed.status().why_not:
            return 12
        session.close()
        own_host = SummingHost()
        with blazed.Session(own_host, blazed.Options(host_name="summing 1")) as own:
            if own_host.describe(own) != [blazed.Result.OK] * 2:
                return 13
            self.step_until(own_host, own, lambda: own.status().attached)
            if own.status().session in ("", token):
                return 14
        return 0

    def test_workers_of_a_data_loader_come_and_go(self):
        self.start()
        host, session = self.attached()
        context = multiprocessing.get_context("fork")
        for _ in range(3):
            with context.Pool(2) as pool:
                self.assertEqual(pool.map(abs, range(-3, 0)), [3, 2, 1])
            for _ in range(20):
                host.step(session)
        self.assertTrue(session.status().attached)


class InterruptedHost(SummingHost):
    """Ctrl-C arrives in its first build, or in its first probe of a variant."""

    def __init__(self, where):
        self.where = where
        super().__init__()

    def interrupt(self, where):
        if self.where == where:
            self.where = None
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(10**9):
                pass  # the interrupt comes between two of these
        return None

    def build(self, plan):
        self.interrupt("build")
        return super().build(plan)

    def probe(self, handle, emit):
        if handle != 0:
            self.interrupt("probe")
        super().probe(handle, emit)


class Interrupts(Machine):
    def interrupted(self, where):
        """The session after the interrupt, and the verdicts of its report."""
        self.start()
        host, session = self.attached(InterruptedHost(where))
        try:
            self.step_until(host, session, lambda: False)
        except KeyboardInterrupt as interrupt:
            frames = traceback.extract_tb(interrupt.__traceback__)
        self.assertIn("interrupt", {frame.name for frame in frames})  # it shows where the script was
        # The host may go on: the session is whole.
        self.step_until(host, session, lambda: host.built and session.status().counts["probes"] > 0)
        self.assertTrue(session.status().attached)
        return session, {plan["verdict"]: plan["reason"] for plan in session.report()["plans"]}

    def test_in_a_build_reaches_the_script_and_the_variant_counts_as_failed(self):
        session, verdicts = self.interrupted("build")
        self.assertIn("KeyboardInterrupt", verdicts.get("build_failed", ""), verdicts)

    def test_in_a_probe_reaches_the_script_and_rejects_nothing(self):
        session, verdicts = self.interrupted("probe")
        self.assertNotIn("rejected_broken", verdicts)
        self.assertNotIn("build_failed", verdicts)

    def test_an_order_to_end_in_a_build_ends_the_script(self):
        class Ending(SummingHost):
            def build(self, plan):
                raise SystemExit(5)
        self.start()
        host, session = self.attached(Ending())
        with self.assertRaises(SystemExit):
            self.step_until(host, session, lambda: False)


class BrokenHosts(Machine):
    def run_broken(self, kind):
        self.start()
        host, session = self.attached(kind())
        self.step_until(host, session, lambda: session.status().settled or session.last_error is not None)
        for _ in range(200):
            host.step(session)
        self.assertIsNotNone(session.last_error)
        self.assertIn("broken on purpose", str(session.last_error))
        return host, session

    def test_that_build_nothing_train_on_the_default(self):
        class Host(SummingHost):
            def build(self, plan):
                raise RuntimeError("broken on purpose")
        host, session = self.run_broken(Host)
        self.assertEqual(set(host.live), {0})
        self.assertIn("RuntimeError: broken on purpose",
                      {plan["reason"] for plan in session.report()["plans"] if plan["verdict"] == "build_failed"})

    def test_whose_probes_fault_run_no_variant(self):
        class Host(SummingHost):
            def probe(self, handle, emit):
                if handle != 0:
                    raise RuntimeError("broken on purpose")
                super().probe(handle, emit)
        host, session = self.run_broken(Host)
        self.assertEqual(set(host.live), {0})

    def test_that_cannot_say_what_ran_run_no_variant(self):
        class Host(SummingHost):
            def signature(self, handle):
                if handle != 0:
                    raise RuntimeError("broken on purpose")
                return super().signature(handle)
        host, session = self.run_broken(Host)
        self.assertEqual(set(host.live), {0})

    def test_that_ask_the_session_in_a_callback_get_what_is_harmless(self):
        answers = []

        class Host(SummingHost):
            def build(self, plan):
                answers.append((session.step_begin(), session.status().state, session.describe_graph(None),
                                session.report_json(), session.close()))
                return super().build(plan)
        self.start()
        host, session = self.attached(Host())
        self.step_until(host, session, lambda: answers)
        self.assertEqual(answers[0], (0, "attached", blazed.Result.OFF, "", None))
        self.assertIn("may not call this", str(session.last_error))
        self.assertTrue(session.status().attached)

    def test_that_cannot_drop_train_on(self):
        class Host(SummingHost):
            def drop(self, handle):
                raise RuntimeError("broken on purpose")
        self.start()
        host, session = self.attached(Host())
        self.step_until(host, session, lambda: host.built)
        session.close()
        self.assertIn("broken on purpose", str(session.last_error))
        self.assertEqual(host.step(session), 0)


if __name__ == "__main__":
    unittest.main()
