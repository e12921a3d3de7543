"""A script that enters autocast around its model, or inside the step that it hands over: plans compute in its types."""
import unittest

import support
import torch

import blazed.torch
from blazed.torch.autocast import Autocast
from blazed.torch.program import Way

STEPS = 10


class UnderAutocast(unittest.TestCase):
    def job(self, handed_over):
        """Losses of a job whose compiled model runs in bf16."""
        torch.manual_seed(0)
        module = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.LayerNorm(32), torch.nn.GELU(), torch.nn.Linear(32, 4))
        optimiser = torch.optim.SGD(module.parameters(), lr=1e-2)

        def train(net, x, y):
            optimiser.zero_grad()
            with torch.autocast("cpu", torch.bfloat16):
                scores = net(x)
            self.assertEqual(scores.dtype, torch.bfloat16)
            loss = torch.nn.functional.cross_entropy(scores.float(), y)
            loss.backward()
            optimiser.step()
            return loss

        generator = torch.Generator().manual_seed(1)
        batches = [(torch.randn(8, 16, generator=generator), torch.randint(0, 4, (8,), generator=generator))
                   for _ in range(STEPS)]
        net = torch.compile(module, backend=blazed.torch.backend, dynamic=False)
        step = (lambda x, y: train(net, x, y)) if not handed_over else blazed.torch.train_step(lambda x, y: train(net, x, y))
        return [step(*batch).item() for batch in batches]

    def look_at(self, handed_over):
        seen = {}

        def script(session):
            if session.step == 1:
                (eager,) = [d for d, decision in enumerate(session.workload.decisions) if "eager" in decision.options]
                handle = session.build((eager, 1))
                seen["default"], seen["eager"] = session.probe(0), session.probe(handle)
                (graph,) = blazed.torch.current_job().graphs
                seen["here"] = torch.is_autocast_enabled("cpu")
                later = graph.program(Way(padded=True))  # which changes nothing on the CPU
                seen["signatures"] = [(later.directions[name].default.signature, direction.default.signature)
                                      for name, direction in graph.default.directions.items()]
                cut = next(d for d, decision in enumerate(session.workload.decisions) if decision.options[1] == "cut")
                seen["cut"] = session.probe(session.build((cut, 1)))
                session.handle = handle
            return session.handle

        with support.scripted(script) as made:
            losses = self.job(handed_over)
            self.assertEqual(len(made), 1, blazed.torch.current_job().why_not)
        self.assertEqual(len(losses), STEPS)
        return seen

    def check(self, seen):
        def sizes(probed):
            return {name: (role, len(data)) for name, (role, data) in probed.items()}

        self.assertEqual(sizes(seen["eager"]), sizes(seen["default"]), "of the same types")
        self.assertEqual(sizes(seen["cut"]), sizes(seen["default"]))
        for later, default in seen["signatures"]:
            self.assertEqual(later, default)

    def test_inside_the_step_that_is_handed_over(self):
        seen = self.look_at(handed_over=True)
        self.assertFalse(seen["here"], "probes run between steps")
        self.check(seen)

    def test_around_the_compiled_call(self):
        seen = self.look_at(handed_over=False)
        self.assertTrue(seen["here"], "a step begins inside")
        self.check(seen)

    def test_the_mode_is_put_back(self):
        outside = Autocast()
        with torch.autocast("cpu", torch.float16, cache_enabled=False):
            inside = Autocast()
            with outside.entered():
                self.assertFalse(torch.is_autocast_enabled("cpu"))
            self.assertTrue(torch.is_autocast_enabled("cpu"))
            self.assertEqual(torch.get_autocast_dtype("cpu"), torch.float16)
        with self.assertRaises(KeyError), inside.entered():
            self.assertEqual((torch.ones(2, 2) @ torch.ones(2, 2)).dtype, torch.float16)
            self.assertFalse(torch.is_autocast_cache_enabled())
            raise KeyError
        self.assertFalse(torch.is_autocast_enabled("cpu"))
        self.assertTrue(torch.is_autocast_cache_enabled())


if __name__ == "__main__":
    unittest.main()
