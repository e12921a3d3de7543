#!/usr/bin/env python3
"""A host in pure Python is tuned, its answer is served to the next process, and a plan that computes other numbers
never runs a step."""
import shutil
import unittest

from machine import Machine
from summing_host import TERMS, SummingHost

JOBS = 6  # a machine may be too noisy to settle in one
WRONG = "rows/terms=without_last"


class Jobs(Machine):
    def check(self, job):
        """What holds in every job, settled or not."""
        self.assertEqual(job["error"], "")
        self.assertEqual(job["wrong_live"], 0)
        self.assertEqual(job["built"], job["dropped"])  # close drops what is left
        self.assertFalse([choice for choice in job["status"]["plan"] if choice[0] == TERMS])
        for plan in job["report"]["plans"]:
            if WRONG in plan["plan"] and plan["verdict"] != "proposed":
                self.assertEqual(plan["verdict"], "rejected_different", plan)

    def test_the_first_finds_the_answer_and_the_next_process_is_served(self):
        for _ in range(JOBS):
            self.start()
            first = self.job("--until-settled", "--seconds", "60")
            self.check(first)
            if first["status"]["settlement"] in ("in_job", "replicated"):
                break
            # "Nothing is faster" would be served to the next one: an answer of this machine's neighbours.
            self.stop()
            shutil.rmtree(f"{self.folder}/state")
        self.assertIn(first["status"]["settlement"], ("in_job", "replicated"), first)
        self.assertEqual(first["report"]["outcome"], "settled")
        self.assertIn("rows/sum=builtin", first["status"]["champion"])
        self.assertGreater(first["status"]["gain"], 0)
        self.assertTrue([plan for plan in first["report"]["plans"] if plan["verdict"] == "rejected_different"
                         and WRONG in plan["plan"]], "no plan that leaves a term out was tried")

        second = self.job("--until-settled", "--seconds", "60")
        self.check(second)
        self.assertEqual(second["status"]["champion"], first["status"]["champion"], second)
        self.assertEqual(second["report"]["search_pairs"], 0)

    def test_two_plans_of_one_host_give_one_result(self):
        # What the tests above hang on: the builtin sum is another order of work for the same numbers.
        host = SummingHost()
        own, other = host.product({}), host.product({0: 1, 1: 1})
        for a, b in zip(own, other):
            self.assertAlmostEqual(a, b, delta=1e-12 * abs(a))
        self.assertNotAlmostEqual(own[0], host.product({TERMS: 1})[0], delta=1e-6)


class Quiet(Machine):
    def test_steps_without_calls_are_counted_and_end_where_something_is_asked(self):
        self.start()
        host, session = self.attached(mode="pinned")
        quiet = None
        for _ in range(300):
            host.step(session)
            quiet = session.quiet()
            if quiet is not None:
                break
        self.assertEqual((quiet.word.value, quiet.handle), (quiet.value, 0))
        before = session.status().steps
        session.pass_steps(quiet.steps)
        self.assertEqual(session.status().steps, before + quiet.steps)
        self.assertEqual((before + quiet.steps + 1) % 256, 0)  # the first of those that are timed
        self.assertIsNone(session.quiet())
        session.close()
        self.assertNotEqual(quiet.word.value, quiet.value)
        self.assertIsNone(session.quiet())


class Modes(Machine):
    def test_observing_changes_nothing(self):
        self.start()
        job = self.job("--seconds", "2", BLAZED_MODE="observe")
        self.assertEqual((job["status"]["state"], job["status"]["mode"], job["built"]), ("attached", "observe", 0))
        self.assertTrue(job["status"]["why_not"])
        self.assertGreater(job["steps"], 0)

    def test_off_does_not_even_look_for_a_daemon(self):
        self.start()
        job = self.job("--seconds", "0.5", BLAZED_MODE="off")
        self.assertEqual((job["status"]["state"], job["status"]["why_not"], job["built"]),
                         ("off", "the mode is off", 0))
        self.assertNotIn("session opened", self.log())

    def test_tuning_ends_after_its_number_of_steps(self):
        self.start()
        job = self.job("--seconds", "2", BLAZED_MODE="tune_until:60")
        self.assertEqual(job["status"]["mode"], "tune_until")
        self.assertGreater(job["steps"], 60)
        self.assertLessEqual(job["last_build_step"], 60)

    def test_without_a_library_a_job_trains(self):
        job = self.job("--seconds", "0.5", BLAZED_LIBRARY=f"{self.folder}/absent.so")
        self.assertEqual((job["status"]["state"], job["built"]), ("off", 0))
        self.assertIn("which is not there", job["status"]["why_not"])
        self.assertGreater(job["steps"], 0)


if __name__ == "__main__":
    unittest.main()
