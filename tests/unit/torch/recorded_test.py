"""Whether the compiler's CUDA graphs ran is read back. Here there is no GPU: so none is recorded, and that is what has to
show."""
import dataclasses
import types
import unittest
from unittest import mock

import support
import torch
from torch._dynamo.utils import counters
from torch._inductor.utils import BoxedBool

import blazed
import blazed.torch
from blazed.torch import honoured, launch, memory, plan
from blazed.torch.honoured import Refused
from blazed.torch.program import Way
from blazed.torch.variant import _recorded


class Offered(unittest.TestCase):
    def test_cuda_graphs_are_offered_to_a_step_that_calls_one_graph_once(self):
        self.assertEqual(launch.options("cuda", 1, False), [launch.STREAMS, launch.GRAPHS])
        self.assertEqual(launch.options("cuda", 1, True), [launch.STREAMS, launch.WHOLE_STEP, launch.GRAPHS])
        self.assertEqual(launch.options("cuda", 3, True), [launch.STREAMS, launch.WHOLE_STEP])
        for device, calls, word in (("cuda", 3, "graphs 3 times"), ("cuda", 0, "no graph"), ("cpu", 1, "NVIDIA")):
            self.assertIn(word, launch.why_no_graphs(device, calls))
            self.assertNotIn(launch.GRAPHS, launch.options(device, calls, False))
        self.assertEqual(launch.why_no_graphs("cuda", 1), "")

    def test_a_job_says_why_they_are_not_offered(self):
        with support.scripted(lambda session: 0):
            module = support.model()
            support.train(6, torch.compile(module, backend=blazed.torch.backend, dynamic=False), module)
            self.assertIn("NVIDIA", blazed.torch.current_job().why_no_graphs())


class ReadBack(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.captured = support.Captured(support.model(), torch.randn(8, 16))
        cls.addClassCleanup(cls.captured.close)
        cls.launch = launch.decision(["streams", "graphs"])

    def build(self):
        return plan.build([self.captured.graph], [self.launch], [(0, 1)])

    def as_if_recorded(self):
        """A plan of graphs as a GPU would have it: every direction says that it was recorded."""
        built = plan.default([self.captured.graph])
        built.launch = launch.GRAPHS
        kept = []
        for direction, variant in built.variants:
            kept.append((direction, direction.current, direction.ran))
            direction.current = dataclasses.replace(variant, recorded=True)

        def restore():
            for direction, current, ran in kept:
                direction.current, direction.ran = current, ran

        self.addCleanup(restore)
        return built

    def test_a_plan_of_graphs_that_records_none_is_refused_with_the_compilers_reason(self):
        with self.assertRaisesRegex(Refused, "^the compiler runs this graph without a CUDA graph: .*multiple devices$"):
            self.build()
        self.assertNotIn(Way(graphs=True), self.captured.graph.programs)

    def test_one_direction_that_is_recorded_is_enough_to_differ(self):
        yes, no = types.SimpleNamespace(recorded=True, why_not_recorded=""), types.SimpleNamespace(
            recorded=False, why_not_recorded="mutated inputs")
        honoured.look_at_recordings([no, yes])
        self.assertRaisesRegex(Refused, "CUDA graph: mutated inputs$", honoured.look_at_recordings, [no, no])
        self.assertRaisesRegex(Refused, "it does not say why$", honoured.look_at_recordings, [])

    def test_what_the_compiler_says_of_itself(self):
        def compiled(info, reason=None):
            return types.SimpleNamespace(cudagraph_info=info, disabled_cudagraphs_reason=reason)

        info = types.SimpleNamespace(cudagraph_fail_reasons=[])
        failed = types.SimpleNamespace(cudagraph_fail_reasons=["mutated inputs", "non-Tensor inputs"])
        for result, box, told in ((compiled(info), True, (True, "")),
                                  (compiled(info), False, (False, "")),
                                  (compiled(None, "skipping: cpu\n  at line 7"), False, (False, "skipping: cpu")),
                                  (compiled(failed), False, (False, "mutated inputs; non-Tensor inputs")),
                                  (lambda args: args, True, (False, ""))):
            self.assertEqual(_recorded(result, {"cudagraphs": BoxedBool(box)}), told)

    def test_the_signature_says_what_ran(self):
        streams = plan.default([self.captured.graph])
        self.captured.run()
        before = streams.signature()
        built = self.as_if_recorded()
        self.captured.run()
        recorded = built.signature()
        self.assertNotEqual(recorded, before)
        built.look_at_recordings()
        for direction, _ in built.variants:
            variant, call = direction.current, direction.current.call

            def skips_once(args, call=call, told=[]):
                counters["inductor"]["cudagraph_skips"] += not told
                told.append(None)
                return call(args)

            direction.current = dataclasses.replace(variant, call=skips_once)
        self.captured.run()
        self.captured.run()
        self.assertEqual(built.signature(), before, "it says once that it gave up, and runs without from then on")
        self.assertRaisesRegex(Refused, "gave up its CUDA graphs", built.look_at_recordings)

    def test_a_direction_that_gives_up_does_so_for_itself_alone(self):
        """The compiler shares one box between forward and backward, and between all that is compiled later."""
        forward = self.captured.graph.default.directions["forward"]
        source = dataclasses.replace(forward.source, arguments={**forward.source.arguments, "cudagraphs": BoxedBool(True)})
        BoxedBool.disable(source.arguments["cudagraphs"])
        first, second = source.own_boxes(source.boxes), source.own_boxes(source.boxes)
        self.assertTrue(first["cudagraphs"])
        BoxedBool.disable(first["cudagraphs"])
        self.assertTrue(second["cudagraphs"])


class AtTheFirstRun(unittest.TestCase):
    def test_graphs_that_give_up_there_are_no_plan(self):
        meter = mock.Mock(spec=memory.CudaMeter, **{"held.return_value": 0, "spare.return_value": 0, "retries.return_value": 0})
        meter.needed.side_effect = lambda run: (run(), 1)[1]
        refused = []

        def script(session):
            if session.step == 1:
                host, before = session.host, len(session.host._plans)

                def build(graphs, decisions, choices):
                    built = plan.default(graphs)
                    built.launch = launch.GRAPHS
                    return built

                with mock.patch.object(plan, "build", build), mock.patch.object(launch, "mark_step"):
                    with self.assertRaises(blazed.BuildFailed) as raised:
                        host.build(())
                refused.append(raised.exception.sentence)
                self.assertEqual(len(host._plans), before)
            return 0

        with support.scripted(script), mock.patch.object(memory, "for_device", lambda device: meter):
            module = support.model()
            support.train(8, torch.compile(module, backend=blazed.torch.backend, dynamic=False), module)
        self.assertEqual(refused, ["the compiler gave up its CUDA graphs when they first ran"])


if __name__ == "__main__":
    unittest.main()
