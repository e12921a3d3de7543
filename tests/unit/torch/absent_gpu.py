"""A GPU that is not there: graphs are lowered for it as far as the generated code, and nothing runs.

Stands in for the driver alone: what the compiler asks about the device is answered as an H200 would.
"""
import contextlib
import copy
import types
from unittest import mock

import torch

import blazed.torch  # noqa: F401
from blazed.torch import kernel_traffic, materialise
from blazed.torch.choices import FusionHandler
from blazed.torch.recipe import Recipe

_PROPERTIES = types.SimpleNamespace(
    name="absent", major=9, minor=0, multi_processor_count=132, total_memory=140 << 30, warp_size=32, gcnArchName="",
    max_threads_per_multi_processor=2048, regs_per_multiprocessor=65536, shared_memory_per_block_optin=232448,
    shared_memory_per_block=49152, shared_memory_per_multiprocessor=233472, L2_cache_size=50 << 20, uuid="none")


class _Driver:
    def get_current_target(self):
        from triton.backends.compiler import GPUTarget

        return GPUTarget("cuda", 90, 32)

    def get_current_device(self):
        return 0

    def get_device_interface(self):
        return torch.cuda


@contextlib.contextmanager
def present():
    """For the length of a test this process believes in the device. Needs Triton."""
    from torch._dynamo.device_interface import CudaInterface
    from triton.runtime import driver

    answers = {"is_available": lambda: True, "device_count": lambda: 1, "current_device": lambda: 0,
               "get_device_properties": lambda *_: _PROPERTIES, "get_device_capability": lambda *_: (9, 0),
               "_lazy_init": lambda: None, "_exchange_device": lambda _: 0, "_maybe_exchange_device": lambda _: 0}
    with contextlib.ExitStack() as stack:
        for name, answer in answers.items():
            stack.enter_context(mock.patch.object(torch.cuda, name, answer))
            if hasattr(CudaInterface, name.lstrip("_")):  # it took its copies when it was imported
                stack.enter_context(mock.patch.object(CudaInterface, name.lstrip("_"), staticmethod(answer)))
        stack.enter_context(mock.patch("torch._subclasses.fake_tensor.init_gpu_context", lambda _: None))
        stack.enter_context(mock.patch.object(driver, "_active", _Driver()))
        stack.enter_context(mock.patch.object(driver, "_default", _Driver()))
        yield


class Lowered:
    """One function, traced on tensors of these shapes. `table` and `code` of the default."""

    def __init__(self, function, *shapes, dtype=torch.float32):
        from torch._inductor.decomposition import select_decomp_table
        from torch._subclasses.fake_tensor import FakeTensorMode
        from torch.fx.experimental.proxy_tensor import make_fx

        self._mode = FakeTensorMode()
        with self._mode:
            self._inputs = [torch.empty(shape, device="cuda", dtype=dtype) for shape in shapes]
            self.module = make_fx(function, decomposition_table=select_decomp_table())(*self._inputs)
        self.table, self.code = self.under(Recipe())

    def under(self, recipe):
        """(table, code) of a recipe."""
        from torch._inductor import config
        from torch._inductor.debug import DebugContext
        from torch._inductor.graph import GraphLowering
        from torch._inductor.virtualized import V

        module = copy.deepcopy(self.module)
        materialise.mark(module, recipe.written)
        handler = FusionHandler(V.choices, recipe)
        with V.set_fake_mode(self._mode), config.patch(dict(recipe.settings)), V.set_choices_handler(handler):
            graph = GraphLowering(module, example_inputs=self._inputs)
            with (V.set_debug_handler(DebugContext()), V.set_graph_handler(graph),
                  kernel_traffic.noted(handler.notes)):
                graph.run(*self._inputs)
                code, _ = graph.codegen()
        return handler.table(), code.value

    def direction(self):
        """As much of a Direction as offers look at."""
        from blazed.torch import fx_nodes

        return types.SimpleNamespace(
            default=types.SimpleNamespace(table=self.table), node_classes=lambda: fx_nodes.classes_of(self.module.graph),
            source=types.SimpleNamespace(inputs=self._inputs, module=self.module))
