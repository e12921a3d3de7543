"""Jobs that never come to be described say why."""
import unittest

import support
import torch
from torch._dynamo.utils import counters

import blazed.torch


class Undescribed(unittest.TestCase):
    def why(self, each=None, make=lambda: support.model(batch_norm=False), train=support.train, **more):
        with support.scripted(lambda session: 0) as made:
            module = make()
            compiled = torch.compile(module, backend=blazed.torch.backend, dynamic=False)
            train(70, compiled, module, each and (lambda step: each(compiled, module)), **more)
            self.assertEqual(made, [])
            return blazed.torch.current_job().why_not

    def test_steps_of_other_graphs_each_time(self):
        self.assertRegex(self.why(rows_of=lambda step: 8 - step % 2), "^steps run different compiled graphs")

    def test_an_evaluation_in_every_step(self):
        def evaluate(compiled, module):
            with torch.no_grad():
                compiled(torch.ones(8, 16))

        self.assertRegex(self.why(evaluate), "^no steps in a row are without .* an evaluation")

    def test_a_model_that_trains_without_being_compiled(self):
        def each(compiled, module):
            with torch.no_grad():
                compiled(torch.ones(8, 16))

        def train(steps, compiled, module, each):
            return support.train(steps, module, module, each)

        self.assertRegex(self.why(each, train=train), "^the optimiser steps, and no graph with a backward pass")

    def test_a_job_that_was_given_no_graph_says_so_until_it_has_one(self):
        counters.clear()
        with support.scripted(lambda session: 0):
            job = blazed.torch.current_job()
            self.assertRegex(job.why_not, "^the compiler has given blazed no graph")
            module = support.model(batch_norm=False)
            support.train(1, torch.compile(module, backend=blazed.torch.backend, dynamic=False), module)
            self.assertEqual(job.why_not, "")


if __name__ == "__main__":
    unittest.main()
