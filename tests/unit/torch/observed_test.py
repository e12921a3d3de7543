"""Jobs that are described and timed and never changed, each with its reason, and steps that are no samples."""
import os
import unittest
from unittest import mock

import support
import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

import blazed
import blazed.torch
from blazed.enums import StepFlag
from blazed.modes import Mode
from blazed.torch.job import Job

STEPS = 10


class Observed(unittest.TestCase):
    def job(self, options=None, each=None):
        """The session of a job that trains as it does without blazed, and the job."""
        with support.scripted(lambda session: 0) as made:
            job = Job(options or blazed.Options())
            blazed.torch.replace_job(job)
            module = support.model()
            support.train(STEPS, torch.compile(module, backend=blazed.torch.backend, dynamic=False), module, each)
        self.assertEqual(len(made), 1, job.why_not)
        return made[0], job

    def assert_observed(self, reason, **more):
        session, job = self.job(**more)
        self.assertEqual(session.options.mode, Mode.OBSERVE)
        self.assertRegex(job.why_not, reason)
        self.assertIsNotNone(session.workload, "it is described all the same")
        self.assertEqual(set(session.flags), {0})

    def assert_tuned(self, mode=Mode.FROM_ENVIRONMENT, **more):
        session, job = self.job(**more)
        self.assertEqual((session.options.mode, job.why_not), (mode, ""))

    def test_a_plain_job_is_not(self):
        self.assert_tuned()
        self.assert_tuned(Mode.PINNED, options=blazed.Options(mode="pinned"))

    def test_deterministic_algorithms_are_kept_unless_plans_are_equal_to_the_bit(self):
        torch.use_deterministic_algorithms(True)
        try:
            for contract in (blazed.Contract.DEFAULT, blazed.Contract.ROUNDING, blazed.Contract.PREDICTION):
                self.assert_observed("^deterministic algorithms are asked for", options=blazed.Options(contract=contract))
            self.assert_observed("^deterministic", options=blazed.Options(mode="pinned"))
            self.assert_tuned(options=blazed.Options(contract=blazed.Contract.BITWISE))
        finally:
            torch.use_deterministic_algorithms(False)

    def test_several_ranks(self):
        with mock.patch.dict(os.environ, RANK="1", WORLD_SIZE="2"):
            self.assert_observed("^a job of several ranks is only observed")

    def test_a_release_that_nothing_was_tried_with(self):
        for release, tried in (("2.9.1+cu128", False), ("2.12.0", False), ("3.11.0", False), ("2.11.1", True)):
            with self.subTest(release), mock.patch("torch.__version__", release):
                if tried:
                    self.assert_tuned()
                else:
                    self.assert_observed("^PyTorch " + release.split("+")[0] + ".* is none of the releases")

    def test_steps_under_a_profiler_are_no_samples(self):
        profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])

        def each(step):
            if step == 5:
                profiler.start()
            if step == 7:
                profiler.stop()

        session, _ = self.job(each=each)
        flags = session.flags
        self.assertEqual([n for n, f in enumerate(flags) if f], [len(flags) - 4, len(flags) - 3], flags)
        self.assertEqual(set(flags), {0, StepFlag.PROFILER})

    def test_a_profiler_that_ends_within_a_step_counts_too(self):
        profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])
        begun = []

        def ends(optimiser, args, kwargs):
            begun.append(None)
            if len(begun) == 7:
                profiler.stop()

        hook = register_optimizer_step_pre_hook(ends)
        try:
            session, _ = self.job(each=lambda step: profiler.start() if step == 5 else None)
        finally:
            hook.remove()
        self.assertEqual([f for f in session.flags if f], [StepFlag.PROFILER])


if __name__ == "__main__":
    unittest.main()
