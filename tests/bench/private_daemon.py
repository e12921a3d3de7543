"""A private daemon for a bench: own socket and store in a temporary folder, gone with the bench."""
import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time


def listens(path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
            return True
        except OSError:
            return False


@contextlib.contextmanager
def daemon(build, config=""):
    """Yields (process, socket path). `config` is TOML text."""
    with tempfile.TemporaryDirectory(prefix="blazed-bench-") as folder:
        folder = pathlib.Path(folder)
        path = folder / "s"
        (folder / "blazed.toml").write_text(config, encoding="utf-8")
        log = open(folder / "log", "w", encoding="utf-8")
        process = subprocess.Popen([build / "bin/blazed", "--config", folder / "blazed.toml", "--socket", path,
                                    "--state", folder / "state"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            deadline = time.monotonic() + 30
            while not listens(path):
                if process.poll() is not None or time.monotonic() > deadline:
                    sys.stderr.write((folder / "log").read_text(encoding="utf-8"))
                    raise RuntimeError("the daemon did not start")
                time.sleep(0.02)
            yield process, path
        finally:
            if process.poll() is None:
                os.kill(process.pid, signal.SIGCONT)
                process.terminate()
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
            log.close()
