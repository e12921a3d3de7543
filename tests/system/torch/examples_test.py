"""The examples for PyTorch, as their first reader runs them: with a daemon, without one, and without blazed they train
to the same bits."""
import importlib.util
import json
import pathlib
import subprocess
import sys
import unittest

from real_daemon import Machine

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "client" / "examples" / "pytorch"
STEPS = 12
SMALL = {"char_gpt": ("--layers", "1"), "hugging_face": ("--layers", "1"), "digits_cnn": ()}
# What an example says of its flags, what it prints, and its losses and a digest of its parameters as the last line.
TOLD = """
import contextlib, hashlib, importlib, json, runpy, sys
folder, name, *arguments = sys.argv[1:]
sys.path.insert(0, folder)
sys.argv[1:] = ["--help"]
with contextlib.suppress(SystemExit):
    runpy.run_path(f"{folder}/{name}.py", run_name="__main__")
losses, model = importlib.import_module(name).main(arguments)
bits = hashlib.sha256()
for name, value in model.state_dict().items():
    bits.update(name.encode() + value.numpy().tobytes())
print(json.dumps([losses, bits.hexdigest()]))
"""


def needs(module):
    return unittest.skipIf(importlib.util.find_spec(module) is None,
                           f"{module} is not installed here; ./run test --torch installs it and runs this")


class Examples(Machine):
    def setUp(self):
        super().setUp()
        # PyTorch's own caches, so that one test's results are not another's.
        self.environment["TORCHINDUCTOR_CACHE_DIR"] = f"{self.folder}/inductor"

    def told(self, name, backend, **environment):
        ran = subprocess.run([sys.executable, "-W", "ignore", "-c", TOLD, FOLDER, name, "--steps", str(STEPS),
                              *SMALL[name], "--device", "cpu", "--backend", backend], capture_output=True, text=True,
                             env={**self.environment, **environment}, timeout=600)
        self.assertEqual(ran.returncode, 0, ran.stderr[-2000:])
        out = ran.stdout.splitlines()
        return json.loads(out[-1]), out[:-1]

    def trains_alike(self, name):
        plain, out = self.told(name, "inductor")
        self.assertTrue(any(line.strip().startswith("--steps") for line in out), out)
        self.assertGreater(plain[0][0], plain[0][-1], "nothing was learnt")
        alone, out = self.told(name, "blazed")
        self.assertEqual(alone, plain)
        self.assertRegex(out[-1], r"^blazed is off, .*: .*no daemon listens there$")
        self.start()
        beside, out = self.told(name, "blazed", BLAZED_MODE="observe")
        self.assertEqual(beside, plain)
        self.assertRegex(out[-1], f"^blazed is attached at {self.socket}, mode observe, phase ")

    def test_a_character_gpt(self):
        self.trains_alike("char_gpt")

    @needs("sklearn")
    def test_a_network_that_reads_digits(self):
        self.trains_alike("digits_cnn")

    @needs("transformers")
    @needs("accelerate")
    def test_a_model_of_hugging_face_under_its_trainer(self):
        self.trains_alike("hugging_face")


if __name__ == "__main__":
    unittest.main()
