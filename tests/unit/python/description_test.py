#!/usr/bin/env python3
"""What a host says of itself arrives in C as it was said, and nonsense is refused where it is made."""
import array
import ctypes
import math
import unittest

import blazed
from blazed import abi

ONE, TWO = blazed.digest("one"), blazed.digest("two")


class Modes(unittest.TestCase):
    def test_are_taken_by_name_and_by_value(self):
        self.assertIs(blazed.Options(mode="observe").mode, blazed.Mode.OBSERVE)
        self.assertIs(blazed.Options(mode=blazed.Mode.PINNED).mode, blazed.Mode.PINNED)
        self.assertIs(blazed.Options().mode, blazed.Mode.FROM_ENVIRONMENT)

    def test_with_a_limit_carry_it(self):
        options = blazed.Options(mode=blazed.tune_until(steps=7, seconds=1.5)).to_c(abi.Log())
        self.assertEqual((options.mode, options.tune_until_steps, options.tune_until_ns),
                         (blazed.Mode.TUNE_UNTIL, 7, 1_500_000_000))

    def test_that_are_none_are_refused(self):
        for bad in ("fast", "tune_until", "", 9):
            with self.assertRaisesRegex(ValueError, "mode|limit"):
                blazed.Options(mode=bad)
        for limits in ({}, {"steps": 0}, {"seconds": -1}, {"steps": 2**64}):
            with self.assertRaises(ValueError):
                blazed.tune_until(**limits)


class OptionsInC(unittest.TestCase):
    def test_hold_texts_and_labels(self):
        options = blazed.Options(socket="/s", job="j\0b", device="cpu", environment={"torch": "2.11", "cuda": "13"},
                                 contract=blazed.Contract.BITWISE, rank=1, world_size=2).to_c(abi.Log())
        self.assertEqual((options.socket, options.job, options.device, options.contract), (b"/s", b"j?b", b"cpu", 1))
        labels = [(options.environment[i].key, options.environment[i].value)
                  for i in range(options.environment_count)]
        self.assertEqual(labels, [(b"torch", b"2.11"), (b"cuda", b"13")])
        self.assertEqual(options.struct_size, ctypes.sizeof(abi.Options))
        self.assertIsNone(blazed.Options().to_c(abi.Log()).socket)


class Descriptions(unittest.TestCase):
    def test_of_a_workload_hold_graphs_and_decisions(self):
        decision = blazed.Decision(TWO, "a/b", ("own", "other"), blazed.DecisionKind.BOUNDARY, graph=1, sites=3,
                                   reorders_sums=True)
        workload = blazed.Workload("w", [ONE], [decision], TWO, default_step_ns=5).to_c()
        self.assertEqual(bytes(workload.graphs[0]), ONE)
        self.assertEqual(bytes(workload.default_signature), TWO)
        got = workload.decisions[0]
        self.assertEqual((bytes(got.id), got.name, got.kind, got.option_count, got.graph, got.sites, got.reorders_sums),
                         (TWO, b"a/b", 1, 2, 1, 3, 1))
        self.assertEqual([got.options[i] for i in range(2)], [b"own", b"other"])
        self.assertEqual(workload.decision_bytes, ctypes.sizeof(abi.Decision))

    def test_refuse_digests_of_another_length(self):
        for make in (lambda: blazed.Graph(b"short", "g", 1), lambda: blazed.Decision(b"", "d", ("a", "b")),
                     lambda: blazed.Workload("w", [b"x" * 17], [], ONE), lambda: blazed.Workload("w", [], [], b"")):
            with self.assertRaisesRegex(ValueError, "16 bytes"):
                make()

    def test_name_a_plan_for_people(self):
        workload = blazed.Workload("w", [ONE], [blazed.Decision(ONE, "a", ("x", "y")),
                                                blazed.Decision(TWO, "b", ("x", "z"))], TWO)
        self.assertEqual(workload.plan_text([]), "default")
        self.assertEqual(workload.plan_text([blazed.Choice(0, 1), blazed.Choice(1, 1)]), "a=y, b=z")
        self.assertEqual(workload.plan_text([blazed.Choice(9, 1)]), "default")

    def test_digests_tell_lists_apart(self):
        made = {blazed.digest("ab", "c"), blazed.digest("a", "bc"), blazed.digest("abc"), blazed.digest("a", "b", "c"),
                blazed.digest(), blazed.digest("")}
        self.assertEqual(len(made), 6)
        self.assertEqual(blazed.digest(12, b"x"), blazed.digest("12", "x"))
        self.assertEqual({len(digest) for digest in made}, {16})


class Kernels(unittest.TestCase):
    def test_say_what_is_known_of_them_and_what_is_not(self):
        step = blazed.StepKernels([blazed.Kernel("k\0é", launches=2, registers=0, read_bytes=7),
                                   blazed.Kernel("all", 1, 2, 3, 4, 5, 6, 7)], busy_ns=9, host_launches=0).to_c()
        self.assertEqual((step.struct_size, step.kernel_bytes), (ctypes.sizeof(abi.StepKernels), ctypes.sizeof(abi.Kernel)))
        self.assertEqual((step.known, step.busy_ns, step.kernel_count), (2 | 8, 9, 2))
        first, second = step.kernels[0], step.kernels[1]
        self.assertEqual((first.name, first.known, first.launches), ("k?é".encode(), 1 | 8, 2), "one side of bytes is none")
        self.assertEqual(second.known, 63)
        self.assertEqual([getattr(second, field) for field in ("launches", "time_ns", "read_bytes", "written_bytes",
                                                                "registers", "spill_bytes", "shared_bytes")],
                         [1, 2, 3, 4, 5, 6, 7])

    def test_may_be_none(self):
        self.assertEqual(blazed.StepKernels().to_c().kernel_count, 0)


class Tensors(unittest.TestCase):
    def test_are_made_of_buffers_with_their_type(self):
        for code, dtype in (("f", blazed.Dtype.F32), ("d", blazed.Dtype.F64), ("i", blazed.Dtype.I32),
                            ("q", blazed.Dtype.I64)):
            data = array.array(code, [1, 2, 3])
            tensor = blazed.ProbeTensor.of_buffer("t", blazed.Role.OUTPUT, data)
            self.assertEqual((tensor.dtype, tensor.count, tensor.address), (dtype, 3, data.buffer_info()[0]))

    def test_of_read_only_buffers_are_copies_that_live_as_long(self):
        tensor = blazed.ProbeTensor.of_buffer("t", blazed.Role.LOSS, array.array("d", [math.pi]).tobytes(),
                                              blazed.Dtype.F64)
        self.assertEqual(ctypes.c_double.from_address(tensor.address).value, math.pi)

    def test_may_be_empty(self):
        self.assertEqual(blazed.ProbeTensor.of_buffer("t", blazed.Role.OUTPUT, array.array("d")).count, 0)

    def test_of_types_that_blazed_has_no_name_for_are_refused(self):
        with self.assertRaisesRegex(TypeError, "give dtype="):
            blazed.ProbeTensor.of_buffer("t", blazed.Role.OUTPUT, array.array("h", [1]))


if __name__ == "__main__":
    unittest.main()
