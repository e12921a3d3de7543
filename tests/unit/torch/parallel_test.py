"""A job of one rank under DistributedDataParallel: tuned where the compiler captures something, and if not, it says why."""
import unittest

import support
import torch
from torch import distributed
from torch._dynamo.utils import counters
from torch.nn.parallel import DistributedDataParallel

import blazed.torch

STEPS = 10
WIDTH = 512  # two of its layers are larger than the smallest piece in which gradients are sent


class Own(torch.nn.Module):
    """A class of its own: the compiler does not look into one of PyTorch's below the parallel one."""

    def __init__(self):
        super().__init__()
        self.inner = sequential()

    def forward(self, x):
        return self.inner(x)


def sequential():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(16, WIDTH), torch.nn.LayerNorm(WIDTH), torch.nn.GELU(),
                               torch.nn.Linear(WIDTH, WIDTH), torch.nn.GELU(), torch.nn.Linear(WIDTH, 4))


class OneRank(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
        cls.addClassCleanup(distributed.destroy_process_group)

    def both(self, make, wrap, script=lambda session: 0):
        """The sessions and the job, which trains to the bits of the same one without blazed."""
        def losses(backend):
            module = make()
            return support.train(STEPS, wrap(module, lambda inner: torch.compile(inner, backend=backend, dynamic=False)),
                                 module)

        counters.clear()
        with support.scripted(script) as made:
            ours = losses(blazed.torch.backend)
            job = blazed.torch.current_job()
        self.assertEqual(ours, losses("inductor"))
        torch._dynamo.reset()
        return made, job

    def trying_a_cut(self, session):
        if session.step == 1:
            cut = next(d for d, decision in enumerate(session.workload.decisions) if decision.options[1] == "cut")
            self.handle = session.build((cut, 1))
            self.assertEqual(session.probe(self.handle), session.probe(0))
        return self.handle if session.step % 2 else 0

    def assert_tuned(self, made, job):
        self.assertEqual((job.why_not, len(made)), ("", 1))
        self.assertEqual(set(made[0].flags), {0})
        self.assertGreater(len(made[0].flags), 2)

    def test_a_model_of_its_own_class_is_tuned_piece_by_piece(self):
        made, job = self.both(Own, lambda module, compiled: compiled(DistributedDataParallel(module, bucket_cap_mb=1)),
                              self.trying_a_cut)
        self.assert_tuned(made, job)
        self.assertGreater(len(made[0].graphs), 1, "the compiler splits a graph where gradients are sent early")

    def test_a_model_that_is_compiled_before_it_is_wrapped_is_tuned(self):
        made, job = self.both(sequential, lambda module, compiled: DistributedDataParallel(compiled(module)),
                              self.trying_a_cut)
        self.assert_tuned(made, job)

    def test_a_model_of_which_nothing_is_captured_says_so(self):
        made, job = self.both(sequential, lambda module, compiled: compiled(DistributedDataParallel(module)))
        self.assertEqual((made, job.graphs), ([], []))
        self.assertRegex(job.why_not, "no graph below DistributedDataParallel.*compile the model before it is wrapped")


if __name__ == "__main__":
    unittest.main()
