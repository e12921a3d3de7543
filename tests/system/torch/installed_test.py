#!/usr/bin/env python3
"""With the wheel installed `torch.compile(model, backend="blazed")` needs no import of blazed, and one that is there does
no harm, whenever it comes."""
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "package"))
from wheels import SHIM, built, unpacked

LOOK_UP = """
import sys
from torch._dynamo.backends import registry
found = registry.lookup_backend("blazed")
"""
COMPILE = """
import torch
x = torch.arange(8.0)
assert torch.equal(torch.compile(lambda x: x * 2 + 1, backend="blazed")(x), x * 2 + 1)
"""
AS_IT_SHOULD_BE = """
assert registry.list_backends().count("blazed") == 1
assert found is registry.lookup_backend("blazed") is sys.modules["blazed.torch"].backend
print(sys.modules["blazed"].__file__)
"""


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="blazed-torch-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.site = unpacked(built(f"{cls.folder.name}/wheels"), f"{cls.folder.name}/site")

    def program(self, *parts):
        environment = {k: v for k, v in os.environ.items() if k not in ("BLAZED_LIBRARY", "BLAZED_MODE")}
        environment.update(PYTHONPATH=self.site, BLAZED_SOCKET=f"{self.folder.name}/nobody")
        ran = subprocess.run([sys.executable, "-W", "ignore", "-c", "".join(parts)], capture_output=True, text=True,
                             env=environment, cwd=self.folder.name)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(ran.stdout.strip(), f"{self.site}/blazed/__init__.py")

    def test_the_backend_is_found_by_its_name_and_imported_at_its_first_use(self):
        self.program("import sys, torch._dynamo\nassert 'blazed' in torch._dynamo.list_backends()\n"
                     "assert 'blazed' not in sys.modules\n", COMPILE, LOOK_UP, AS_IT_SHOULD_BE)

    def test_the_package_may_be_imported_before(self):
        self.program("import blazed.torch", LOOK_UP, AS_IT_SHOULD_BE)

    def test_the_package_may_be_imported_after(self):
        self.program(LOOK_UP, "import blazed.torch", AS_IT_SHOULD_BE)


if __name__ == "__main__":
    if not SHIM or importlib.util.find_spec("torch") is None:
        print("not run: there is no PyTorch, or no shim for a wheel; ./run test --torch brings both")
        sys.exit(77)
    unittest.main()
