"""The daemon is told of ways to run a graph, right and wrong ones: what the shim finds of each under the contract
`rounding`."""
import json
import pathlib
import subprocess
import sys
import unittest

from real_daemon import CONFIGURATION, Machine

JOB = pathlib.Path(__file__).with_name("numbers_job.py")


class Numbers(Machine):
    def verdicts(self, arithmetic):
        """option -> equivalence."""
        pathlib.Path(f"{self.folder}/blazed.toml").write_text(CONFIGURATION, encoding="utf-8")
        self.environment["TORCHINDUCTOR_CACHE_DIR"] = f"{self.folder}/inductor"
        self.start()
        job = subprocess.run([sys.executable, "-W", "ignore", JOB, "20000", arithmetic], capture_output=True, text=True,
                             env=self.environment, timeout=900)
        self.assertEqual(job.returncode, 0, job.stderr[-2000:])
        told = json.loads(job.stdout.splitlines()[-1])
        self.assertEqual(told["why_not"], "")
        return {plan.split("=", 1)[1]: found["equivalence"] for plan, found in told["verdicts"].items()}, told

    def test_in_bf16_other_roundings_pass_and_faults_do_not(self):
        verdicts, told = self.verdicts("bf16")
        self.assertEqual(verdicts, {"eager": "rounding", "scaled": "rejected_different", "nan": "rejected_broken",
                                    "lost tail": "rejected_different", "swapped operand": "rejected_different",
                                    "another batch": "rejected_different", "stale buffer": "rejected_different"}, told)

    def test_in_f32_half_products_do_not_pass(self):
        verdicts, told = self.verdicts("f32")
        self.assertEqual(verdicts, {"half products": "rejected_different"}, told)


if __name__ == "__main__":
    unittest.main()
