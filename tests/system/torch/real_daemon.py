"""What the tests of PyTorch jobs with the real daemon share. Imported where PyTorch is not, it ends them as not run."""
import json
import pathlib
import subprocess
import sys

try:
    import torch  # noqa: F401
except ModuleNotFoundError:
    print("not run: PyTorch is not installed here; ./run test --torch installs it and runs this")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))

from machine import BIN, Machine  # noqa: E402, F401

HERE = pathlib.Path(__file__).parent
CONFIGURATION = '[tuning]\nsearch = "random"\nbudget_share = 1.0\n'
STEADY = str((BIN.parent / "tests" / "libsteady_blazed.so").resolve())


class SteadyMachine(Machine):
    """One whose jobs have caches of PyTorch of their own, and whose steps take what the table of
    tests/fakes/steady_steps.h says, whatever the machine is busy with: each plan that chooses something is better."""

    def setUp(self):
        super().setUp()
        pathlib.Path(f"{self.folder}/blazed.toml").write_text(CONFIGURATION, encoding="utf-8")
        self.environment.update(TORCHINDUCTOR_CACHE_DIR=f"{self.folder}/inductor", LD_PRELOAD=STEADY,
                                BLAZED_LIBRARY=STEADY)

    def started(self, script, *arguments, **environment):
        job = subprocess.Popen([sys.executable, "-W", "ignore", HERE / script, *map(str, arguments)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env={**self.environment, **environment})
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        return job

    def finished(self, job):
        """What it printed as its last line."""
        out, error = job.communicate(timeout=600)
        self.assertEqual(job.returncode, 0, error[-2000:])
        return json.loads(out.splitlines()[-1])
