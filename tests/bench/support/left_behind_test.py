#!/usr/bin/env python3
"""A bench that fails, or is killed, takes its daemon with it."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BENCH = pathlib.Path(sys.argv.pop(1))
PATIENCE_S = 60  # until something that has to come is given up
# In place of the daemon: writes its number, and listens for as long as it takes one to see that it does.
STAND_IN = """#!/usr/bin/env python3
import os, pathlib, signal, socket, sys
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
partial = pathlib.Path(__file__ + ".partial")
partial.write_text(str(os.getpid()))
partial.rename(__file__ + ".pid")
if {listens}:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(sys.argv[sys.argv.index("--socket") + 1])
    listener.listen()
    seen, _ = listener.accept()
    listener.close()
while True:
    signal.pause()
"""


def lives(pid):
    """Not gone, and no zombie that only waits for somebody to ask."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


class LeftBehind(unittest.TestCase):
    def start(self, listens):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in ("bin", "tmp"):
            (self.root / name).mkdir()
        program = self.root / "bin/blazed"
        program.write_text(STAND_IN.format(listens=listens))
        program.chmod(0o755)
        bench = subprocess.Popen([BENCH, "--build", self.root], env={**os.environ, "TMPDIR": str(self.root / "tmp")},
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(bench.stderr.close)
        written = program.with_name("blazed.pid")
        self.wait_for(written.exists)
        self.pid = int(written.read_text())
        self.addCleanup(lambda: lives(self.pid) and os.kill(self.pid, signal.SIGKILL))
        return bench

    def wait_for(self, done):
        until = time.monotonic() + PATIENCE_S
        while not done():
            self.assertLess(time.monotonic(), until, "it never came")
            time.sleep(0.01)

    def test_a_bench_that_fails_ends_its_daemon_and_clears_its_folder(self):
        bench = self.start(listens=True)
        self.assertEqual(bench.wait(PATIENCE_S), 1)
        self.assertRegex(bench.stderr.read(), "_bench: .")
        self.assertFalse(lives(self.pid))
        self.assertEqual(list((self.root / "tmp").iterdir()), [])

    def test_the_daemon_of_a_bench_that_is_killed_ends_with_it(self):
        bench = self.start(listens=False)
        bench.kill()
        bench.wait(PATIENCE_S)
        self.wait_for(lambda: not lives(self.pid))


if __name__ == "__main__":
    unittest.main()
