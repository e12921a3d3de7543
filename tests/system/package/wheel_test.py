#!/usr/bin/env python3
"""The wheel holds the package, the shim and the licences of what is in the shim, as the format asks; equal trees give
equal bytes; what cannot be a wheel is refused with a sentence."""
import base64
import csv
import hashlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
import zipfile

from wheels import BACKEND, INSIDE, ROOT, SHIM, backend, build, built

VERSION = re.search(r"project\(blazed VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")).group(1)
FOLDER = f"blazed-{VERSION}.dist-info"


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="blazed-wheel-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class Contents(Case):
    def setUp(self):
        super().setUp()
        self.wheel = built(self.folder)
        with zipfile.ZipFile(self.wheel) as archive:
            self.members = archive.infolist()
            self.content = {member.filename: archive.read(member) for member in self.members}

    def test_is_named_for_the_oldest_c_library_that_it_runs_with(self):
        self.assertRegex(self.wheel.name, rf"^blazed-{re.escape(VERSION)}-py3-none-manylinux_2_34_(x86_64|aarch64)\.whl$")
        tag = self.wheel.name.split("-", 2)[2][:-len(".whl")]
        self.assertIn(f"\nTag: {tag}\n", self.content[f"{FOLDER}/WHEEL"].decode())
        needed = re.findall(rb"\0GLIBC_(\d+)\.(\d+)", self.content[INSIDE])
        self.assertLessEqual(max((int(a), int(b)) for a, b in needed), (2, 34))

    def test_holds_each_file_of_the_package_and_the_shim(self):
        tracked = subprocess.run(["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard",
                                  "client/python/blazed"], capture_output=True, text=True).stdout.split()
        if not tracked:
            self.skipTest("this tree is no git checkout")
        there = {name[len("client/python/"):] for name in tracked if (ROOT / name).is_file()}
        self.assertEqual({name for name in self.content if name.startswith("blazed/")}, there | {INSIDE})
        self.assertEqual(self.content[INSIDE], pathlib.Path(SHIM).read_bytes())
        self.assertTrue(all(name.startswith(("blazed/", f"{FOLDER}/")) for name in self.content))

    def test_the_record_names_every_file_with_its_digest_and_is_the_last(self):
        rows = list(csv.reader(io.StringIO(self.content[f"{FOLDER}/RECORD"].decode())))
        self.assertEqual(self.members[-1].filename, f"{FOLDER}/RECORD")
        self.assertEqual(rows[-1], [f"{FOLDER}/RECORD", "", ""])
        self.assertEqual([row[0] for row in rows], [member.filename for member in self.members])
        for name, digest, size in rows[:-1]:
            found = base64.urlsafe_b64encode(hashlib.sha256(self.content[name]).digest()).rstrip(b"=").decode()
            self.assertEqual((digest, int(size)), (f"sha256={found}", len(self.content[name])), name)

    def test_says_what_it_is_and_needs_no_other_package(self):
        metadata = self.content[f"{FOLDER}/METADATA"].decode()
        self.assertIn(f"\nName: blazed\nVersion: {VERSION}\n", metadata)
        self.assertIn("\nRequires-Python: >=3.9\n", metadata)
        self.assertNotIn("Requires-Dist", metadata)

    def test_brings_the_licence_of_each_library_inside_the_shim(self):
        for name, holder in (("nghttp2", "Tatsuhiro Tsujikawa"), ("nanopb", "Petteri Aimonen"), ("xxhash", "Yann Collet")):
            self.assertIn(holder, self.content[f"{FOLDER}/licenses/{name}.txt"].decode())

    def test_names_the_licence_of_each_archive_that_the_linker_put_in(self):
        # A library that comes to the shim later must come to the list of licences too.
        commands = subprocess.run(["ninja", "-C", os.environ["BLAZED_BUILD"], "-t", "commands", "blazed_shim_bundle"],
                                  capture_output=True, text=True, check=True).stdout
        link = next(line for line in commands.splitlines() if "--wrap=stderr" in line and " -shared " in line)
        foreign = set(re.findall(r" (?:-l|\S*/lib)([\w+-]+?)(?:\.a)?(?= |$)", link)) - {"blazed_equivalence", "blazed_nanopb"}
        self.assertEqual(foreign, {"nghttp2", "protobuf-nanopb"}, link)
        self.assertEqual(set(backend().LINKED), {"nghttp2", "nanopb", "xxhash"})


class Bytes(Case):
    def test_are_the_same_from_another_place_with_other_times_modes_and_leftovers(self):
        shutil.copytree(ROOT / "client/python", self.folder / "elsewhere",
                        ignore=shutil.ignore_patterns("__pycache__"))
        for path in sorted((self.folder / "elsewhere").rglob("*"), reverse=True):
            os.utime(path, (1, 1))
            path.chmod(0o700)
        (self.folder / "elsewhere/blazed/torch/__pycache__").mkdir()
        (self.folder / "elsewhere/blazed/torch/__pycache__/plan.cpython-311.pyc").write_bytes(b"compiled")
        (self.folder / "elsewhere/blazed/plan.py~").write_bytes(b"left by an editor")
        before = os.umask(0o077)
        self.addCleanup(os.umask, before)
        other = build(self.folder / "b", path=self.folder / "elsewhere" / BACKEND.relative_to(ROOT / "client/python"),
                      SOURCE_DATE_EPOCH="1700000000", TZ="Asia/Tokyo")
        self.assertEqual(other.returncode, 0, other.stderr)
        os.umask(before)
        one = build(self.folder / "a", SOURCE_DATE_EPOCH="1700000000", TZ="America/Lima")
        self.assertEqual(pathlib.Path(one.stdout.strip()).read_bytes(), pathlib.Path(other.stdout.strip()).read_bytes())

    def test_carry_the_time_that_is_given(self):
        ran = build(self.folder, SOURCE_DATE_EPOCH="1700000000")
        with zipfile.ZipFile(ran.stdout.strip()) as archive:
            self.assertEqual({member.date_time for member in archive.infolist()}, {(2023, 11, 14, 22, 13, 20)})


class Refusals(Case):
    def why(self, shim, path=BACKEND):
        ran = build(self.folder / "out", shim=shim, path=path)
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr.count("\n")), (1, "", 1), ran.stderr)
        self.assertFalse(list(self.folder.glob("out/*")))
        self.assertIn("; ", ran.stderr)  # what is wrong; the next move
        return ran.stderr

    def test_name_a_shim_that_is_not_there_or_is_none(self):
        self.assertIn("cannot be read", self.why(self.folder / "absent"))
        (self.folder / "text").write_text("hello, this is no library", encoding="utf-8")
        self.assertIn("is no shared library", self.why(self.folder / "text"))
        self.assertIn("is not libblazed", self.why("/proc/self/exe"))

    def test_name_a_shim_of_another_version(self):
        shutil.copytree(ROOT / "client/python", self.folder / "later", ignore=shutil.ignore_patterns("__pycache__"))
        (self.folder / "later/blazed/version.py").write_text('"""Later."""\nVERSION = "7.3.1"\n', encoding="utf-8")
        why = self.why(SHIM, self.folder / "later" / BACKEND.relative_to(ROOT / "client/python"))
        self.assertIn(f"is version {VERSION} and the package 7.3.1", why)

    def test_name_a_shim_that_needs_a_later_c_library(self):
        # The word is in the file; that the loader does not ask for it lets the library be loaded here.
        shutil.copy(SHIM, self.folder / "shim")
        with open(self.folder / "shim", "ab") as file:
            file.write(b"\0GLIBC_2.36\0")
        self.assertIn("needs glibc 2.36 and the wheel is for 2.34", self.why(self.folder / "shim"))

    def test_pip_is_told_where_the_shim_comes_from(self):
        module = backend()
        with self.assertRaisesRegex(module.Refused, "./run package"):
            module.build_wheel(str(self.folder))
        name = module.build_wheel(str(self.folder), {"shim": SHIM})
        self.assertTrue((self.folder / name).is_file())


if __name__ == "__main__":
    unittest.main()
