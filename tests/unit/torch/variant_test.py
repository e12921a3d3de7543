import unittest

import support
import torch
from torch._inductor import config

import blazed.torch

from blazed.torch import probe, space
from blazed.torch.program import Way
from blazed.torch.recipe import Recipe
from blazed.torch.variant import Refused

PADDED = Way(padded=True)


def together(table, a, b):
    """By anchors."""
    names = {o.anchor: o.name for o in table.operations}
    return table.together(names[a], names[b])


class Captured(unittest.TestCase):
    """One model, compiled once for all tests of this class."""

    @classmethod
    def setUpClass(cls):
        cls.scope = support.scripted(lambda session: 0)
        cls.scope.__enter__()
        cls.module = support.model(dropout=0.1)
        cls.compiled = torch.compile(cls.module, backend=blazed.torch.backend, dynamic=False)
        cls.data = torch.randn(8, 16)
        cls.loss, cls.gradients = cls.run_once()
        (cls.graph,) = blazed.torch.current_job().graphs
        cls.decisions = space.decisions_of([cls.graph], ())

    @classmethod
    def tearDownClass(cls):
        cls.scope.__exit__(None, None, None)

    @classmethod
    def run_once(cls):
        torch.manual_seed(5)
        cls.module.zero_grad()
        state = {name: value.clone() for name, value in cls.module.state_dict().items()}
        loss = cls.compiled(cls.data).square().mean()
        loss.backward()
        gradients = [parameter.grad.clone() for parameter in cls.module.parameters()]
        cls.module.load_state_dict(state)
        return loss.item(), gradients

    def first_cut(self, direction):
        asks = next(asks for d in self.decisions if d.kind == space.BOUNDARY for name, asks in d.asks
                    if name == direction.name)
        return asks[0].recipe(direction)

    def test_a_cut_is_done_and_computes_the_same(self):
        for direction in self.graph.default.directions.values():
            recipe = self.first_cut(direction)
            variant = direction.variant(recipe)
            for a, b in recipe.cuts:
                self.assertTrue(together(direction.default.table, a, b))
                self.assertFalse(together(variant.table, a, b))
            self.assertNotEqual(variant.signature, direction.default.signature)
            direction.current = variant
            try:
                loss, gradients = self.run_once()
            finally:
                direction.current = direction.default
            self.assertEqual(loss, self.loss)
            self.assertTrue(all(torch.equal(a, b) for a, b in zip(gradients, self.gradients)))

    def test_an_empty_recipe_is_the_default(self):
        forward = self.graph.default.directions["forward"]
        self.assertIs(forward.variant(Recipe()), forward.default)
        self.assertEqual(Recipe().tag(), "", "results are shared with jobs without blazed")

    def test_what_does_nothing_has_the_defaults_signature(self):
        forward = self.graph.default.directions["forward"]
        operations = forward.default.table.operations
        kernel = forward.default.table.kernel_of()
        apart = next((a.anchor, b.anchor) for a in operations for b in operations if kernel[a.name] != kernel[b.name])
        self.assertEqual(forward.variant(Recipe(cuts=frozenset({apart}))).signature, forward.default.signature)

    def test_a_second_compile_from_the_cache_knows_what_was_merged(self):
        forward = self.graph.default.directions["forward"]
        recipe = self.first_cut(forward)
        first = forward.variant(recipe)
        forward.keep_only([])
        self.assertEqual(list(forward.variants.values()), [forward.default])
        again = forward.variant(recipe)
        self.assertIsNot(again, first)
        self.assertEqual((again.table, again.signature), (first.table, first.signature))
        self.assertGreater(first.call._time_taken_ns, 0)
        self.assertGreaterEqual(again.build_ns, first.call._time_taken_ns, "what a compile takes, not a look into the cache")

    def test_other_strides_are_refused(self):
        forward = self.graph.default.directions["forward"]
        kept = forward.default
        import dataclasses
        forward.default = dataclasses.replace(kept, strides=(("7", "1"),) + kept.strides[1:])
        try:
            with self.assertRaisesRegex(Refused, "in memory in another way"):
                forward.variant(Recipe(alone=frozenset({kept.table.operations[-1].anchor})))
        finally:
            forward.default = kept

    def test_decisions_have_plain_names_and_stay_the_same(self):
        again = space.decisions_of([self.graph], ())
        self.assertEqual(self.decisions, again)
        self.assertEqual(len({d.id for d in again}), len(again))
        self.assertEqual(len({d.name for d in again}), len(again))
        for decision in again:
            self.assertTrue(decision.name.isascii() and decision.name.isprintable(), decision.name)
            self.assertLessEqual(len(decision.name), 96)

    def test_a_probe_leaves_no_trace(self):
        inputs = [v for v in self.inputs()]
        probe.look_at_default(self.graph, inputs)
        self.assertEqual(len(self.graph.written), 3, "running mean, running variance and batches of the batch norm")
        self.run_once()
        before = {name: value.clone() for name, value in self.module.state_dict().items()}
        gradients = [p.grad.clone() for p in self.module.parameters()]
        random = torch.get_rng_state()
        seen = []
        for _ in range(2):
            tensors = {}
            probe.run(self.graph, inputs, lambda name, role, value: tensors.__setitem__(name, value.clone()))
            seen.append(tensors)
        self.assertTrue(all(torch.equal(seen[0][name], seen[1][name]) for name in seen[0]), "with dropout in it")
        self.assertTrue(any("gradient" in name for name in seen[0]))
        self.assertTrue(torch.equal(random, torch.get_rng_state()))
        self.assertTrue(all(torch.equal(value, before[name]) for name, value in self.module.state_dict().items()))
        self.assertTrue(all(torch.equal(p.grad, g) for p, g in zip(self.module.parameters(), gradients)))

    def test_a_program_that_is_made_later_knows_the_sizes_of_its_tensors(self):
        self.graph.programs.pop(PADDED, None)
        self.run_once()
        program = self.graph.program(PADDED)
        for name, direction in self.graph.default.directions.items():
            self.assertEqual(*([str(value) for value in d.source.inputs] for d in (direction, program.directions[name])))

    def inputs(self):
        """As the framework hands them to the captured graph."""
        caught = []
        kept = self.graph.current
        program = type(kept)(lambda *args: (caught.append(args), kept.call(*args))[1], kept.directions)
        self.graph.current = program
        try:
            self.run_once()
        finally:
            self.graph.current = kept
        return caught[0]


class Constants(unittest.TestCase):
    def test_a_constant_of_a_graph_leaves_no_address_in_the_signature(self):
        """The compiler writes where each one lies into a comment; a plan that is built again would be another."""
        class Weighed(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = support.model(batch_norm=False)

            def forward(self, x):
                return self.inner(x * torch.tensor([float(n) for n in range(16)]))

        with support.scripted(lambda session: 0), config.patch(fx_graph_cache=False):
            module = Weighed()
            torch.compile(module, backend=blazed.torch.backend, dynamic=False)(torch.randn(8, 16)).sum().backward()
            (graph,) = blazed.torch.current_job().graphs
            forward = graph.default.directions["forward"]
            self.assertIn("_tensor_constant", forward.default.call.source_code)
            again = graph.program(Way(padded=True)).directions["forward"]
        self.assertIsNot(again.default.call, forward.default.call)
        self.assertNotEqual(again.default.call.source_code, forward.default.call.source_code)
        self.assertEqual(again.default.signature, forward.default.signature)


if __name__ == "__main__":
    unittest.main()
