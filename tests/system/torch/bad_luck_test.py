"""PyTorch jobs that have bad luck beside the real daemon: they train to the bits that PyTorch's own compiler gives."""
import signal
import unittest

from real_daemon import SteadyMachine


class Trouble(SteadyMachine):
    without_blazed = []  # losses of the longest such training so far

    def plain(self, steps):
        """Losses of so many steps without blazed."""
        if len(self.without_blazed) < steps:
            told = self.finished(self.started("bad_luck_job.py", "start", "inductor", "--steps", 2 * steps))
            type(self).without_blazed = told["losses"]
        return self.without_blazed[:steps]

    def trained(self, kind, *arguments):
        """What became of the job, whose losses are those of the same one without blazed."""
        self.start()
        told = self.finished(self.started("bad_luck_job.py", kind, "blazed", "--daemon", self.daemon.pid, *arguments))
        self.assertEqual(told["losses"], self.plain(len(told["losses"])))
        self.assertEqual(told["error"] if not told["interrupts"] else "", "")
        return told

    def left_alone_by_its_daemon(self, kind):
        told = self.trained(kind)
        self.assertIsNotNone(told["came_at"], told["status"])
        self.assertEqual(self.daemon.wait(60), -signal.SIGKILL)
        self.assertNotEqual(told["status"]["state"], "attached")
        self.assertTrue(told["status"]["why_not"])
        return told

    def test_a_daemon_that_dies_before_the_job_attaches(self):
        self.assertEqual(self.left_alone_by_its_daemon("start")["last_plan"], 0)

    def test_a_daemon_that_dies_while_it_searches(self):
        self.left_alone_by_its_daemon("search")

    def test_a_daemon_that_dies_during_a_build(self):
        self.left_alone_by_its_daemon("build")

    def test_a_daemon_that_dies_during_a_probe(self):
        self.left_alone_by_its_daemon("probe")

    def test_a_daemon_that_dies_when_all_is_settled_leaves_what_it_settled(self):
        told = self.left_alone_by_its_daemon("settled")
        self.assertTrue(told["status"]["settled"])
        self.assertEqual(told["status"]["champion"], "graph 0 runs as=again")
        self.assertNotEqual(told["last_plan"], 0)

    def test_an_interrupt_in_a_build_reaches_the_script_which_may_go_on(self):
        told = self.trained("interrupt")
        self.assertEqual((told["interrupts"], told["why_not"]), (1, ""))
        self.assertTrue(told["status"]["attached"])

    def test_forked_workers_of_a_data_loader(self):
        told = self.trained("fork", "--steps", "40")
        self.assertTrue(told["status"]["attached"], told["status"])
        self.assertEqual(self.log().count("session opened"), 1, self.log())

    def test_spawned_workers_of_a_data_loader(self):
        told = self.trained("spawn", "--steps", "40")
        self.assertTrue(told["status"]["attached"], told["status"])
        self.assertEqual(self.log().count("session opened"), 1, self.log())

    def test_two_jobs_of_a_kind_at_the_same_time_have_sessions_and_an_answer_each(self):
        self.start()
        jobs = [self.started("bad_luck_job.py", "beside", "blazed") for _ in range(2)]
        both = [self.finished(job) for job in jobs]
        plain = self.finished(self.started("bad_luck_job.py", "beside", "inductor", "--steps",
                                           max(len(told["losses"]) for told in both)))
        for told in both:
            self.assertEqual((told["error"], told["why_not"], told["status"]["attached"]), ("", "", True))
            self.assertTrue(told["status"]["settled"], told["status"])
            self.assertEqual(told["losses"], plain["losses"][:len(told["losses"])])
        self.assertNotEqual(*(told["status"]["session"] for told in both))
        self.assertEqual(*(told["status"]["workload"] for told in both))

    def ranks(self, backend):
        store = f"{self.folder}/store-{backend}"
        jobs = [self.started("ranks_job.py", store, backend, RANK=str(rank), WORLD_SIZE="2") for rank in range(2)]
        return [self.finished(job) for job in jobs]

    def test_a_job_of_two_ranks_is_observed(self):
        self.start()
        ours, plain = self.ranks("blazed"), self.ranks("inductor")
        self.assertEqual([told["losses"] for told in ours], [told["losses"] for told in plain])
        for told in ours:
            self.assertGreater(told["graphs"], 1, "the compiler splits a graph where gradients are sent early")
            self.assertEqual((told["status"]["mode"], told["plans"]), ("observe", [0]))
            self.assertIn("ranks", told["why_not"])


if __name__ == "__main__":
    unittest.main()
