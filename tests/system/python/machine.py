"""A machine for a test: a daemon with its own socket and store, and jobs that find it."""
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import blazed
from blazed import sockets
from summing_host import SummingHost

BIN = pathlib.Path(os.environ.get("BLAZED_BIN", "build/release/bin"))
JOB = pathlib.Path(__file__).with_name("summing_job.py")
PATIENCE_S = 120  # a limit for what takes a moment


def listener_pid(path):
    """Who serves a socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as made:
        made.connect(path)
        return struct.unpack("3i", made.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]


class Machine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="blazed-python-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.socket = f"{self.folder}/s"
        self.daemon = None
        self.environment = {k: v for k, v in os.environ.items()
                            if k not in ("BLAZED_MODE", "BLAZED_DEBUG", "XDG_RUNTIME_DIR")}
        self.environment.update(BLAZED_SOCKET=self.socket, XDG_STATE_HOME=self.folder)
        saved = dict(os.environ)
        self.addCleanup(os.environ.update, saved)
        self.addCleanup(os.environ.clear)
        os.environ.clear()
        os.environ.update(self.environment)

    def start(self):
        log = open(f"{self.folder}/log", "a", encoding="utf-8")
        self.addCleanup(log.close)
        # An empty file of its own, so that the machine's configuration is not the test's.
        pathlib.Path(f"{self.folder}/blazed.toml").touch()
        self.daemon = subprocess.Popen(
            [BIN / "blazed", "--config", f"{self.folder}/blazed.toml", "--socket", self.socket, "--state",
             f"{self.folder}/state"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.addCleanup(self.stop, signal.SIGKILL)
        self.wait_for(lambda: not sockets.why_no_answer(self.socket))

    def stop(self, how=signal.SIGTERM):
        if self.daemon is not None and self.daemon.poll() is None:
            self.daemon.send_signal(how)
            self.daemon.wait(60)

    def log(self):
        return pathlib.Path(f"{self.folder}/log").read_text(encoding="utf-8")

    def wait_for(self, holds, do=lambda: time.sleep(0.01)):
        """Does `do` again and again until `holds` is true."""
        deadline = time.monotonic() + PATIENCE_S
        while not holds():
            self.assertLess(time.monotonic(), deadline, "waited in vain")
            do()

    def attached(self, host=None, **options):
        """(host, session) that the daemon answered and that has its workload described."""
        host = host or SummingHost()
        session = blazed.Session(host, blazed.Options(host_name="summing 1", **options)).attach()
        self.addCleanup(session.close)
        self.assertEqual(host.describe(session), [blazed.Result.OK] * 2, session.reason())
        self.step_until(host, session, lambda: session.status().attached)
        return host, session

    def step_until(self, host, session, holds):
        self.wait_for(holds, lambda: host.step(session))

    def job(self, *arguments, **environment):
        """What a job printed as its last line."""
        ran = subprocess.run([sys.executable, JOB, *arguments], capture_output=True, text=True, timeout=300,
                             env={**self.environment, **environment})
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return json.loads(ran.stdout.splitlines()[-1])
