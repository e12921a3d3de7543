"""Decisions of a GPU, as far as its code: what is asked for is in what the compiler generates."""
import re
import sys
import unittest

import support  # noqa: F401
import torch

import absent_gpu
from blazed.torch import honoured, offers_products, offers_settings, offers_values
from blazed.torch.fusion_table import COULD_MIX_ORDERS, MIXED_ORDERS, REDUCTION, REORDERED, TEMPLATE
from blazed.torch.recipe import Recipe

try:
    import triton  # noqa: F401
except ModuleNotFoundError:
    print("not run: this PyTorch comes without Triton, so it generates no code of a GPU")
    sys.exit(77)

aten = torch.ops.aten


def norm(x, w):
    centred = x - x.mean(-1, keepdim=True)
    scale = torch.rsqrt((centred ** 2).mean(-1, keepdim=True) + 1e-5)
    return centred * scale * w, (x * w).sum(0), x.sum()


def kernels(code):
    return re.findall(r"@triton_heuristics\.(\w+)\(", code)


class OnAnAbsentGpu(unittest.TestCase):
    def setUp(self):
        scope = absent_gpu.present()
        scope.__enter__()
        self.addCleanup(scope.__exit__, None, None, None)

    def under(self, lowered, text, option):
        """(table, code) of one option of the setting `text`."""
        (offer,) = [o for o in offers_settings.offers_of(lowered.direction()) if o.text == text]
        ask = offer.asks[offer.options.index(option) - 1]
        return lowered.under(Recipe(hooks=ask.hooks, settings=ask.settings))

    def test_the_bytes_of_each_kernel_are_those_of_its_tensors(self):
        lowered = absent_gpu.Lowered(lambda x, y: (torch.sin(x) + y, torch.cos(x).sum(1)), (512, 128), (512, 128))
        told = {traffic.kernel: traffic for traffic in lowered.table.traffic}
        self.assertEqual(set(told), set(re.findall(r"def (triton_\w+)\(", lowered.code)))
        self.assertEqual(set(told), set(re.findall(r"(triton_\w+)\.run\(", lowered.code)))
        matrix, column = 512 * 128 * 4, 512 * 4
        self.assertEqual(sum(traffic.written_bytes for traffic in told.values()), matrix + column)
        for traffic in told.values():
            self.assertIn(traffic.read_bytes, (matrix, 2 * matrix))
            self.assertEqual(traffic.places, 1)

    def test_products_are_done_by_the_tiles_that_were_named(self):
        def f(x, w, b, y):
            return torch.relu(aten.mm(torch.softmax(aten.addmm(b, x, w), -1), y)) + 1

        lowered = absent_gpu.Lowered(f, (256, 128), (128, 512), (512,), (512, 64))
        offers = offers_products.offers_of(lowered.direction())
        self.assertEqual({o.text.split()[0] for o in offers}, {"mm", "addmm"})
        for offer in offers:
            for option, ask in zip(offer.options[1:], offer.asks):
                recipe = Recipe(templates=ask.templates)
                table, code = lowered.under(recipe)
                honoured.look(table, recipe)
                rows, columns, length = option.split()[1].split("x")
                for name, value in (("M", rows), ("N", columns), ("K", length)):
                    self.assertIn(f"BLOCK_{name} : tl.constexpr = {value}\n", code)
                self.assertEqual(len([o for o in table.operations if o.form == TEMPLATE]), 1)

    def test_products_of_batches_have_templates_too(self):
        lowered = absent_gpu.Lowered(lambda a, b: aten.bmm(a, b), (8, 128, 64), (8, 64, 128))
        (offer,) = offers_products.offers_of(lowered.direction())
        recipe = Recipe(templates=offer.asks[0].templates)
        table, _ = lowered.under(recipe)
        honoured.look(table, recipe)

    def test_reductions_run_as_asked(self):
        lowered = absent_gpu.Lowered(norm, (512, 2048), (2048,))
        self.assertEqual(set(kernels(lowered.code)), {"reduction", "persistent_reduction"})
        _, looped = self.under(lowered, "reductions", "looped")
        self.assertEqual(set(kernels(looped)), {"reduction"})
        _, kept = self.under(lowered, "reductions", "rows kept at once")
        self.assertGreater(kernels(kept).count("persistent_reduction"),
                           kernels(lowered.code).count("persistent_reduction"))
        whole, _ = self.under(lowered, "reductions", "not split")
        self.assertLess(len(whole.operations), len(lowered.table.operations))
        _, together = self.under(lowered, "reductions", "blocks together")
        self.assertIn("cooperative_reduction", kernels(together))

    def test_mixed_orders_can_be_had_below_the_compilers_own_size(self):
        lowered = absent_gpu.Lowered(norm, (512, 2048), (2048,))
        self.assertEqual(lowered.table.traits, (COULD_MIX_ORDERS,))
        mixed, _ = self.under(lowered, "reductions of mixed orders", "at any size")
        self.assertIn(MIXED_ORDERS, mixed.traits)

    def test_independent_kernels_run_side_by_side(self):
        lowered = absent_gpu.Lowered(norm, (512, 2048), (2048,))
        _, code = self.under(lowered, "independent kernels", "side by side")
        self.assertLess(len(kernels(code)), len(kernels(lowered.code)))

    def test_loops_keep_their_order(self):
        def f(x, y):
            turned = aten.permute(x, [1, 0])
            copied = aten.clone(turned, memory_format=torch.contiguous_format) + 1
            return copied, y * 2 + turned, (x + 3).sum(1)

        lowered = absent_gpu.Lowered(f, (512, 768), (768, 512))
        self.assertEqual(lowered.table.traits, (REORDERED,))
        kept, _ = self.under(lowered, "loop orders", "kept")
        self.assertGreater(len(kept.kernels), len(lowered.table.kernels))
        self.assertEqual(kept.traits, ())

    def test_operations_run_alone(self):
        lowered = absent_gpu.Lowered(norm, (8192, 512), (512,))
        for operation in lowered.table.operations:
            if operation.form == REDUCTION:
                recipe = Recipe(alone=frozenset({operation.anchor}))
                honoured.look(lowered.under(recipe)[0], recipe)

    def test_a_value_of_two_kernels_is_written(self):
        def f(x, w):
            bent = torch.sigmoid(x * w + 1)
            return bent.sum(0), (bent * 2).sum(1)

        lowered = absent_gpu.Lowered(f, (512, 768), (768,))
        offers = offers_values.offers_of(lowered.direction())
        self.assertTrue(offers)
        for written in offers[0].anchors[0]:
            recipe = Recipe(written=frozenset({written}), alone=frozenset({written}))
            table, _ = lowered.under(recipe)
            honoured.look(table, recipe)
            self.assertEqual(len(table.operations), len(lowered.table.operations) + 1)


if __name__ == "__main__":
    unittest.main()
