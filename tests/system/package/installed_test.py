#!/usr/bin/env python3
"""What is unpacked from the wheel works by itself: it finds its own shim, PyTorch finds its backend, and a job attaches
and tries plans, whichever nghttp2 the process has."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import unittest

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
from machine import JOB, Machine
from wheels import INSIDE, built, unpacked

_ENTRY = ("import sys\n"
          "from importlib.metadata import distribution, entry_points\n"
          "found = [e for e in entry_points(group='torch_dynamo_backends') if e.name == 'blazed']\n"
          "assert 'blazed' not in sys.modules, 'looking imports it'\n"
          "print([e.value for e in found], distribution('blazed').version)\n")
# Whoever of the process is asked first: what the loader gives a library that does not bring its own.
_OTHER = ("#include <stdlib.h>\n"
          "#define END(name) void name(void) { abort(); }\n"
          "END(nghttp2_session_callbacks_new) END(nghttp2_session_client_new) END(nghttp2_session_client_new2)\n"
          "END(nghttp2_session_client_new3) END(nghttp2_option_new) END(nghttp2_session_mem_send)\n")


class Installed(Machine):
    def setUp(self):
        super().setUp()
        self.site = unpacked(built(f"{self.folder}/wheels"), f"{self.folder}/site")
        self.environment["PYTHONPATH"] = self.site
        self.environment.pop("BLAZED_LIBRARY", None)

    def python(self, *arguments, **environment):
        return subprocess.run([sys.executable, "-W", "ignore", *arguments], capture_output=True, text=True,
                              env={**self.environment, **environment}, cwd=self.folder)

    def test_its_own_shim_is_the_one_that_is_loaded(self):
        ran = self.python("-c", "import blazed; print(blazed.load().path)", PATH="/nothing")
        self.assertEqual(ran.stdout.strip(), f"{self.site}/{INSIDE}", ran.stderr)

    def test_pytorch_finds_the_backend_without_an_import(self):
        ran = self.python("-c", _ENTRY)
        self.assertRegex(ran.stdout, r"^\['blazed.torch:backend'\] \d+\.\d+\.\d+$", ran.stderr)

    def test_the_command_line_says_what_is_missing_and_what_to_do(self):
        ran = self.python("-m", "blazed")
        self.assertEqual(ran.returncode, 3, ran.stderr)
        self.assertIn("start blazed", ran.stdout)

    def test_a_job_attaches_and_tries_plans(self):
        self.start()
        job = self.job("--until-built")
        self.assertEqual((job["status"]["state"], job["status"]["why_not"], job["error"]), ("attached", "", ""))
        self.assertEqual(job["status"]["library"], f"{self.site}/{INSIDE}")
        self.assertGreater(job["built"], 0)

    def job_beside_another_nghttp2(self):
        source, other = f"{self.folder}/other.c", f"{self.folder}/libnghttp2.so.14"
        pathlib.Path(source).write_text(_OTHER, encoding="utf-8")
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", other, source], check=True)
        self.start()
        return self.python(JOB, "--until-built", LD_PRELOAD=other)

    def test_another_nghttp2_of_the_process_is_not_asked(self):
        ran = self.job_beside_another_nghttp2()
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(json.loads(ran.stdout)["status"]["state"], "attached")

    def test_a_shim_without_its_own_would_have_asked_the_other(self):
        shutil.copy(os.environ["BLAZED_LIBRARY"], f"{self.site}/{INSIDE}")
        self.assertEqual(self.job_beside_another_nghttp2().returncode, -signal.SIGABRT)


if __name__ == "__main__":
    unittest.main()
