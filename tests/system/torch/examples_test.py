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
# An example's losses and a digest of its parameters, as the last line.
TOLD = """
import hashlib, importlib, json, sys
sys.path.insert(0, sys.argv[1])
losses, model = importlib.import_module(sys.argv[2]).main(sys.argv[3:])
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

    def program(self, *arguments, **environment):
        ran = subprocess.run([sys.executable, "-W", "ignore", *map(str, arguments)], capture_output=True, text=True,
                             env={**self.environment, **environment}, timeout=600)
        self.assertEqual(ran.returncode, 0, ran.stderr[-2000:])
        return ran.stdout

    def told(self, name, backend, **environment):
        out = self.program("-c", TOLD, FOLDER, name, "--steps", STEPS, "--device", "cpu", "--backend", backend,
                           **environment).splitlines()
        return json.loads(out[-1]), out[:-1]

    def trains_alike(self, name):
        plain, _ = self.told(name, "inductor")
        self.assertGreater(plain[0][0], plain[0][-1], "nothing was learnt")
        alone, out = self.told(name, "blazed")
        self.assertEqual(alone, plain)
        self.assertRegex(out[-1], r"^blazed is off, .*: .*no daemon listens there$")
        self.start()
        beside, out = self.told(name, "blazed", BLAZED_MODE="observe")
        self.assertEqual(beside, plain)
        self.assertRegex(out[-1], f"^blazed is attached at {self.socket}, mode observe, phase ")
        self.assertIn("--steps", self.program(FOLDER / f"{name}.py", "--help"))

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
