"""The daemon is told of ways to run a graph, right and wrong ones: what the shim finds of each under the contract
`rounding`."""
import json
import subprocess
import unittest

from real_daemon import BIN, SteadyMachine


class Numbers(SteadyMachine):
    def verdicts(self, arithmetic):
        """option -> equivalence."""
        self.start()
        told = self.job(20000, arithmetic)
        self.assertEqual(told["why_not"], "")
        told["ways"] = {plan.split("=", 1)[1]: found for plan, found in told["verdicts"].items()}
        return {way: found.get("equivalence") for way, found in told["ways"].items()}, told

    def job(self, *arguments, **environment):
        return self.finished(self.started("numbers_job.py", *arguments, **environment))

    def explained(self):
        """What `blazectl explain` says of the workload seen last."""
        found = subprocess.run([BIN / "blazectl", "--socket", self.socket, "--json", "explain"], capture_output=True,
                               text=True, timeout=60, check=True)
        return json.loads(found.stdout)

    def test_in_bf16_other_roundings_pass_and_faults_do_not(self):
        verdicts, told = self.verdicts("bf16")
        self.assertEqual(verdicts, {"eager": "rounding", "scaled": "rejected_different", "nan": "rejected_broken",
                                    "lost tail": "rejected_different", "swapped operand": "rejected_different",
                                    "another batch": "rejected_different", "stale buffer": "rejected_different"}, told)

    def test_in_f32_half_products_do_not_pass(self):
        verdicts, told = self.verdicts("f32")
        self.assertEqual(verdicts, {"half products": "rejected_different"}, told)

    def test_a_faulty_plan_trains_nothing_and_its_fault_is_named(self):
        verdicts, told = self.verdicts("faults")
        self.assertEqual({way: found["verdict"] for way, found in told["ways"].items()},
                         {"scaled": "rejected_different", "nan": "rejected_broken", "stale buffer": "rejected_different",
                          "other strides": "rejected_different", "fails to build": "build_failed",
                          "no room at first": "rejected_memory", "no room in a probe": "inconclusive",
                          "no room on a step": "inconclusive"}, told["verdicts"])
        reasons = {way: found["reason"] for way, found in told["ways"].items()}
        self.assertIn("the compiler is out of its depth", reasons["fails to build"])
        self.assertIn("layout", reasons["other strides"])
        self.assertIn("OutOfMemoryError: there was no room for a buffer", reasons["no room at first"])
        self.assertIn("its probe failed to run", reasons["no room in a probe"])
        self.assertIn("under another signature", reasons["no room on a step"])
        self.assertEqual(reasons, {plan["plan_text"].split("=", 1)[1]: plan["reason"] for plan in self.explained()["plans"]
                                   if "=" in plan["plan_text"]})
        self.assertEqual(told["losses"], self.job(told["steps"], "faults", BLAZED_MODE="off")["losses"])


if __name__ == "__main__":
    unittest.main()
