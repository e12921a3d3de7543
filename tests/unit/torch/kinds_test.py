"""Each kind of decision that the code knows, planted in a training job by hand: where it promises equal bits the losses are
those of a job without blazed, elsewhere they are within rounding of them."""
import dataclasses
import unittest

import support
import torch

import blazed.torch
from blazed.torch import launch, offers_settings, plan, products, updates
from blazed.torch.ask import Ask

STEPS = 16
BATCH = (8, 16)
# By name: the options of it that are planted; where a CPU offers none, why.
ON_A_CPU = {
    "choice": ("eager",),
    "cuts": ("cut",),
    "alone": ("alone",),
    "written": ("written",),
    "written_apart": ("written apart",),
    "templates": (products.CPP,),
    "largest kernel": ("at most 4",),
    "vector width": ("256 bits",),
}
NOT_ON_A_CPU = {
    "padding": "a shape is padded for the products of a GPU",
    "graphs": "a CUDA graph is a GPU's",
    "whole_step": "a recording of a step is a CUDA graph",
    "reductions of mixed orders": "it is asked of Triton code",
    "reductions": "it is asked of Triton code",
    "loop orders": "it is offered for Triton code",
    "independent kernels": "it is offered for Triton code",
    "block sizes": "it is asked of Triton code",
}
# With every optimiser of PyTorch's, in updates_test.py.
OF_UPDATES = {updates.FUSED, updates.COMPILED}
FAMILIES = {"settings", "hooks"}  # what settings ask for: each setting is a kind


def kinds():
    """By the code's own lists."""
    asks = {field.name for field in dataclasses.fields(Ask)} - FAMILIES
    settings = {setting.text for setting in offers_settings.SETTINGS}
    ways = {kind for kind, _ in plan.ways_for("cuda")} | set(launch.options("cuda", 1, True)[1:])
    return asks | settings | ways | set(updates.decision([torch.optim.Adam(torch.nn.Linear(2, 2).parameters())]).options[1:])


def planted(decisions, promised):
    """(decision, option) of each option above that this CPU has: of the first decision that promises equal bits, or does
    not."""
    found = {}
    for number, decision in enumerate(decisions):
        for index, option in enumerate(decision.options[1:], 1):
            if decision.reorders_sums != promised:
                found.setdefault(option, (number, index))
    return {option: found[option] for options in ON_A_CPU.values() for option in options if option in found}


def model():
    """Small, and its graphs hold a place of each kind."""
    return torch.nn.Sequential(support.attention(layers=1), torch.nn.LayerNorm(16), torch.nn.Tanh(), torch.nn.LayerNorm(16))


def plain(steps=STEPS):
    torch._dynamo.reset()
    module = model()
    return support.train(steps, torch.compile(module, dynamic=False), module, shape=BATCH)


class Listed(unittest.TestCase):
    def test_every_kind_is_planted_here_or_says_why_not(self):
        self.assertEqual(kinds(), set(ON_A_CPU) | set(NOT_ON_A_CPU) | OF_UPDATES)
        self.assertFalse(set(ON_A_CPU) & set(NOT_ON_A_CPU))

    def test_what_is_said_to_be_a_gpus_is_offered_nowhere_else(self):
        self.assertEqual(launch.options("cpu", 1, False), [launch.STREAMS])
        self.assertEqual([kind for kind, _ in plan.ways_for("cpu")], ["choice"])
        of_a_cpu = {setting.text for setting in offers_settings.SETTINGS if "cpu" in setting.devices}
        self.assertFalse(of_a_cpu & set(NOT_ON_A_CPU))


class Planted(unittest.TestCase):
    def trained(self, promised):
        """Losses of a job that runs the default and each plan in turn; what was planted."""
        handles, probes = {}, []

        def script(session):
            if session.step == 1:
                for option, choice in planted(session.workload.decisions, promised).items():
                    handles[option] = session.build(choice)
                probes.extend(session.probe(handle) for handle in (0, *handles.values()))
            return [0, *handles.values()][session.step % (len(handles) + 1)]

        with support.scripted(script) as made:
            module = model()
            compiled = torch.compile(module, backend=blazed.torch.backend, dynamic=False)
            losses = support.train(STEPS, compiled, module, shape=BATCH)
            self.assertEqual((blazed.torch.current_job().why_not, len(made)), ("", 1))
        self.assertGreater(len(made[0].flags), len(handles))
        return losses, set(handles), probes

    def test_what_promises_equal_bits_trains_to_the_same_ones(self):
        losses, options, probes = self.trained(promised=True)
        self.assertEqual(options, {"cut", "written", "written apart"})
        self.assertTrue(all(probe == probes[0] for probe in probes))
        self.assertEqual(losses, plain())

    def test_what_may_round_otherwise_trains_to_nearly_the_same_losses(self):
        losses, options, probes = self.trained(promised=False)
        wanted = {option for options in ON_A_CPU.values() for option in options} - self.lacking()
        self.assertEqual(options | {"written", "written apart"}, wanted)
        self.assertTrue(all(probe.keys() == probes[0].keys() for probe in probes))
        for ours, theirs in zip(losses, plain()):
            self.assertAlmostEqual(ours, theirs, places=4)

    @staticmethod
    def lacking():
        """Options that this machine's CPU does not have."""
        capability = torch.backends.cpu.get_cpu_capability()
        return {option for option, there in (("256 bits", capability == "AVX512"), (products.CPP, "AVX" in capability))
                if not there}


if __name__ == "__main__":
    unittest.main()
