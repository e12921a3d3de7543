"""Jobs that never train, beside the real daemon."""
import json
import subprocess
import unittest

from real_daemon import BIN, SteadyMachine


class Forward(SteadyMachine):
    def job(self, *arguments, **environment):
        return self.finished(self.started("forward_job.py", *arguments, **environment))

    def test_it_settles_answers_the_same_and_is_served_and_training_is_another_workload(self):
        self.start()
        first = self.job("inference_mode", "blazed")
        self.assertEqual((first["error"], first["why_not"]), ("", ""))
        self.assertEqual((first["status"]["settlement"], first["status"]["champion"]),
                         ("in_job", "graph 0 runs as=again"), first["report"])
        self.assertNotEqual(first["plan"], 0)
        plain = self.job("inference_mode", "inductor", "--calls", first["calls"])
        self.assertEqual(first["answers"], plain["answers"])
        second = self.job("inference_mode", "blazed")
        self.assertTrue(second["report"]["served"], second["report"])
        self.assertEqual(second["status"]["workload"], first["status"]["workload"])
        self.assertLess(second["calls"], first["calls"])
        training = self.job("train", "blazed")
        self.assertFalse(training["report"]["served"], training["report"])
        self.assertEqual((training["status"]["settlement"], training["why_not"]), ("in_job", ""), training["report"])
        regimes = [row["regime"] for row in self.asked("graphs")]
        self.assertEqual(sorted(regimes), ["forward", "training"])
        settled = {row["workload"] for row in self.asked("settlements")}
        self.assertEqual(settled, {job["status"]["workload"] for job in (first, training)})
        self.assertEqual(len(settled), 2)

    def asked(self, verb):
        found = subprocess.run([BIN / "blazectl", "--socket", self.socket, "--json", verb], capture_output=True, text=True,
                               timeout=60, check=True)
        return json.loads(found.stdout)[verb]


if __name__ == "__main__":
    unittest.main()
