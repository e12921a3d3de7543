#!/usr/bin/env python3
"""The host's methods as C functions: what they return and raise arrives as the C interface asks for it."""
import array
import ctypes
import dataclasses
import logging
import unittest

import blazed
from blazed import abi, callbacks
from blazed.enums import BuildResult, Result

SIGNATURE = blazed.digest("ran")


class Sink:
    """Stands for the library: keeps what a probe hands over."""

    def __init__(self):
        self.names, self.roundoffs = [], []

    def probe_tensor(self, _sink, tensor):
        self.names.append(tensor.name)
        self.roundoffs.append(tensor.unit_roundoff)
        return Result.OK if tensor.name else Result.INVALID


class Host:
    def __init__(self):
        self.dropped = []
        self.plans = []

    def build(self, plan):
        self.plans.append(plan)
        return blazed.Built(7, SIGNATURE, 11, 13)

    def drop(self, handle):
        self.dropped.append(handle)

    def probe(self, handle, emit):
        self.emit = emit
        self.accepted = emit(blazed.ProbeTensor.of_buffer("t", blazed.Role.OUTPUT, array.array("f", [1, 2])))

    def signature(self, handle):
        return SIGNATURE


def raising(error):
    def method(*_arguments):
        raise error
    return method


class Callbacks(unittest.TestCase):
    def setUp(self):
        self.host, self.sink, self.failures = Host(), Sink(), callbacks.Failures()
        self.callbacks = callbacks.Callbacks(self.host, self.sink, self.failures)
        logging.disable(logging.CRITICAL)
        self.addCleanup(logging.disable, logging.NOTSET)

    def build(self, *choices):
        out = abi.Built()
        listed = (abi.Choice * len(choices))(*choices)
        result = self.callbacks.ops().build(None, ctypes.addressof(listed), len(choices), ctypes.addressof(out))
        return result, out

    def signature(self):
        out = (ctypes.c_uint8 * 16)(*range(16))
        self.callbacks.ops().signature(None, 0, ctypes.addressof(out))
        return bytes(out)


class Builds(Callbacks):
    def test_get_the_plan_and_give_the_variant(self):
        result, out = self.build((2, 1), (5, 3))
        self.assertEqual(self.host.plans, [(blazed.Choice(2, 1), blazed.Choice(5, 3))])
        self.assertEqual((result, out.handle, bytes(out.signature), out.build_ns, out.peak_bytes),
                         (BuildResult.OK, 7, SIGNATURE, 11, 13))
        self.assertEqual(self.build()[0], BuildResult.OK)
        self.assertEqual(self.host.plans[-1], ())

    def test_that_fail_say_why(self):
        cases = [(blazed.BuildFailed("no such kernel"), BuildResult.FAILED, b"no such kernel"),
                 (blazed.BuildFailed("9 GiB", memory=True), BuildResult.MEMORY, b"9 GiB"),
                 (MemoryError(), BuildResult.MEMORY, b"MemoryError"),
                 (RuntimeError("two\nlines"), BuildResult.FAILED, b"RuntimeError: two lines")]
        for error, expected, message in cases:
            self.host.build = raising(error)
            result, out = self.build()
            self.assertEqual((result, out.message), (expected, message))
            self.assertIs(self.failures.last, error)
            self.assertIsNone(error.__traceback__)  # it would keep the host's tensors
        self.assertEqual(self.failures.orders, [])

    def test_cut_a_long_sentence_between_characters(self):
        self.host.build = raising(blazed.BuildFailed("x" + "ä" * 400))
        message = self.build()[1].message
        self.assertEqual(message.decode(), "x" + "ä" * 127)

    def test_that_make_no_sense_fail_and_are_dropped(self):
        for handle, signature in ((0, SIGNATURE), (-1, SIGNATURE), (2**64, SIGNATURE), ("7", SIGNATURE), (7, b"short")):
            self.host.build = lambda plan, h=handle, s=signature: blazed.Built(h, s)
            self.host.dropped.clear()
            self.assertEqual(self.build()[0], BuildResult.FAILED)
            self.assertEqual(self.host.dropped, [handle])
        self.host.build = lambda plan: None
        self.assertEqual(self.build()[0], BuildResult.FAILED)

    def test_that_are_interrupted_count_as_failed_and_the_order_waits(self):
        for order in (KeyboardInterrupt(), SystemExit(3)):
            self.host.build = raising(order)
            self.assertEqual(self.build()[0], BuildResult.FAILED)
            self.assertEqual(self.failures.orders, [order])
            with self.assertRaises(type(order)):
                self.failures.raise_orders()
            self.assertEqual(self.failures.orders, [])


class Probes(Callbacks):
    def probe(self):
        return self.callbacks.ops().probe(None, 3, 1)

    def test_hand_tensors_over_while_they_run_and_not_after(self):
        self.assertEqual(self.probe(), 0)
        self.assertTrue(self.host.accepted)
        self.assertFalse(self.host.emit(blazed.ProbeTensor.of_buffer("t", blazed.Role.LOSS, array.array("f", [1]))))
        self.assertEqual(self.sink.names, [b"t"])

    def test_that_raise_are_faults(self):
        self.host.probe = raising(ZeroDivisionError())
        self.assertNotEqual(self.probe(), 0)

    def test_that_are_interrupted_are_spoiled_and_no_fault(self):
        self.host.probe = raising(KeyboardInterrupt())
        self.assertEqual(self.probe(), 0)
        self.assertEqual(self.sink.names, [None])  # a malformed tensor: the probe is inconclusive
        self.assertEqual(len(self.failures.orders), 1)


class References(Callbacks):
    def reference(self):
        return self.callbacks.ops().reference(None, 1)

    def given(self, emit):
        self.emit = emit
        values = blazed.ProbeTensor.of_buffer("t", blazed.Role.OUTPUT, array.array("f", [1, 2]))
        self.accepted = emit(dataclasses.replace(values, unit_roundoff=2**-11))

    def test_hand_tensors_over_with_their_arithmetic(self):
        self.host.reference = self.given
        self.assertEqual(self.reference(), 0)
        self.assertTrue(self.accepted)
        self.assertEqual((self.sink.names, self.sink.roundoffs), ([b"t"], [2**-11]))
        self.assertFalse(self.emit(blazed.ProbeTensor.of_buffer("t", blazed.Role.OUTPUT, array.array("f", [1]))))

    def test_that_raise_are_none_and_the_job_goes_on(self):
        for error in (MemoryError(), blazed.NoReference("it needs 9 GiB"), KeyboardInterrupt()):
            self.host.reference = raising(error)
            self.assertNotEqual(self.reference(), 0)
        self.assertEqual(len(self.failures.orders), 1)

    def test_that_say_why_are_logged_as_one_sentence(self):
        logging.disable(logging.NOTSET)
        self.host.reference = raising(blazed.NoReference("it needs 9 GiB"))
        with self.assertLogs("blazed", "WARNING") as logged:
            self.reference()
        self.assertEqual(logged.records[0].getMessage(), "the host's reference failed: it needs 9 GiB")


class Others(Callbacks):
    def test_signatures_of_another_kind_are_none(self):
        self.assertEqual(self.signature(), SIGNATURE)
        for bad in (b"short", None, "text of sixteen.", 5):
            self.host.signature = lambda handle, raw=bad: raw
            self.assertEqual(self.signature(), bytes(16))
        self.host.signature = raising(OSError("gone"))
        self.assertEqual(self.signature(), bytes(16))

    def test_what_a_host_lacks_is_null(self):
        ops = self.callbacks.ops()
        self.assertFalse(ops.drain or ops.device_clock_ns or ops.steps_in_flight or ops.reference or ops.unit_flags
                         or ops.want_kernels)
        self.assertTrue(ops.build and ops.drop and ops.probe and ops.signature)
        self.assertIsNone(callbacks.Callbacks(None, self.sink, self.failures).ops())

    def test_who_is_asked_for_kernels_hears_of_which_plan_and_may_fail(self):
        asked = []
        self.host.want_kernels = asked.append
        self.callbacks.ops().want_kernels(None, 2**63)
        self.assertEqual(asked, [2**63])
        self.host.want_kernels = raising(ValueError("broken"))
        self.callbacks.ops().want_kernels(None, 1)
        self.assertIsInstance(self.failures.last, ValueError)

    def test_numbers_that_are_none_are_no_answer(self):
        for good, bad in ((5, -1), (0, 2**64), (2**32 - 2, "many")):
            self.host.steps_in_flight = lambda value=good: value
            self.host.device_clock_ns = lambda value=good: value
            self.host.unit_flags = lambda value=good: value
            self.assertEqual(self.callbacks.ops().unit_flags(None), good)
            self.assertEqual(self.callbacks.ops().steps_in_flight(None), good)
            self.assertEqual(self.callbacks.ops().device_clock_ns(None), good)
            self.host.steps_in_flight = self.host.device_clock_ns = self.host.unit_flags = lambda value=bad: value
            self.assertEqual(self.callbacks.ops().unit_flags(None), 0)
            self.assertEqual(self.callbacks.ops().steps_in_flight(None), 2**32 - 1)
            self.assertEqual(self.callbacks.ops().device_clock_ns(None), 0)

    def test_drops_and_drains_that_fail_are_kept_and_go_on(self):
        self.host.drop = self.host.drain = raising(ValueError("broken"))
        self.callbacks.ops().drop(None, 7)
        self.callbacks.ops().drain(None)
        self.assertIsInstance(self.failures.last, ValueError)

    def test_the_same_failure_is_logged_once(self):
        logging.disable(logging.NOTSET)
        self.host.drop = raising(ValueError("broken"))
        with self.assertLogs("blazed", "WARNING") as logged:
            for _ in range(3):
                self.callbacks.ops().drop(None, 7)
        self.assertEqual(len(logged.records), 1)
        self.assertIn("the host's drop failed: ValueError: broken", logged.output[0])

    def test_what_the_shim_says_goes_to_the_logger(self):
        logging.disable(logging.NOTSET)
        with self.assertLogs("blazed", "INFO") as logged:
            self.callbacks.log(None, 1, b"fine")
            self.callbacks.log(None, 2, b"not fine")
        self.assertEqual([(r.levelname, r.getMessage()) for r in logged.records],
                         [("INFO", "fine"), ("WARNING", "not fine")])


if __name__ == "__main__":
    unittest.main()
