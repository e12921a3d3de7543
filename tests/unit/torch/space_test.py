"""What is offered, from tables alone: nothing here compiles."""
import dataclasses
import types
import unittest
from unittest import mock

import support  # noqa: F401
import torch

from blazed.torch import (fx_nodes, materialise, offers_kernels, offers_products, offers_settings, products, space,
                          twins)
from blazed.torch.ask import Ask
from blazed.torch.choices import LONG_PERSISTENT
from blazed.torch.fusion_table import (COULD_MIX_ORDERS, MIXED_ORDERS, POINTWISE, REDUCTION, REORDERED, FusionTable,
                                       Operation, Product)
from blazed.torch.offer import BOUNDARY, Offer
from blazed.torch.recipe import Recipe


def operation(name, form=POINTWISE, reads=(), reduced=0, origin=None, dtype="torch.float32"):
    return Operation(name, name.encode().ljust(16), name, tuple(reads), 64, name, form, (origin or name,), reduced,
                     dtype)


def direction(table, device="cuda"):
    source = types.SimpleNamespace(inputs=[types.SimpleNamespace(device=types.SimpleNamespace(type=device))])
    return types.SimpleNamespace(default=types.SimpleNamespace(table=table), source=source)


def settings(table, device="cuda"):
    """text -> options beyond the compiler's own."""
    return {offer.text: list(offer.options[1:]) for offer in offers_settings.offers_of(direction(table, device))}


class Settings(unittest.TestCase):
    def table(self, traits=(), reduced=(), kernels=None, split=()):
        operations = [operation(f"r{i}", REDUCTION, reduced=length) for i, length in enumerate(reduced)]
        operations += [operation(f"s{i}", REDUCTION, [f"s{i - 1}"] if i else (), 7, origin)
                       for i, origin in enumerate(split)]
        operations = operations or [operation("p")]
        return FusionTable(tuple(operations), tuple(kernels or [(o.name,) for o in operations]), (), tuple(traits))

    def test_mixed_orders_are_offered_only_where_some_are_there_or_could_be(self):
        text = "reductions of mixed orders"
        self.assertNotIn(text, settings(self.table(reduced=[64])))
        self.assertEqual(settings(self.table([MIXED_ORDERS, COULD_MIX_ORDERS]))[text], ["never"])
        self.assertEqual(settings(self.table([COULD_MIX_ORDERS]))[text], ["at any size"])

    def test_reductions_are_offered_by_how_long_they_are(self):
        self.assertNotIn("reductions", settings(self.table()))
        self.assertEqual(settings(self.table(reduced=[512]))["reductions"], ["looped"])
        self.assertEqual(settings(self.table(reduced=[4096]))["reductions"], ["rows kept at once"])
        self.assertNotIn("reductions", settings(self.table(reduced=[1 << 20])))
        self.assertEqual(settings(self.table(split=["sum", "sum"]))["reductions"],
                         ["looped", "not split", "blocks together"])
        self.assertEqual(settings(self.table(split=["max", "sum"]))["reductions"], ["looped"])

    def test_other_loop_orders_are_offered_where_merging_changed_some(self):
        self.assertNotIn("loop orders", settings(self.table()))
        self.assertEqual(settings(self.table([REORDERED]))["loop orders"], ["kept"])

    def test_smaller_kernels_are_offered_below_the_largest(self):
        many = tuple(operation(f"p{i}") for i in range(9))
        table = FusionTable(many, (tuple(o.name for o in many),))
        self.assertEqual(settings(table, "cpu")["largest kernel"], ["at most 8", "at most 4"])
        self.assertNotIn("largest kernel", settings(self.table(), "cpu"))

    def test_what_is_of_a_gpu_is_not_offered_on_the_cpu(self):
        everything = self.table([MIXED_ORDERS, REORDERED], [512, 4096], split=["sum", "sum"])
        self.assertLessEqual(set(settings(everything, "cpu")), {"largest kernel", "vector width"})

    def test_a_setting_that_this_release_does_not_know_is_not_offered(self):
        with mock.patch.object(offers_settings, "_exists", lambda key: key != "combo_kernels"):
            offered = settings(self.table(reduced=[64] * 4))
        self.assertNotIn("independent kernels", offered)
        self.assertIn("block sizes", offered)
        self.assertTrue(offers_settings._exists("triton.mix_order_reduction"))
        self.assertTrue(offers_settings._exists("cpp.simdlen"), "None by default, and there")
        self.assertFalse(offers_settings._exists("triton.of_another_release"))

    def test_every_setting_is_one_of_the_compilers_config(self):
        table = self.table([MIXED_ORDERS, REORDERED], [512, 4096], split=["sum", "sum"])
        for device in ("cuda", "cpu"):
            for offer in offers_settings.offers_of(direction(table, device)):
                self.assertEqual(len(offer.asks), len(offer.options) - 1)
                for ask in offer.asks:
                    with torch._inductor.config.patch(dict(ask.settings)):
                        pass
                    self.assertTrue(ask.settings or ask.hooks == {LONG_PERSISTENT})

    def test_orders_of_sums_are_said_to_change_where_there_are_sums(self):
        def sums(table):
            return {offer.reorders_sums for offer in offers_settings.offers_of(direction(table))}

        self.assertEqual(sums(self.table()), {False})
        self.assertEqual(sums(self.table(reduced=[64] * 4)), {True})


class Kernels(unittest.TestCase):
    table = FusionTable((operation("a"), operation("r", REDUCTION, ["a"], 64), operation("b", reads=["a", "r"]),
                         operation("c", reads=["b"]), operation("x"), operation("y", reads=["x"])),
                        (("a", "r", "b"), ("c",), ("x", "y")))

    def offers(self, kind):
        return [o for o in offers_kernels.offers_of(direction(self.table)) if (o.kind == BOUNDARY) == (kind == "cut")]

    def test_boundaries_lie_between_merged_operations(self):
        self.assertEqual({o.anchors[0] for o in self.offers("cut")}, {("a", "r"), ("a", "b"), ("r", "b"), ("x", "y")})

    def test_running_alone_is_offered_where_it_is_more_than_one_cut_beside_a_sum(self):
        self.assertEqual({o.anchors[0] for o in self.offers("alone")}, {("a",), ("r",), ("b",)})

    def test_a_cut_in_sixteen_bits_rounds_once_more(self):
        low = FusionTable((operation("a", dtype="torch.bfloat16"), operation("b", reads=["a"])), (("a", "b"),))
        (cut,) = offers_kernels.offers_of(direction(low))
        self.assertTrue(cut.reorders_sums)


class Products(unittest.TestCase):
    def product(self, *sizes, name="mm", device="cuda", dtype="torch.float32"):
        return Product("p", b"k" * 16, name, sizes, device, dtype, products.LIBRARY)

    def test_tiles_fit_the_product_and_the_device(self):
        small = products.options_for(self.product(1, 64, 64, 256), 132)
        self.assertEqual(small[0], products.LIBRARY)
        self.assertTrue(all(max(map(int, o.split()[1].split("x")[:2])) <= 64 for o in small[1:]), small)
        large = products.options_for(self.product(1, 8192, 8192, 512), 132)
        self.assertIn("triton 128x128x32", large)
        self.assertEqual(len(set(large)), 3)

    def test_what_no_template_serves_has_the_library_alone(self):
        self.assertEqual(products.options_for(self.product(1, 8, 8, 8), 132), (products.LIBRARY,))
        self.assertEqual(products.options_for(self.product(1, 64, 64, 64, dtype="torch.int8"), 132),
                         (products.LIBRARY,))
        self.assertEqual(products.options_for(self.product(1, 64, 64, 64, device="cpu"), 1), (products.LIBRARY,))

    def test_every_tile_is_one_that_the_compiler_lists(self):
        from torch._inductor.template_heuristics.triton import CUDAConfigHeuristic

        listed = {(c.block_m, c.block_n, c.block_k, c.num_stages, c.num_warps)
                  for c in CUDAConfigHeuristic().mm_configs}
        self.assertLessEqual(set(products._TILES), listed)

    def test_the_largest_products_of_a_direction_are_offered(self):
        many = tuple(dataclasses.replace(self.product(1, 64 * i, 64, 64), kind=bytes([i]) * 16) for i in range(1, 30))
        offers = offers_products.offers_of(direction(FusionTable((), (), many)))
        self.assertEqual(len(offers), offers_products._MOST)
        self.assertEqual(offers[0].identity, (bytes([29]) * 16,))


class Recipes(unittest.TestCase):
    full = Recipe(frozenset({("a", "b")}), frozenset({"a"}), frozenset({"c"}), frozenset({(b"k", "library")}),
                  frozenset({LONG_PERSISTENT}), (("max_fusion_size", 4),))

    def test_every_field_is_in_the_tag(self):
        tags = {self.full.tag(), Recipe().tag()}
        for field in dataclasses.fields(Recipe):
            self.assertTrue(getattr(self.full, field.name), "give the test a value of it")
            tags.add(dataclasses.replace(self.full, **{field.name: getattr(Recipe(), field.name)}).tag())
        self.assertEqual(len(tags), 2 + len(dataclasses.fields(Recipe)))

    def test_asks_add_up(self):
        one = Ask(cuts=frozenset({(b"a", b"b")}), settings=(("b", 1),))
        other = Ask(alone=frozenset({b"c"}), written=frozenset({b"d"}), settings=(("a", 2),))
        both = one.and_also(other)
        self.assertEqual(both, other.and_also(one))
        self.assertEqual(both.settings, (("a", 2), ("b", 1)))
        self.assertEqual((both.cuts, both.alone, both.written), (one.cuts, other.alone, other.written))
        for field in dataclasses.fields(Ask):
            value = (("k", 1),) if field.name == "settings" else frozenset({b"x"})
            self.assertEqual(getattr(Ask(**{field.name: value}).and_also(Ask()), field.name), value)


class Nodes(unittest.TestCase):
    def graph(self, names):
        def f(a, b):
            c = torch.sin(a)
            return torch.mul(c, b) + torch.mul(b, c) + torch.cos(c)

        module = torch.fx.symbolic_trace(f)
        for node, name in zip(module.graph.nodes, names):
            node.name = name
        return module

    def test_classes_do_not_depend_on_names_and_tell_operands_apart(self):
        one, other = self.graph([]), self.graph([f"n{i}" for i in range(20)])
        ours, theirs = (fx_nodes.classes_of(m.graph) for m in (one, other))
        self.assertEqual(list(ours.values()), list(theirs.values()))
        multiplied = [ours[n.name] for n in one.graph.nodes if "mul" in str(n.target)]
        self.assertNotEqual(*multiplied)

    def test_a_mark_changes_no_class(self):
        module = self.graph([])
        before = fx_nodes.classes_of(module.graph)
        (sine,) = [n.name for n in module.graph.nodes if "sin" in str(n.target)]
        materialise.mark(module, frozenset({sine}))
        self.assertTrue(any(materialise.is_mark(n) for n in module.graph.nodes))
        self.assertEqual(fx_nodes.classes_of(module.graph), before)
        self.assertTrue(torch.equal(module(torch.ones(3), torch.ones(3)),
                                    self.graph([])(torch.ones(3), torch.ones(3))))


class Twins(unittest.TestCase):
    def offer(self, *anchors):
        return Offer(BOUNDARY, "a | b", anchors, ("merged", "cut"), (Ask(),), len(anchors), 1, False, anchors)

    def graph(self, recomputed):
        nodes = [types.SimpleNamespace(name=name, meta={"recompute": types.SimpleNamespace(name=tag)})
                 for name, tag in recomputed.items()]
        module = types.SimpleNamespace(graph=types.SimpleNamespace(nodes=nodes))
        forward = types.SimpleNamespace(source=types.SimpleNamespace(module=module))
        return types.SimpleNamespace(default=types.SimpleNamespace(directions={"forward": forward}),
                                     fingerprint=lambda: b"f" * 16)

    def test_a_recomputed_place_and_its_copy_are_one_decision(self):
        graph = self.graph({"mul": "MUST_RECOMPUTE", "sum": "PREFER_RECOMPUTE", "add": "MUST_SAVE"})
        one, two, copy = self.offer(("mul", "x")), self.offer(("sum#2",)), self.offer(("mul", "x"), ("sum#2",))
        saved = self.offer(("add",))
        pairs = twins.paired(graph, {"forward": [one, two, saved], "backward": [copy, saved]})
        self.assertEqual([[direction for direction, _ in pair] for pair in pairs],
                         [["forward", "forward", "backward"], ["forward"], ["backward"]])
        decision = space._decision(0, b"f" * 16, pairs[0])
        self.assertEqual((decision.sites, decision.name[:20]), (4, "forward and backward"))
        asks = {}
        space.add_choice(asks, decision, 1)
        self.assertEqual(set(asks), {(0, "forward"), (0, "backward")})
        for option in (-1, 0, 2):
            with self.assertRaisesRegex(ValueError, f"option {option} of forward and backward"):
                space.named([decision], 0, option)

    def test_without_recomputation_nothing_is_tied(self):
        offers = {"forward": [self.offer(("mul",))], "backward": [self.offer(("mul",))]}
        self.assertEqual([len(pair) for pair in twins.paired(self.graph({}), offers)], [1, 1])


if __name__ == "__main__":
    unittest.main()
