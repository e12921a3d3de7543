"""A settled PyTorch job beside the real daemon: `blazectl explain` says by its kernels why its plan won."""
import json
import subprocess
import unittest

from real_daemon import BIN, SteadyMachine


class Explained(SteadyMachine):
    def trained(self):
        self.start()
        told = self.finished(self.started("explained_job.py"))
        self.assertEqual((told["why_not"], told["error"]), ("", ""))
        self.assertIsNotNone(told["settled_at"], told["status"])
        self.assertEqual(told["status"]["champion"], "graph 0 runs as=again")
        return told

    def explained(self, *flags):
        return subprocess.run([BIN / "blazectl", "--socket", self.socket, *flags, "explain"], check=True,
                              capture_output=True, text=True).stdout

    def test_a_settled_job_is_explained_by_its_kernels(self):
        self.trained()
        answer = json.loads(self.explained("--json"))
        kernels = answer["kernels"]
        names = {row["name"] for row in kernels["kernels"]}
        self.assertTrue(any(name.startswith("cpp_fused") for name in names), names)
        self.assertIn("aten::addmm", names)
        for row in kernels["kernels"]:
            self.assertGreater((row["before"] or row["after"])["launches"], 0)
            self.assertIsNone((row["before"] or row["after"])["registers"], "a CPU has none that could be told")
        before, after = kernels["before"], kernels["after"]
        self.assertGreater(before["step_ns"] - before["busy_ns"], 2_000_000, "the default sleeps, and no kernel runs then")
        self.assertGreater(after["busy_ns"], 0)
        self.assertIn("kernels run for", answer["sentences"][1])
        text = self.explained()
        self.assertIn("kernels before (default plan)", text)
        self.assertIn("aten::addmm", text)
        self.assertEqual(self.log().count("kernels of a plan told"), 1, self.log())


if __name__ == "__main__":
    unittest.main()
