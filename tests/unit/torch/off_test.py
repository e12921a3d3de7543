"""A job in which blazed is off is one of torch.compile alone: the same compiler, the same caches, and no trace of blazed."""
import os
import unittest
from unittest import mock

import support
import torch
from torch._dynamo.utils import counters
from torch._inductor.utils import fresh_cache
from torch.optim import optimizer

import blazed
import blazed.torch
from blazed.torch.job import Job

STEPS = 6


class Off(unittest.TestCase):
    def setUp(self):
        self.enterContext(mock.patch.dict(os.environ, BLAZED_MODE="off"))
        self.enterContext(fresh_cache())
        self.made = self.enterContext(support.scripted(lambda session: 0))

    def trained(self, backend):
        """Losses, and what the compiler's caches counted."""
        torch._dynamo.reset()
        counters.clear()
        module = support.model(dropout=0.1)
        losses = support.train(STEPS, torch.compile(module, backend=backend, dynamic=False), module)
        return losses, {**counters["aot_autograd"], **counters["inductor"]}

    def test_its_results_are_those_that_a_plain_job_left_in_the_caches(self):
        plain, _ = self.trained("inductor")
        ours, counted = self.trained(blazed.torch.backend)
        self.assertEqual(ours, plain)
        self.assertEqual(counted["autograd_cache_hit"], 1)
        self.assertNotIn("autograd_cache_miss", counted)
        self.assertNotIn("fxgraph_cache_miss", counted)

    def test_a_plain_job_finds_its_results_in_the_caches(self):
        ours, _ = self.trained(blazed.torch.backend)
        plain, counted = self.trained("inductor")
        self.assertEqual(ours, plain)
        self.assertEqual(counted["autograd_cache_hit"], 1)

    def test_what_comes_back_is_what_the_compiler_made(self):
        with mock.patch("torch._inductor.compile_fx.compile_fx", return_value="compiled") as compile_fx:
            self.assertEqual(blazed.torch.backend("module", ["input"]), "compiled")
            self.assertEqual(blazed.torch.backend("module", ["input"], options={"max_fusion_size": 4}), "compiled")
        self.assertEqual(compile_fx.call_args_list, [mock.call("module", ["input"], config_patches={}),
                                                     mock.call("module", ["input"], config_patches={"max_fusion_size": 4})])

    def test_no_step_is_looked_at_and_no_session_opened(self):
        job = blazed.torch.current_job()
        with mock.patch.object(Job, "_begin", side_effect=AssertionError), mock.patch.object(Job, "_end", side_effect=AssertionError):
            self.trained(blazed.torch.backend)
            module = support.model()
            step = blazed.torch.train_step(lambda x: module(x).sum())
            self.assertFalse(step(torch.ones(8, 16)).requires_grad)
        self.assertEqual((self.made, job.graphs, job.step), ([], [], None))
        self.assertRegex(job.why_not, "^blazed is off in this job")
        self.assertEqual(job.why_no_whole_step(), job.why_not)

    def test_no_hook_of_an_optimiser_is_left(self):
        with mock.patch.multiple(blazed.torch, _job=None, _follows=False):
            before = dict(optimizer._global_optimizer_post_hooks)
            self.trained(blazed.torch.backend)
            self.assertTrue(blazed.torch.current_job().off)
            self.assertEqual(before, dict(optimizer._global_optimizer_post_hooks))

    def test_options_of_the_job_can_say_so_too(self):
        with mock.patch.dict(os.environ):
            del os.environ["BLAZED_MODE"]
            self.assertFalse(Job(blazed.Options(mode="observe")).off)
            self.assertTrue(Job(blazed.Options(mode="off")).off)
        self.assertTrue(Job(blazed.Options(mode="tune")).off, "the environment wins")


if __name__ == "__main__":
    unittest.main()
