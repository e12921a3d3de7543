"""Every kind of decision on a compiled model: done, with the default's numbers, or refused."""
import os
import subprocess
import sys
import unittest
from unittest import mock

import support
import torch

import blazed
import blazed.torch
from blazed.torch import choices, fusion_table, materialise, offers_values, products, space
from blazed.torch.honoured import Refused
from blazed.torch.products import CPP, LIBRARY


def uncached():
    return torch._inductor.config.patch(force_disable_caches=True)


class Decisions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.captured = support.Captured(support.attention(), torch.randn(2, 8, 16))

    @classmethod
    def tearDownClass(cls):
        cls.captured.close()

    def first(self, field, direction=None):
        """Number of the first decision that asks for `field` in `direction`."""
        return next(number for number in self.captured.numbers(field)
                    if direction in (None, *(name for name, _ in self.captured.decisions[number].asks)))

    def built(self, *picks):
        """Of (number, option); what ran was no default and is returned by direction."""
        built = self.captured.build(*picks)
        results = self.captured.results_of(built)
        return dict((d.name, (d, v)) for d, v in self.captured.variants(built)), results

    def assertSameBits(self, results):
        self.assertTrue(all(torch.equal(a, b) for a, b in zip(results, self.captured.default_results)))

    def assertClose(self, results):
        torch.testing.assert_close(results, self.captured.default_results, rtol=1e-4, atol=1e-6)

    def test_an_operation_runs_alone(self):
        for name in ("forward", "backward"):
            variants, results = self.built((self.first("alone", name), 1))
            direction, variant = variants[name]
            for anchor in variant.recipe.alone:
                self.assertGreater(len(kernel(direction.default.table, anchor)), 2)
                self.assertEqual(len(kernel(variant.table, anchor)), 1)
            self.assertSameBits(results)

    def test_a_value_is_written_where_its_readers_computed_it(self):
        number = self.first("written_apart")
        for option in (1, 2):
            variants, results = self.built((number, option))
            ((direction, variant),) = variants.values()
            for anchor in variant.recipe.written:
                self.assertNotIn(anchor, anchors(direction.default.table))
                self.assertNotIn(anchor, computing(direction, direction.default.table, anchor))
                self.assertIn(anchor, anchors(variant.table))
                self.assertEqual(computing(direction, variant.table, anchor), {anchor})
                if option == 2:
                    self.assertEqual(len(kernel(variant.table, anchor)), 1)
            self.assertSameBits(results)

    def test_a_product_is_computed_by_the_template_that_was_named(self):
        if not products._lets_templates() or "AVX" not in torch.backends.cpu.get_cpu_capability():
            self.skipTest("this CPU has no vectors for the compiler's templates")
        variants, results = self.built((self.first("templates"), 1))
        ((direction, variant),) = variants.values()
        ((kind, option),) = variant.recipe.templates
        self.assertEqual(option, CPP)
        self.assertEqual({p.done_by for p in direction.default.table.products}, {LIBRARY})
        for product in variant.table.products:
            self.assertEqual(product.done_by, CPP if product.kind == kind else LIBRARY)
        self.assertClose(results)

    def test_no_kernel_holds_more_than_asked(self):
        number = next(n for n in self.captured.numbers("settings") if "at most 4" in self.captured.decisions[n].options)
        decision = self.captured.decisions[number]
        variants, results = self.built((number, decision.options.index("at most 4")))
        ((direction, variant),) = variants.values()
        self.assertGreater(max(map(len, direction.default.table.kernels)), 4)
        self.assertLessEqual(max(map(len, variant.table.kernels)), 4)
        self.assertClose(results)

    def test_vectors_of_another_width_are_other_code_with_the_same_numbers(self):
        wide = [n for n in self.captured.numbers("settings") if "256 bits" in self.captured.decisions[n].options]
        if torch.backends.cpu.get_cpu_capability() != "AVX512":
            self.assertEqual(wide, [], "nothing to choose from here")
            return
        variants, results = self.built((wide[0], 1))
        ((direction, variant),) = variants.values()
        self.assertNotEqual(variant.signature, direction.default.signature)
        self.assertClose(results)

    def test_decisions_of_all_kinds_hold_together(self):
        direction, picks = "forward", []
        for field in ("cuts", "alone", "written_apart", "settings"):
            number = self.first(field, direction)
            picks.append((number, len(self.captured.decisions[number].options) - 1))
        if self.captured.numbers("templates"):
            picks.append((self.first("templates", direction), 1))
        variants, results = self.built(*picks)
        recipe = variants[direction][1].recipe
        self.assertTrue(recipe.cuts and recipe.alone and recipe.written and recipe.settings)
        self.assertClose(results)

    def test_identities_do_not_depend_on_the_process(self):
        code = ("import torch, support\n"
                "c = support.Captured(support.attention(), torch.randn(2, 8, 16))\n"
                "for d in c.decisions: print(d.id.hex(), d.sites, d.weight, d.options, d.name)\n"
                "c.close()\n")
        environment = {**os.environ, "PYTHONHASHSEED": "7", "TORCHINDUCTOR_FX_GRAPH_CACHE": "0"}
        child = subprocess.run([sys.executable, "-W", "ignore", "-c", code], env=environment, check=True,
                               cwd=os.path.dirname(os.path.abspath(__file__)), stdout=subprocess.PIPE, text=True)
        ours = [f"{d.id.hex()} {d.sites} {d.weight} {d.options} {d.name}" for d in self.captured.decisions]
        self.assertEqual(child.stdout.splitlines(), ours)

    def test_the_heaviest_come_first_and_are_kept(self):
        weights = [d.weight for d in self.captured.decisions]
        self.assertEqual(weights, sorted(weights, reverse=True))
        with mock.patch.object(space, "MOST_DECISIONS", 5):
            fewer = space.decisions_of([self.captured.graph], ())
        self.assertEqual(len(fewer), 5)
        self.assertEqual([d.id for d in fewer], [d.id for d in self.captured.decisions[:5]])

    def test_repeats_of_a_layer_are_one_decision(self):
        for field in ("cuts", "templates"):
            numbers = self.captured.numbers(field)
            self.assertTrue(not numbers or any(self.captured.decisions[n].sites > 1 for n in numbers), field)

    # ---- refused, where the compiler does not do it ----

    def test_a_merge_that_was_to_be_kept_apart_is_refused(self):
        for field in ("cuts", "alone"):
            with uncached(), mock.patch.object(choices, "_forbid_fusion"), \
                    mock.patch.object(choices.FusionHandler, "_refuses", return_value=False):
                with self.assertRaisesRegex(Refused, "^the compiler merged .* although the plan keeps"):
                    self.captured.build((self.captured.numbers(field)[-1], 1))

    def test_a_value_that_was_not_written_is_refused(self):
        with uncached(), mock.patch.object(materialise, "mark"):
            with self.assertRaisesRegex(Refused, "in its readers although the plan writes it out$"):
                self.captured.build((self.captured.numbers("written_apart")[-1], 1))

    def test_a_template_that_the_compiler_does_not_have_is_refused(self):
        if not self.captured.numbers("templates"):
            self.skipTest("this CPU has no vectors for the compiler's templates")
        with uncached(), mock.patch.object(products, "chosen", return_value=None):
            with self.assertRaisesRegex(Refused, "^the compiler has no template for .*, so the library computes it$"):
                self.captured.build((self.captured.numbers("templates")[-1], 1))


class Checkpointed(unittest.TestCase):
    def test_what_backward_computes_again_is_decided_with_the_original(self):
        from torch.utils.checkpoint import checkpoint

        class Again(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.block = support.attention(layers=1)

            def forward(self, x):
                return checkpoint(self.block, x, use_reentrant=False)

        captured = support.Captured(Again(), torch.randn(2, 8, 16))
        self.addCleanup(captured.close)
        tied = [n for n, d in enumerate(captured.decisions) if {name for name, _ in d.asks} == {"forward", "backward"}]
        self.assertTrue(any(captured.decisions[n].kind == space.BOUNDARY for n in tied))
        number = next(n for n in tied if captured.decisions[n].kind == space.BOUNDARY)
        built = captured.build((number, 1))
        results = captured.results_of(built)
        variants = dict((d.name, v) for d, v in captured.variants(built))
        self.assertEqual(set(variants), {"forward", "backward"})
        self.assertTrue(variants["forward"].recipe.cuts & variants["backward"].recipe.cuts)
        self.assertTrue(all(torch.equal(a, b) for a, b in zip(results, captured.default_results)))


def anchors(table):
    return {o.anchor for o in table.operations}


def computing(direction, table, name):
    """Operations, by anchor, that compute the node `name` on their way."""
    nodes = {node.name: node for node in direction.source.module.graph.nodes}
    in_memory = {fusion_table.node_of(o.anchor) for o in table.operations}
    return {o.anchor for o in table.operations if name in offers_values._computed_by(o, nodes, in_memory)}


def kernel(table, anchor):
    name = next(o.name for o in table.operations if o.anchor == anchor)
    return next(k for k in table.kernels if name in k)


if __name__ == "__main__":
    unittest.main()
