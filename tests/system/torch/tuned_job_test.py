"""PyTorch jobs against the real daemon: training comes to the same bits, whatever the daemon tries or whatever becomes
of it."""
import signal
import unittest

from real_daemon import SteadyMachine

LONG = 3000  # steps of the job whose daemon dies; trainings without blazed are as long at least, so that one serves all


class TunedJobs(SteadyMachine):
    without_blazed = []  # losses of the longest such training so far

    def job(self, *arguments, **environment):
        return self.started("train_job.py", *arguments, **environment)

    def plain(self, steps):
        """Losses of so many steps without blazed."""
        if len(self.without_blazed) < steps:
            type(self).without_blazed = self.finished(self.job(max(steps, LONG), BLAZED_MODE="off"))["losses"]
        return self.without_blazed[:steps]

    def test_trains_to_the_same_bits_while_variants_run(self):
        self.start()
        job = self.finished(self.job(6000, "--until-tried", 2))
        self.assertEqual((job["error"], job["why_not"]), ("", ""))
        self.assertGreater(job["plans"], 2, (job["status"], job["report"]["plans"]))
        self.assertEqual(job["losses"], self.plain(len(job["losses"])))
        proven = [plan for plan in job["report"]["plans"] if plan["verdict"] in ("proven", "lost", "won", "champion")]
        self.assertGreaterEqual(len(proven), 2, job["report"]["plans"])

    def test_a_plan_that_needs_more_memory_than_the_job_allows_never_runs(self):
        self.start()
        job = self.finished(self.job(6000, "--plans-need", 501, "--until-built", 2))
        self.assertEqual((job["plans"], job["why_not"]), (1, ""))
        told = {(plan["verdict"], plan["peak_bytes"]) for plan in job["report"]["plans"] if plan["plan"] and plan["peak_bytes"]}
        self.assertEqual(told, {("rejected_memory", 1501)}, job["report"]["plans"])  # others may not have been built
        self.assertEqual(job["losses"], self.plain(len(job["losses"])))

    def test_a_plan_that_needs_what_the_job_allows_runs(self):
        self.start()
        job = self.finished(self.job(6000, "--plans-need", 500, "--until-tried", 1))
        self.assertEqual((job["error"], job["why_not"]), ("", ""))
        self.assertGreater(job["plans"], 1, job["report"]["plans"])

    def test_a_daemon_that_dies_costs_nothing(self):
        self.start()
        job = self.job(LONG, "--until-tried", 1)
        self.wait_for(lambda: "session" in self.log() or job.poll() is not None)
        self.stop(signal.SIGKILL)
        told = self.finished(job)
        self.assertEqual(told["losses"], self.plain(len(told["losses"])))

    def test_observing_describes_the_same_job_in_every_process(self):
        self.start()
        first, second = (self.finished(self.job(40, BLAZED_MODE="observe")) for _ in range(2))
        self.assertEqual(first["status"]["mode"], "observe")
        self.assertTrue(first["status"]["workload"])
        self.assertEqual(first["status"]["workload"], second["status"]["workload"])
        self.assertEqual((first["plans"], first["losses"]), (1, second["losses"]))


if __name__ == "__main__":
    unittest.main()
