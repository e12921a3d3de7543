#!/usr/bin/env python3
"""Importing does nothing; a library that is missing or wrong is one sentence with the next move."""
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import blazed
import compiled
from blazed import abi, library


class Import(unittest.TestCase):
    def test_only_defines_things(self):
        program = ("import sys, threading, atexit, ctypes, logging, weakref\n"  # these do what they do at exit
                   "before = atexit._ncallbacks()\n"
                   "import blazed, blazed.library, blazed.__main__\n"
                   "assert atexit._ncallbacks() == before, 'something runs at exit'\n"
                   "assert blazed.library._loaded is None, 'the library was loaded'\n"
                   "assert threading.active_count() == 1, 'a thread was started'\n"
                   "assert not {'torch', 'numpy'} & set(sys.modules), 'a framework was imported'\n"
                   "with open('/proc/self/maps') as maps:\n"
                   "    assert 'libblazed' not in maps.read(), 'the library was mapped'\n")
        ran = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True)
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "", ""))

    def test_says_of_what_it_lacks_that_it_lacks_it(self):
        with self.assertRaisesRegex(AttributeError, "no attribute 'frobnicate'"):
            blazed.frobnicate

    def test_the_backend_for_pytorch_is_imported_where_it_is_asked_for_and_explained_where_it_cannot_be(self):
        missing = ModuleNotFoundError("No module named 'torch'", name="torch")
        with mock.patch("importlib.import_module", side_effect=missing) as imported:
            with self.assertRaisesRegex(AttributeError, "needs PyTorch"):
                blazed.torch
        imported.assert_called_once_with("blazed.torch")


class Loading(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        saved = library._loaded
        self.addCleanup(setattr, library, "_loaded", saved)
        library._loaded = None

    def why_not(self, value):
        with mock.patch.dict(os.environ, {"BLAZED_LIBRARY": str(value)}):
            with self.assertRaises(blazed.Unavailable) as raised:
                blazed.load()
        sentence = str(raised.exception)
        self.assertNotIn("\n", sentence)
        self.assertIn("; ", sentence)  # what is wrong; the next move
        return sentence

    def at(self, name):
        return pathlib.Path(self.folder.name) / name

    def test_gives_one_table_and_says_where_it_is_from(self):
        loaded = blazed.load()
        self.assertIs(loaded, blazed.load())
        self.assertEqual(loaded.path, os.environ["BLAZED_LIBRARY"])
        self.assertEqual(blazed.__version__, loaded.version)

    def test_names_a_file_that_is_not_there(self):
        self.assertIn("which is not there", self.why_not(self.at("absent.so")))

    def test_says_where_it_looked_in_vain(self):
        if "libblazed" in subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout:
            self.skipTest("libblazed is installed on this machine")
        # In a process of its own: here the loader would hand out the one that is loaded.
        ran = subprocess.run([sys.executable, "-c", "import blazed; print(blazed.status().why_not)"],
                             capture_output=True, text=True, env={**os.environ, "BLAZED_LIBRARY": ""})
        self.assertIn("libblazed is not installed", ran.stdout, ran.stderr)

    def test_names_the_machine_that_a_library_is_for(self):
        wrong = 183 if platform.machine() == "x86_64" else 62
        header = bytearray(pathlib.Path(os.environ["BLAZED_LIBRARY"]).read_bytes())
        header[18:20] = wrong.to_bytes(2, "little")
        self.at("other.so").write_bytes(header)
        self.assertIn(f"is built for {library._MACHINES[wrong]} and this is {platform.machine()}",
                      self.why_not(self.at("other.so")))

    def test_tells_a_text_from_a_library(self):
        self.at("text.so").write_text("hello, this is no library at all", encoding="utf-8")
        self.assertIn("no shared library", self.why_not(self.at("text.so")))

    def test_names_the_c_library_that_it_needs(self):
        content = pathlib.Path(os.environ["BLAZED_LIBRARY"]).read_bytes()
        self.assertIn(b"GLIBC_2.34\0", content)
        self.at("later.so").write_bytes(content.replace(b"GLIBC_2.34\0", b"GLIBC_2.97\0"))
        self.assertRegex(self.why_not(self.at("later.so")), r"needs glibc 2\.97 and this machine has glibc 2\.\d+; ")

    def test_refuses_another_library(self):
        other = compiled.library_of("int other(void) { return 1; }\n", self.at("other.so"))
        self.assertIn("is not the libblazed of this package", self.why_not(other))

    def test_refuses_another_version(self):
        names = (set(abi.WAITING) | set(abi.SHORT) | set(abi.HOT)) - {"blz_version"}
        source = 'const char* blz_version(void) { return "7.3.1"; }\n' + "".join(
            f"int {name}(void) {{ return 1; }}\n" for name in names)
        other = compiled.library_of(source, self.at("later.so"))
        self.assertIn("version 7.3.1 and this package speaks 0.1", self.why_not(other))

    def test_the_packages_own_copy_comes_first(self):
        package = self.at("blazed")
        shutil.copytree(pathlib.Path(blazed.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
        (package / "_lib").mkdir()
        shutil.copy(os.environ["BLAZED_LIBRARY"], package / "_lib/libblazed.so.0")
        ran = subprocess.run([sys.executable, "-c", "import blazed; print(blazed.load().path)"], capture_output=True,
                             text=True, env={**os.environ, "PYTHONPATH": self.folder.name, "BLAZED_LIBRARY": "/absent"})
        self.assertEqual(ran.stdout.strip(), str(package / "_lib/libblazed.so.0"), ran.stderr)

    def test_without_a_library_a_session_is_off_and_a_job_trains(self):
        with mock.patch.dict(os.environ, {"BLAZED_LIBRARY": str(self.at("absent.so"))}):
            with blazed.Session() as session:
                self.assertEqual([session.step_begin() for _ in range(3)], [0, 0, 0])
                session.step_end()
                self.assertEqual(session.status().state, "off")
                self.assertIn("which is not there", session.reason())
                self.assertIn("which is not there", blazed.status().why_not)
                self.assertIsNone(session.report())
            self.assertIn("which is not there", blazed.status().why_not)


if __name__ == "__main__":
    unittest.main()
