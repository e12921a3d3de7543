#!/usr/bin/env python3
"""python -m blazed against a daemon, and daemons that jobs start by themselves."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import unittest

from blazed import autostart, sockets
from machine import BIN, JOB, Machine, listener_pid

ATTACHED = ("import blazed, sys\n"
            "with blazed.Session(None, blazed.Options(autostart=True)) as session:\n"
            "    print(session.status().state, session.status().daemon_epoch, session.reason())\n")


class Program(Machine):
    def blazed(self, *arguments, **environment):
        return subprocess.run([sys.executable, "-m", "blazed", *arguments], capture_output=True, text=True, timeout=300,
                              env={**self.environment, **environment})

    def test_says_what_a_job_would_find(self):
        self.start()
        ran = self.blazed()
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertIn(self.socket, ran.stdout)
        found = json.loads(self.blazed("status", "--json", BLAZED_MODE="pinned").stdout)
        self.assertEqual((found["schema"], found["socket"], found["mode"], found["why_not"]),
                         (1, self.socket, "pinned", ""))

    def test_a_word_that_is_no_mode_is_a_failure_though_the_daemon_answers(self):
        self.start()
        self.assertEqual(self.blazed(BLAZED_MODE="fast").returncode, 1)
        self.assertEqual(self.blazed(BLAZED_MODE="off").returncode, 0)

    def test_tells_a_stopped_daemon_from_one_that_answers(self):
        self.start()
        self.daemon.send_signal(signal.SIGSTOP)
        try:
            ran = self.blazed()
        finally:
            self.daemon.send_signal(signal.SIGCONT)
        self.assertEqual(ran.returncode, 3)
        self.assertIn("stays silent", ran.stdout)

    def test_tunes_a_script_and_ends_it(self):
        self.start()
        report = f"{self.folder}/report.json"
        ran = self.blazed("tune", str(JOB), "--for", "60s", "--report", report, "--seconds", "240")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertRegex(ran.stderr, r"blazed: .* after [\d,]+ steps.*ended because")
        self.assertEqual(ran.stdout, "")  # the script was ended in its loop, before it prints
        self.assertIn("outcome", json.loads(pathlib.Path(report).read_text(encoding="utf-8")))

    def test_ends_a_script_when_its_time_is_over(self):
        self.start()
        ran = self.blazed("tune", "--for", "1s", "--full", str(JOB), "--seconds", "240")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("ended because the 1 seconds are over", ran.stderr)

    def test_says_where_a_script_opened_no_session(self):
        self.start()
        pathlib.Path(f"{self.folder}/idle.py").write_text("print('idle')\n", encoding="utf-8")
        ran = self.blazed("tune", f"{self.folder}/idle.py")
        self.assertEqual((ran.returncode, ran.stdout), (1, "idle\n"))
        self.assertIn("nothing was tuned: the script opened no session", ran.stderr)

    def test_writes_the_report_beside_its_caller_whatever_folder_the_script_goes_to(self):
        self.start()
        job = JOB.resolve()
        script = pathlib.Path(f"{self.folder}/goes.py")
        script.write_text(f"import os, runpy, sys\nos.chdir('/')\nsys.path.insert(0, {str(job.parent)!r})\n"
                          f"runpy.run_path({str(job)!r}, run_name='__main__')\n", encoding="utf-8")
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.folder)
        ran = self.blazed("tune", "--for", "1s", "--full", "--report", "report.json", str(script), "--seconds", "240")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("outcome", json.loads(pathlib.Path(f"{self.folder}/report.json").read_text(encoding="utf-8")))

    def test_leaves_the_end_of_a_forked_child_as_it_is(self):
        self.start()
        script = pathlib.Path(f"{self.folder}/forks.py")
        script.write_text("import os, sys\nchild = os.fork()\nif child == 0: sys.exit(0)\n"
                          "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n", encoding="utf-8")
        ran = self.blazed("tune", str(script))
        self.assertEqual(ran.stdout, "0\n")
        self.assertEqual(ran.stderr.count("nothing was tuned"), 1, ran.stderr)

    def test_tells_what_it_can_where_a_script_closed_its_streams(self):
        self.start()
        script = pathlib.Path(f"{self.folder}/closes.py")
        script.write_text("import sys\nsys.stdout.close()\n", encoding="utf-8")
        ran = self.blazed("tune", str(script))
        self.assertEqual((ran.returncode, ran.stderr), (1, "blazed: nothing was tuned: the script opened no session\n"))
        script.write_text("import sys\nsys.stderr.close()\n", encoding="utf-8")
        self.assertEqual(self.blazed("tune", str(script)).returncode, 1)


class Autostart(Machine):
    def setUp(self):
        super().setUp()
        self.environment["BLAZED_DAEMON"] = str((BIN / "blazed").resolve())
        self.addCleanup(self.end_private)

    def end_private(self):
        """The daemon is nobody's child, so its end is seen at its socket."""
        if sockets.listens(self.socket):
            os.kill(listener_pid(self.socket), signal.SIGTERM)
            self.wait_for(lambda: not sockets.listens(self.socket))
            self.wait_for(lambda: "msg=stopped" in self.private_log())

    def private_log(self):
        return pathlib.Path(f"{self.folder}/blazed/blazed.log").read_text(encoding="utf-8")

    def start_jobs(self, number):
        return [subprocess.Popen([sys.executable, "-c", ATTACHED], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 text=True, env=self.environment) for _ in range(number)]

    def test_a_job_starts_a_daemon_that_outlives_it_and_serves_the_next(self):
        # One second may be too short for a busy machine; then that job is off, says so, and the next one attaches.
        epochs = set()
        for _ in range(5):
            job, = self.start_jobs(1)
            out, errors = job.communicate(timeout=120)
            self.assertEqual(job.returncode, 0, errors)
            self.wait_for(lambda: sockets.listens(self.socket))
            state, epoch, *_ = out.split()
            if state in ("attached", "attaching"):
                epochs.add(epoch)
        self.assertEqual(epochs - {"0"}, {"1"})
        self.assertEqual(self.private_log().count("msg=serving"), 1, self.private_log())

    def test_two_at_once_end_with_one_daemon(self):
        jobs = self.start_jobs(4)
        for job in jobs:
            out, errors = job.communicate(timeout=120)
            self.assertEqual(job.returncode, 0, errors)
        self.wait_for(lambda: sockets.listens(self.socket))
        self.assertEqual(self.private_log().count("msg=serving"), 1, self.private_log())

    def test_the_daemon_leads_a_session_of_its_own_and_is_nobodys_child(self):
        job, = self.start_jobs(1)
        job.communicate(timeout=120)
        self.wait_for(lambda: sockets.listens(self.socket))
        pid = listener_pid(self.socket)
        self.assertNotEqual(os.getsid(pid), os.getsid(0))
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
        self.assertNotEqual(int(stat.rsplit(")", 1)[1].split()[1]), os.getpid())

    def test_the_words_of_one_that_refuses_to_start_are_repeated(self):
        os.environ.update(self.environment)
        pathlib.Path(self.socket).touch()
        # How soon it speaks is the machine's; each turn starts it anew.
        self.wait_for(lambda: "exists and is no socket" in autostart.ensure(patience_s=0.5))

    def test_tune_starts_one_too(self):
        ran = subprocess.run([sys.executable, "-m", "blazed", "tune", str(JOB), "--for", "1s", "--seconds", "240"],
                             capture_output=True, text=True, timeout=300, env=self.environment)
        self.assertEqual(ran.returncode, 0, ran.stderr)


if __name__ == "__main__":
    unittest.main()
