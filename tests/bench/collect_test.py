#!/usr/bin/env python3
"""A result names the commit that was measured."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import collect


class Collect(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def git(self, *arguments):
        subprocess.run(["git", "-C", self.root, "-c", "user.name=t", "-c", "user.email=t@t", *arguments], check=True, capture_output=True)

    def write(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text, encoding="utf-8")

    def test_results_of_one_bench_do_not_make_the_next_one_dirty(self):
        self.write("a.cc", "int a;\n")
        self.write("docs/results/a.json", "{}\n")
        self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "one")
        clean = collect.commit(self.root)
        self.assertRegex(clean, "^[0-9a-f]{12}$")
        self.write("docs/results/a.json", "{1}\n")
        self.write("docs/results/b.json", "{}\n")
        self.assertEqual(collect.commit(self.root), clean)
        self.write("a.cc", "int b;\n")
        self.assertEqual(collect.commit(self.root), clean + "-dirty")

    def test_a_program_of_another_commit_is_said(self):
        for name, commit in (("blazed", "aaaa"), ("blaze-sim", "bbbb-dirty")):
            self.write(f"bin/{name}", f"#!/bin/sh\necho '{name} 0.1.0 ({commit})'\n")
            (self.root / "bin" / name).chmod(0o755)
        self.assertEqual(list(collect.strangers(self.root, "aaaa"))[0].partition(":")[0],
                         "blaze-sim says that it is of bbbb-dirty, the checkout is at aaaa")
        self.assertEqual(len(list(collect.strangers(self.root, "aaaa"))), 1)
        self.assertEqual(len(list(collect.strangers(self.root, "cccc"))), 2)

    def test_a_program_says_of_which_kind_its_figures_are(self):
        series = '"series": [{"arm": "a", "unit": "share", "n": 2, "median": 1, "low": 0, "high": 1}]'
        for said, kind in (('"kind": "simulated", ', "simulated"), ("", "measured")):
            what, got, rows = collect.from_program([sys.executable, "-c", f"print('{{\"what\": \"w\", {said}{series}}}')"])
            self.assertEqual((what, got, len(rows)), ("w", kind, 1))

    def test_what_stands_after_two_dashes_goes_to_the_programs(self):
        script = pathlib.Path(__file__).with_name("collect.py")
        self.write("bench/echo_bench", "#!/bin/sh\n"
                   "printf '{\"what\": \"%s\", \"series\": [{\"arm\": \"a\", \"unit\": \"s\", \"values\": [1]}]}' \"$*\"\n")
        (self.root / "bench/echo_bench").chmod(0o755)
        self.write("bench/echo_bench.program", "")
        subprocess.run([sys.executable, script, "--build", self.root, "--results", self.root / "out", "echo", "--", "--seconds", "9"],
                       check=True, capture_output=True)
        text = (self.root / "out/echo.json").read_text(encoding="utf-8")
        self.assertIn('--seconds 9"', text)
        self.assertIn('"command": "./run bench echo -- --seconds 9"', text)


if __name__ == "__main__":
    unittest.main()
