#!/usr/bin/env python3
"""blazectl against a real daemon with a real job: every verb, every exit code that the daemon can cause."""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

BIN = pathlib.Path(os.environ.get("BLAZED_BIN", "build/release/bin"))
PATIENCE = "60s"  # generous for sanitizers; blazectl returns as soon as the daemon answers
FEW_STEPS = "150"


class Machine(unittest.TestCase):
    """A daemon with its own socket and store for each test."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="blazectl-")
        self.addCleanup(self.folder.cleanup)
        self.socket = f"{self.folder.name}/s"
        self.state = f"{self.folder.name}/state"
        self.daemon = None

    def start(self):
        log = open(f"{self.folder.name}/log", "a", encoding="utf-8")
        self.addCleanup(log.close)
        self.daemon = subprocess.Popen([BIN / "blazed", "--socket", self.socket, "--state", self.state],
                                       stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.addCleanup(self.stop, signal.SIGKILL)
        self.assertEqual(self.ctl("health", "--timeout", PATIENCE).returncode, 0, self.log())

    def stop(self, how=signal.SIGTERM):
        if self.daemon and self.daemon.poll() is None:
            self.daemon.send_signal(how)
            self.daemon.wait(60)

    def log(self):
        return pathlib.Path(f"{self.folder.name}/log").read_text(encoding="utf-8")

    def ctl(self, *arguments):
        return subprocess.run([BIN / "blazectl", "--socket", self.socket, *arguments], capture_output=True, text=True,
                              timeout=120)

    def ask(self, *arguments):
        ran = self.ctl(*arguments, "--json")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        answer = json.loads(ran.stdout)
        self.assertEqual(answer["schema"], 1)
        return answer

    def train(self):
        ran = subprocess.run([BIN / "blaze-train", "--workload", "chain", "--plan", "tune", "--steps", FEW_STEPS, "--job",
                              "ctl", "--socket", self.socket, "--report", f"{self.folder.name}/r.json"],
                             capture_output=True, text=True, timeout=300)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def train_until_a_plan_is_known(self):
        """How many jobs that took: on a busy machine one may be over before the daemon has asked for anything."""
        for jobs in range(1, 11):
            self.train()
            if self.ask("plans")["plans"]:
                break
        return jobs


class WithoutDaemon(Machine):
    def test_every_verb_says_that_nobody_listens(self):
        for verb in ("status", "graphs", "plans", "races", "settlements", "explain", "watch", "health"):
            ran = self.ctl(verb)
            self.assertEqual(ran.returncode, 3, verb)
            self.assertIn("no daemon listens at", ran.stderr)
            self.assertEqual(ran.stdout, "")

    def test_a_daemon_that_stopped_in_order_is_gone(self):
        self.start()
        self.stop()
        self.assertEqual(self.daemon.returncode, 0, self.log())
        self.assertEqual(self.ctl("status").returncode, 3)


class EmptyDaemon(Machine):
    def test_answers_every_question_before_the_first_job(self):
        self.start()
        status = self.ask("status")
        self.assertEqual(status["store_state"], "ok")
        self.assertEqual(status["sessions"], [])
        self.assertIn(status["version"], self.ctl("--version").stdout)
        self.assertEqual(self.ask("graphs")["workloads"], [])
        for verb in ("plans", "races", "settlements"):
            self.assertEqual(self.ask(verb)[verb], [])
        self.assertIn("no workload was seen", self.ctl("graphs").stdout)
        self.assertIn("no session is attached", self.ctl("status").stdout)

    def test_unknown_things_are_errors_with_a_next_move(self):
        self.start()
        for arguments in (("explain", "deadbeef"), ("explain",), ("report", "00112233445566778899aabbccddeeff"),
                          ("health", "no-such-part")):
            ran = self.ctl(*arguments)
            self.assertEqual(ran.returncode, 1, f"{arguments}: {ran.stdout} {ran.stderr}")
            self.assertRegex(ran.stderr, r"^blazectl: [^\n]+\n$")

    def test_each_start_on_a_store_is_counted(self):
        self.start()
        first = self.ask("status")["daemon_epoch"]
        self.stop(signal.SIGKILL)
        self.start()
        self.assertGreater(self.ask("status")["daemon_epoch"], first)


class AfterAJob(Machine):
    def test_shows_what_a_job_left_behind(self):
        self.start()
        jobs = self.train_until_a_plan_is_known()
        graphs = self.ask("graphs")
        self.assertEqual(len(graphs["workloads"]), 1, graphs)
        self.assertEqual(len(graphs["graphs"]), 1, graphs)
        workload = graphs["workloads"][0]
        self.assertGreater(workload["decisions"], 0)
        plans = self.ask("plans", workload["fingerprint"][:6])["plans"]
        self.assertGreater(len(plans), 0)
        self.assertEqual({p["workload"] for p in plans}, {workload["fingerprint"]})
        self.assertGreater(len(self.ask("explain", workload["name"])["sentences"]), 0)
        self.assertIn(workload["fingerprint"][:12], self.ctl("explain").stdout)
        self.assertEqual(len(self.ask("plans", "--limit", "1")["plans"]), 1)
        report = self.ask("report", str(jobs))
        self.assertEqual(len(report["plans"]), len(plans))

    def test_watch_goes_on_behind_the_last_event_after_the_daemons_death(self):
        self.start()
        self.train()
        watcher = subprocess.Popen([BIN / "blazectl", "--socket", self.socket, "--json", "watch", "--after", "1"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(watcher.communicate)
        self.addCleanup(watcher.kill)
        event = json.loads(watcher.stdout.readline())
        first_session = event["session"]
        self.stop(signal.SIGKILL)
        self.assertIn("is gone", watcher.stderr.readline())
        self.start()
        self.assertIn("is back", watcher.stderr.readline())
        self.train()
        self.assertEqual(event["schema"], 1)
        while event["session"] in (0, first_session):
            following = json.loads(watcher.stdout.readline())
            self.assertGreater(following["id"], event["id"])
            event = following


if __name__ == "__main__":
    unittest.main()
