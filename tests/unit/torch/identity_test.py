import unittest

import support  # noqa: F401
from blazed.torch import identity
from blazed.torch.fusion_table import FusionTable, Operation


class Identity(unittest.TestCase):
    def test_does_not_depend_on_names(self):
        one = identity.refine({"a": b"mul", "b": b"add"}, [("a", "b", 0)])
        other = identity.refine({"op9": b"mul", "op3": b"add"}, [("op9", "op3", 0)])
        self.assertEqual((one["a"], one["b"]), (other["op9"], other["op3"]))

    def test_tells_apart_what_reads_in_another_order(self):
        labels = {"x": b"x", "y": b"y", "z": b"sub"}
        straight = identity.refine(labels, [("x", "z", 0), ("y", "z", 1)])
        crossed = identity.refine(labels, [("y", "z", 0), ("x", "z", 1)])
        self.assertNotEqual(straight["z"], crossed["z"])

    def test_equal_layers_are_one_class_away_from_the_ends(self):
        chain = {f"n{i}": b"layer" for i in range(12)}
        edges = [(f"n{i}", f"n{i + 1}", 0) for i in range(11)]
        classes = identity.refine(chain, edges)
        self.assertEqual(len({classes[f"n{i}"] for i in range(3, 9)}), 1)
        self.assertNotEqual(classes["n0"], classes["n5"])

    def test_a_digest_depends_on_where_one_part_ends(self):
        self.assertNotEqual(identity.digest("ab", "c"), identity.digest("a", "bc"))
        self.assertEqual(len(identity.digest()), identity.DIGEST_BYTES)


class Table(unittest.TestCase):
    table = FusionTable((Operation("a", b"k" * 16, "mul 4", (), 16), Operation("b", b"l" * 16, "add 4", ("a",), 16)),
                        (("a", "b"),))

    def test_comes_back_from_json(self):
        self.assertEqual(FusionTable.from_json(self.table.to_json()), self.table)

    def test_says_what_shares_a_kernel(self):
        self.assertTrue(self.table.together("a", "b"))
        self.assertFalse(self.table.together("a", "c"))

    def test_damaged_text_is_an_error(self):
        for text in ("", "{}", "[1]", '{"operations": [[1]], "kernels": []}', self.table.to_json()[:-3]):
            with self.assertRaises((ValueError, KeyError, TypeError)):
                FusionTable.from_json(text)


if __name__ == "__main__":
    unittest.main()
