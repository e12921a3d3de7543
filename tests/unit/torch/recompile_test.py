"""A recompile in the middle of a job: what runs then is no sample of what was described, and is described once it stays."""
import unittest
from unittest import mock

import support
import torch

import blazed.torch
from blazed.enums import StepFlag

STEPS = 60
CHANGES = 12


class TwoGraphs(torch.nn.Module):
    """The second one of a step recompiles where `wide` changes."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = torch.nn.Linear(16, 16), torch.nn.Linear(16, 4)
        self.wide = False

    def forward(self, x):
        x = torch.tanh(self.first(x))
        torch._dynamo.graph_break()
        x = x * 2 + 1 if self.wide else x + 1
        return torch.nn.functional.layer_norm(self.second(x), (4,))


class Recompiled(unittest.TestCase):
    def trained(self, module, script=lambda session: 0, **more):
        """Sessions, and the job."""
        def losses(module, backend):
            return support.train(STEPS, torch.compile(module, backend=backend, dynamic=False), module, **more)

        with support.scripted(script) as made:
            ours = losses(module(), blazed.torch.backend)
            job = blazed.torch.current_job()
        torch._dynamo.reset()
        self.assertEqual(ours, losses(module(), "inductor"))
        return made, job

    @staticmethod
    def cut(session):
        """Builds a plan once and runs it."""
        if session.step == 1:
            session.handle = session.build((next(d for d, decision in enumerate(session.workload.decisions)
                                                 if decision.options[1] == "cut"), 1))
        return session.handle

    def test_other_shapes_from_some_step_on_are_another_workload(self):
        made, job = self.trained(lambda: support.model(batch_norm=False), self.cut,
                                 rows_of=lambda step: 8 if step < CHANGES else 6)
        self.assertEqual([session.closed for session in made], [True, False])
        self.assertNotEqual(made[0].workload.graphs, made[1].workload.graphs)
        self.assertEqual((set(made[0].flags), set(made[1].flags)), ({0}, {0}))
        self.assertGreater(len(made[1].flags), (STEPS - CHANGES) // 2)
        self.assertEqual(job.why_not, "")
        self.assertNotEqual(job.plan_in_use(), 0)

    def test_one_graph_of_a_step_that_is_compiled_anew(self):
        def each(step):
            modules[-1].wide = step >= CHANGES

        modules = []

        def module():
            modules.append(TwoGraphs())
            return modules[-1]

        made, _ = self.trained(module, each=each)
        self.assertEqual([session.closed for session in made], [True, False])
        before, after = made[0].flags[:CHANGES - 4], made[0].flags[CHANGES - 2:]
        self.assertEqual(set(before), {0})
        self.assertEqual(set(after), {StepFlag.RECOMPILE}, "half of the step is another than was described")
        self.assertEqual(set(made[1].flags), {0})
        self.assertGreater(len(made[1].flags), (STEPS - CHANGES) // 2)

    def test_a_smaller_batch_now_and_then_spoils_the_next_step_alone(self):
        made, _ = self.trained(lambda: support.model(batch_norm=False), rows_of=lambda step: 6 if step % 10 == 9 else 8)
        self.assertEqual(len(made), 1)
        self.assertEqual(sum(1 for flags in made[0].flags if flags == StepFlag.RECOMPILE), STEPS // 10 - 1)
        self.assertEqual(set(made[0].flags), {0, StepFlag.RECOMPILE})

    def test_a_job_that_goes_on_changing_is_left_with_what_it_has(self):
        with mock.patch.multiple("blazed.torch.job", _STEPS_TO_LEAVE=2, _MOST_LEFT=3):
            made, job = self.trained(lambda: support.model(batch_norm=False), rows_of=lambda step: 8 - step // 7 % 2)
        self.assertEqual(len(made), 4)
        self.assertEqual(job.why_not, "")


if __name__ == "__main__":
    unittest.main()
