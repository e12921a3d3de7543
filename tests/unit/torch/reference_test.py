import ctypes
import unittest
from unittest import mock

import support
import torch

import blazed
import blazed.torch
from blazed.enums import Dtype
from blazed.torch import arithmetic, finer, probe
from blazed.torch.program import Way

TYPES = {Dtype.F32: torch.float32, Dtype.F16: torch.float16, Dtype.BF16: torch.bfloat16, Dtype.I64: torch.int64}


class Attention(torch.nn.Module):
    """Fused attention, a product, a residual and a norm, over rows of a batch as a sequence."""

    def __init__(self, width=16):
        super().__init__()
        self.mix = torch.nn.Linear(width, 3 * width)
        self.norm = torch.nn.LayerNorm(width)
        self.last = torch.nn.Linear(width, 4)

    def forward(self, x):
        q, k, v = self.mix(x).view(1, x.shape[0], 3, 2, -1).permute(2, 0, 3, 1, 4)
        mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.last(self.norm(x + mixed.transpose(1, 2).reshape(x.shape)))


class EndsInF32(torch.nn.Module):
    """So that the tangents of a probe, which are drawn in the type of a result, are no coarser than that."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x):
        return self.module(x).float()


def given(run):
    """name -> tensor, of a check computation."""
    seen = {}

    def emit(tensor):
        kind = TYPES[tensor.dtype]
        raw = ctypes.string_at(tensor.address, tensor.count * kind.itemsize)
        seen[tensor.name] = torch.frombuffer(bytearray(raw), dtype=kind)
        seen[tensor.name].unit_roundoff = tensor.unit_roundoff
        return True

    run(emit)
    return seen


def apart(ours, theirs):
    """The largest rms of a difference, as a share of the tensor's."""
    assert {name: t.dtype for name, t in ours.items()} == {name: t.dtype for name, t in theirs.items()}
    pairs = [(a.double(), theirs[name].double()) for name, a in ours.items()]
    return max(float((a - b).norm() / a.norm()) for a, b in pairs if a.norm() > 1e-6)


class References(unittest.TestCase):
    def host_of(self, module, run, look):
        """Trains `run`(compiled, x) for some steps and calls `look(host)` once, before a step."""
        looked = []

        def script(session):
            if not looked:
                looked.append(True)
                look(session.host)
            return 0

        with support.scripted(script) as made:
            compiled = torch.compile(module, backend=blazed.torch.backend, dynamic=False)
            losses = support.train(6, lambda x: run(compiled, x), module)
            self.assertEqual(len(made), 1, blazed.torch.current_job().why_not)
        self.assertEqual(looked, [True])
        return losses

    @staticmethod
    def in_bf16(compiled, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return compiled(x)

    def look_at_autocast(self, module):
        """The reference of a job in bf16 is what the same graph gives without autocast."""
        def look(host):
            default, reference = given(lambda emit: host.probe(0, emit)), given(host.reference)
            signature = host.signature(0)
            self.assertEqual({t.unit_roundoff for t in reference.values()}, {2.0**-8})
            (graph,) = blazed.torch.current_job().graphs
            inputs = blazed.torch.current_job()._inputs[graph.number]
            exact = {}
            eager = graph.program(Way(eager=True))
            with torch.autocast("cpu", enabled=False), mock.patch.object(graph, "current", eager):
                probe.run(graph, inputs, lambda name, role, value: exact.__setitem__(name, value.flatten()))
            self.assertLess(apart(exact, reference), 1e-5)
            self.assertTrue(1e-4 < apart(default, reference) < 3e-2, apart(default, reference))
            # Where steps may be replayed, a probe tells of that beside the graphs.
            with mock.patch.object(host, "_may_replay", True):
                self.assertEqual(given(lambda emit: host.probe(0, emit)).keys(), given(host.reference).keys())
            # The default is as it was.
            again = given(lambda emit: host.probe(0, emit))
            self.assertEqual(apart(default, again), 0)
            self.assertEqual(host.signature(0), signature)

        self.host_of(module, self.in_bf16, look)

    def test_autocast_is_run_in_f32(self):
        self.look_at_autocast(EndsInF32(support.model()))

    def test_attention_is_run_in_f32(self):
        torch.manual_seed(0)
        self.look_at_autocast(EndsInF32(Attention()))

    def test_dropout_has_the_defaults_masks(self):
        def look(host):
            self.assertLess(apart(given(lambda emit: host.probe(0, emit)), given(host.reference)), 3e-2)

        self.host_of(EndsInF32(support.model(dropout=0.3)), self.in_bf16, look)

    def test_a_model_of_half_types_is_run_in_f32_and_keeps_its_types(self):
        def look(host):
            default, reference = given(lambda emit: host.probe(0, emit)), given(host.reference)
            self.assertEqual({value.dtype for value in reference.values()}, {torch.bfloat16, torch.int64})
            self.assertTrue(1e-4 < apart(default, reference) < 5e-2, apart(default, reference))

        self.host_of(support.model().to(torch.bfloat16), lambda compiled, x: compiled(x.bfloat16()).float(), look)

    def test_full_precision_needs_none(self):
        self.host_of(support.model(), lambda compiled, x: compiled(x), lambda host: self.assertIsNone(host.reference))

    def test_training_goes_on_as_if_it_had_never_run(self):
        def look(host):
            given(host.reference)
            with mock.patch.object(finer, "_run", side_effect=torch.OutOfMemoryError("full")):
                with self.assertRaisesRegex(blazed.NoReference, "^it does not fit in memory$"):
                    host.reference(lambda tensor: True)
            with mock.patch.object(finer, "_run", side_effect=KeyError("odd")):
                with self.assertRaisesRegex(blazed.NoReference, "^a graph in f32 failed with KeyError"):
                    host.reference(lambda tensor: True)

        losses = self.host_of(EndsInF32(support.model(dropout=0.1)), self.in_bf16, look)
        torch._dynamo.reset()
        module = EndsInF32(support.model(dropout=0.1))
        compiled = torch.compile(module, dynamic=False)
        self.assertEqual(losses, support.train(6, lambda x: self.in_bf16(compiled, x), module))


class Switches(unittest.TestCase):
    """The framework's own, which turn products of f32 coarse."""

    def state(self):
        def answer(asked):
            try:
                return asked()
            except RuntimeError:
                return "contradiction"

        return ([arithmetic._precision(*switch) for switch in arithmetic._SWITCHES],
                answer(torch.get_float32_matmul_precision), answer(lambda: torch.backends.cudnn.allow_tf32))

    def test_are_off_inside_and_as_they_were_outside(self):
        def turned(by):
            self.addCleanup(torch.set_float32_matmul_precision, "highest")
            by()
            before = self.state()
            with self.assertRaises(ZeroDivisionError), arithmetic.finest():
                self.assertFalse({"tf32", "bf16"} & set(self.state()[0]))
                raise ZeroDivisionError
            self.assertEqual(self.state(), before)

        matmul = torch.backends.cuda.matmul
        turned(lambda: None)
        for word in ("highest", "high", "medium"):
            turned(lambda word=word: torch.set_float32_matmul_precision(word))
        turned(lambda: setattr(matmul, "allow_tf32", True))
        turned(lambda: torch.set_float32_matmul_precision("highest"))
        turned(lambda: setattr(matmul, "fp32_precision", "tf32"))  # contradicts the other set
        turned(lambda: setattr(matmul, "fp32_precision", "ieee"))

    def test_show_in_the_arithmetic_of_a_graph_with_products(self):
        def graph(device, *targets):
            nodes = [mock.Mock(target=target, meta={"val": torch.zeros(1)}) for target in targets]
            source = mock.Mock()
            source.source.module.graph.nodes = nodes
            made = mock.Mock()
            made.default.directions, made.device.return_value = {"forward": source}, device
            return made

        aten = torch.ops.aten
        words = {("cuda", "matmul"): "tf32", ("cuda", "conv"): "ieee", ("mkldnn", "matmul"): "none",
                 ("mkldnn", "conv"): "none"}
        with mock.patch.object(arithmetic, "_precision", lambda *switch: words[switch]):
            self.assertEqual(arithmetic.unit_roundoff(graph("cuda", aten.addmm.default)), 2.0**-11)
            self.assertEqual(arithmetic.unit_roundoff(graph("cpu", aten.addmm.default)), 0)
            self.assertEqual(arithmetic.unit_roundoff(graph("cuda", aten.add.Tensor)), 0)
            self.assertEqual(arithmetic.unit_roundoff(graph("cuda", aten.convolution.default)), 0)
            words["cuda", "conv"] = "tf32"
            self.assertEqual(arithmetic.unit_roundoff(graph("cuda", aten.convolution_backward.default)), 2.0**-11)


if __name__ == "__main__":
    unittest.main()
