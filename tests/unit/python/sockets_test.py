#!/usr/bin/env python3
"""The search for a socket is the shim's, and who does not answer is told apart."""
import contextlib
import os
import socket
import tempfile
import threading
import unittest
from unittest import mock

from blazed import autostart, sockets
from blazed.options import Options

SETTINGS = bytes(3) + b"\x04" + bytes(5)


class Places(unittest.TestCase):
    def places(self, option=None, **environment):
        kept = {k: v for k, v in os.environ.items() if k not in ("BLAZED_SOCKET", "XDG_RUNTIME_DIR")}
        with mock.patch.dict(os.environ, {**kept, **environment}, clear=True):
            return sockets.places(option)

    def test_are_tried_in_the_shims_order(self):
        self.assertEqual(self.places().paths, ["/run/blazed/blazed.sock"])
        self.assertEqual(self.places(XDG_RUNTIME_DIR="/x").paths, ["/run/blazed/blazed.sock", "/x/blazed/blazed.sock"])
        self.assertEqual(self.places(BLAZED_SOCKET="/e", XDG_RUNTIME_DIR="/x").paths, ["/e"])
        self.assertEqual(self.places("/o", BLAZED_SOCKET="/e").paths, ["/o"])

    def test_may_be_uris(self):
        for address in ("/a/s", "unix:/a/s", "unix:///a/s"):
            self.assertEqual(self.places(address).paths, ["/a/s"])

    def test_that_are_no_paths_are_named(self):
        self.assertIn("names no path", self.places("unix:").error)
        self.assertIn("longer than 107 bytes", self.places("/" + "x" * 107).error)


@contextlib.contextmanager
def server(path, answer):
    """One that does `answer(connection)` with every connection."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(path)
        listening.listen()
        open_ones = []

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    open_ones.append(listening.accept()[0])
                    answer(open_ones[-1])
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()
            for connection in open_ones:
                connection.close()


class Answers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = f"{folder.name}/s"

    def test_a_server_that_speaks_http2_answers(self):
        with server(self.path, lambda connection: connection.sendall(SETTINGS)):
            self.assertEqual(sockets.why_no_answer(self.path, 30), "")
            self.assertTrue(sockets.listens(self.path))
            self.assertEqual(sockets.first(self.path), self.path)

    def test_everybody_else_is_told_apart(self):
        self.assertIn("nobody listens", sockets.why_no_answer(self.path))
        self.assertIsNone(sockets.first(self.path))
        with server(self.path, lambda connection: None):
            self.assertIn("stays silent", sockets.why_no_answer(self.path, 0.1))
        self.assertIn("which a daemon left behind", sockets.why_no_answer(self.path))
        os.unlink(self.path)
        with server(self.path, lambda connection: connection.sendall(b"HTTP/1.1 400 Bad Request\r\n")):
            self.assertIn("speaks no HTTP/2", sockets.why_no_answer(self.path, 30))
        os.unlink(self.path)
        with server(self.path, lambda connection: connection.shutdown(socket.SHUT_RDWR)):
            self.assertIn("hung up", sockets.why_no_answer(self.path, 30))

    def test_another_users_server_is_not_trusted(self):
        with server(self.path, lambda connection: connection.sendall(SETTINGS)):
            with mock.patch.object(sockets.struct, "unpack", return_value=(1, os.geteuid() + 1, 1)):
                self.assertIn("runs as another user", sockets.why_no_answer(self.path, 30))
                self.assertFalse(sockets.listens(self.path))


class Autostart(unittest.TestCase):
    def ensure(self, options=None, user=4711, **environment):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        with mock.patch.dict(os.environ, {"PATH": folder.name, **environment}, clear=True), \
                mock.patch.object(sockets, "first", return_value=None), \
                mock.patch("os.geteuid", return_value=user), \
                mock.patch("sys.executable", f"{folder.name}/python3"):
            return autostart.ensure(options, patience_s=0.05)

    def test_starts_nothing_where_the_mode_is_off(self):
        self.assertEqual(self.ensure(Options(mode="off")), "")
        self.assertEqual(self.ensure(BLAZED_MODE="off"), "")

    def test_says_what_is_missing(self):
        self.assertIn("XDG_RUNTIME_DIR is not set", self.ensure())
        self.assertIn("no blazed program was found", self.ensure(XDG_RUNTIME_DIR="/x"))
        self.assertIn("no blazed program was found", self.ensure(user=0))
        self.assertIn("neither XDG_STATE_HOME nor HOME",
                      self.ensure(XDG_RUNTIME_DIR="/x", BLAZED_DAEMON="/bin/true"))
        self.assertIn("names no path", self.ensure(BLAZED_SOCKET="unix:"))

    def test_says_where_the_log_of_a_daemon_is_that_did_not_come_up(self):
        with tempfile.TemporaryDirectory() as state:
            sentence = self.ensure(BLAZED_SOCKET="/x/s", BLAZED_DAEMON="/bin/true", XDG_STATE_HOME=state)
            self.assertIn(f"its log is {state}/blazed/blazed.log", sentence)
            self.assertTrue(os.path.exists(f"{state}/blazed/blazed.log"))

    def test_puts_a_long_log_aside(self):
        with tempfile.TemporaryDirectory() as state:
            os.mkdir(f"{state}/blazed")
            with open(f"{state}/blazed/blazed.log", "wb") as log:
                log.truncate((1 << 20) + 1)
            self.ensure(BLAZED_SOCKET="/x/s", BLAZED_DAEMON="/bin/true", XDG_STATE_HOME=state)
            self.assertEqual(os.path.getsize(f"{state}/blazed/blazed.log.1"), (1 << 20) + 1)

    def test_keeps_a_log_that_says_what_the_daemon_said_and_hands_no_sockets_on(self):
        with tempfile.TemporaryDirectory() as state:
            program = f"{state}/blazed.sh"
            with open(program, "w", encoding="utf-8") as file:
                file.write('#!/bin/sh\necho "$@" "notify=$NOTIFY_SOCKET preload=$LD_PRELOAD"\n')
            os.chmod(program, 0o700)
            self.ensure(BLAZED_SOCKET="/x/s", BLAZED_DAEMON=program, XDG_STATE_HOME=state, NOTIFY_SOCKET="/n")
            for _ in range(1000):  # it is nobody's child: there is nothing to wait for but its words
                with open(f"{state}/blazed/blazed.log", encoding="utf-8") as log:
                    said = log.read()
                if said:
                    break
                threading.Event().wait(0.01)
            self.assertEqual(said, f"--state {state}/blazed --socket /x/s notify= preload=\n")


if __name__ == "__main__":
    unittest.main()
