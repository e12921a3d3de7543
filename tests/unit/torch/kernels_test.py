"""What the PyTorch client tells of a settled plan's kernels: read from a profiler's trace, from what the compiler knows,
and asked of steps of the job that compute what they always do."""
import gc
import types
import unittest
from unittest import mock

import support
import torch

import blazed
from blazed.torch import explainer, kernel_facts, kernel_trace, kernel_traffic, step_profile, tables_on_disk
from blazed.torch.fusion_table import FusionTable


def event(name, start, duration, category="kernel", thread=1, **arguments):
    return {"ph": "X", "cat": category, "name": name, "ts": start, "dur": duration, "pid": 1, "tid": thread, "args": arguments}


def on_device(name, start, duration, call, registers=32, shared=0):
    return event(name, start, duration, correlation=call, **{"registers per thread": registers, "shared memory": shared})


def told(*events):
    return {"traceEvents": [{"ph": "M", "name": "process_name"}, *events]}


class DeviceTraces(unittest.TestCase):
    def test_launches_of_one_name_count_together_and_the_longest_comes_first(self):
        step = kernel_trace.of_device(told(on_device("short", 0, 1, 1), on_device("long", 5, 2.5, 2, 40, 16),
                                           on_device("long", 10, 3, 3, 48, 8)), 20_000)
        self.assertEqual(step.kernels, [blazed.Kernel("long", 2, 5500, registers=48, shared_bytes=16),
                                        blazed.Kernel("short", 1, 1000, registers=32, shared_bytes=0)])
        self.assertEqual((step.step_ns, step.kernel_launches, step.host_launches), (20_000, 3, 3))

    def test_time_in_which_kernels_run_side_by_side_counts_once(self):
        step = kernel_trace.of_device(told(on_device("a", 0, 10, 1), on_device("b", 4, 3, 2), on_device("c", 8, 6, 3),
                                           on_device("d", 20, 1, 4)), 30_000)
        self.assertEqual(step.busy_ns, 15_000)

    def test_kernels_of_one_recording_are_one_launch_of_the_host(self):
        step = kernel_trace.of_device(told(*(on_device("k", 2 * i, 1, 77) for i in range(400))), 1_000_000)
        self.assertEqual((step.kernel_launches, step.host_launches), (400, 1))

    def test_copies_are_work_of_the_device_without_registers(self):
        step = kernel_trace.of_device(told(event("Memcpy DtoD", 0, 2, "gpu_memcpy", correlation=5, bytes=64),
                                           event("cudaMemcpyAsync", 0, 9, "cuda_runtime", correlation=5),
                                           event("Memset", 4, 1, "gpu_memset", correlation=6, bytes=32)), 10_000)
        self.assertEqual(step.kernels, [blazed.Kernel("Memcpy DtoD", 1, 2000, 64, 64), blazed.Kernel("Memset", 1, 1000, 0, 32)])

    def test_a_trace_without_the_device_tells_nothing(self):
        self.assertEqual(kernel_trace.of_device(told(event("aten::mm", 0, 1, "cpu_op")), 10).kernels, [])

    def test_names_beyond_the_most_are_told_together(self):
        step = kernel_trace.of_device(told(*(on_device(f"k{i}", 10 * i, 1 + i % 7, i) for i in range(600))), 10**7)
        self.assertEqual(len(step.kernels), 512)
        self.assertEqual(sum(kernel.launches for kernel in step.kernels), 600)
        self.assertEqual(step.kernels[-1].name, "all others")
        self.assertEqual(step.kernels[-1].registers, None)

    def test_names_that_are_equal_where_they_are_cut_are_one(self):
        step = kernel_trace.of_device(told(on_device("é" * 200 + "a", 0, 1, 1), on_device("é" * 200 + "b", 2, 1, 2)), 10**4)
        self.assertEqual([(kernel.name, kernel.launches) for kernel in step.kernels], [("é" * 128, 2)])


class HostTraces(unittest.TestCase):
    def test_an_operation_counts_without_those_inside_it(self):
        step = kernel_trace.of_host(told(
            event("autograd::engine::evaluate_function: X", 0, 100, "cpu_op"), event("aten::addmm", 10, 50, "cpu_op"),
            event("aten::copy_", 20, 15, "cpu_op"), event("cpp_fused_0", 70, 5, "cpu_op"),
            event("Optimizer.step#Adam.step", 0, 100, "user_annotation"), event("CompiledFunction", 0, 99, "cpu_op"),
            event("aten::add", 30, 40, "cpu_op", thread=2)), 200_000, {"cpp_fused_0"})
        self.assertEqual({kernel.name: (kernel.launches, kernel.time_ns) for kernel in step.kernels},
                         {"aten::addmm": (1, 35_000), "aten::copy_": (1, 15_000), "cpp_fused_0": (1, 5000),
                          "aten::add": (1, 40_000)})
        self.assertEqual((step.busy_ns, step.kernel_launches, step.host_launches), (65_000, 4, None))


class Facts(unittest.TestCase):
    def facts(self, launchers, traffic=()):
        module = types.SimpleNamespace(__name__="generated", triton_0=types.SimpleNamespace(launchers=launchers), other=3)
        table = FusionTable((), (), traffic=tuple(traffic))
        built = types.SimpleNamespace(variants=[(None, types.SimpleNamespace(call=None, table=table))])
        with mock.patch.object(kernel_facts, "_modules", lambda built: [module]):
            return kernel_facts.of(built)

    def test_spilled_registers_are_four_bytes_each(self):
        facts = self.facts([types.SimpleNamespace(n_regs=40, n_spills=3, shared=512)])
        step = kernel_facts.alone(facts)
        self.assertEqual(step, blazed.StepKernels([blazed.Kernel("triton_0", registers=40, spill_bytes=12, shared_bytes=512)]))

    def test_what_a_launcher_does_not_say_is_not_known(self):
        self.assertEqual(kernel_facts.alone(self.facts([types.SimpleNamespace(n_regs=None)])).kernels,
                         [blazed.Kernel("triton_0")])

    def test_bytes_count_once_a_launch_from_each_place(self):
        facts = self.facts([], [kernel_traffic.Traffic("triton_0", 2, 300, 100)])

        def joined(launches):
            (kernel,) = kernel_facts.joined(blazed.StepKernels([blazed.Kernel("triton_0", launches, 5)]), facts).kernels
            return kernel.read_bytes, kernel.written_bytes

        self.assertEqual(joined(2), (300, 100))
        self.assertEqual(joined(8), (1200, 400), "of four micro-batches")
        self.assertEqual(joined(3), (None, None), "another place launches it too")

    def test_the_profiler_has_the_last_word_on_what_both_know(self):
        facts = self.facts([types.SimpleNamespace(n_regs=40, n_spills=0, shared=512)])
        (kernel,) = kernel_facts.joined(blazed.StepKernels([blazed.Kernel("triton_0", 1, 5, registers=41)]), facts).kernels
        self.assertEqual((kernel.registers, kernel.spill_bytes, kernel.shared_bytes), (41, 0, 512))


class Traffic(unittest.TestCase):
    def test_a_compile_notes_what_its_kernels_read_and_write_and_a_cache_hit_reads_it_again(self):
        rows = torch.randn(64, 48)
        captured = support.Captured(support.Block(48), rows)
        self.addCleanup(captured.close)
        for direction in captured.graph.default.directions.values():
            table = direction.default.table
            self.assertTrue(table.traffic)
            for traffic in table.traffic:
                self.assertIn(f"{traffic.kernel}(", direction.default.call.source_code)
                self.assertGreaterEqual(traffic.written_bytes, 4, traffic)
            self.assertEqual(FusionTable.from_json(table.to_json()), table)
            self.assertEqual(tables_on_disk.read(direction.default.call._fx_graph_cache_key), table)

    def test_bytes_are_those_of_the_tensors(self):
        from blazed.torch import plan

        rows = torch.randn(64, 48)
        with support.scripted(lambda session: 0):
            compiled = torch.compile(lambda x, y: (torch.sin(x) + y, x * y), backend=blazed.torch.backend, dynamic=False)
            compiled(rows, rows + 1)
            (graph,) = blazed.torch.current_job().graphs
            (facts,) = kernel_facts.of(plan.default([graph])).values()
        self.assertEqual((facts.places, facts.read_bytes, facts.written_bytes), (1, 2 * rows.nbytes, 2 * rows.nbytes))


class Looks(unittest.TestCase):
    """A job whose session asks for kernels at one step and takes what it is told."""

    def run_job(self, steps=40, ask_at=6, handle=None, timed=lambda step: False, shared=None,
                default_at=0):
        self.told, self.ran = [], []

        def script(session):
            if session.step == 1:
                session.in_unit = lambda: timed(session.step)
                session.give_kernels = lambda *told: self.told.append((session.step, *told)) or blazed.Result.OK
                session.chosen = session.build((0, 1)) if handle is None else handle
            if session.step == ask_at and session.host.want_kernels is not None:
                session.host.want_kernels(session.chosen)
            return 0 if session.step == default_at else session.chosen

        module = support.model()
        with support.scripted(script) as made:
            if shared is not None:
                blazed.torch.current_job().options = shared
            compiled = torch.compile(module, backend=blazed.torch.backend, dynamic=False)
            losses = support.train(steps, compiled, module,
                                   lambda step: self.ran.append(blazed.torch.current_job().plan_in_use()))
            self.session, self.flags = made[0], made[0].flags
            self.why_not = blazed.torch.current_job().why_not
        return losses

    def test_one_step_of_the_default_and_one_of_the_plan_are_told_once_and_change_no_number(self):
        losses = self.run_job()
        self.assertEqual(self.why_not, "")
        ((step, handle, before, after),) = self.told
        self.assertEqual(handle, self.session.chosen)
        fused = [kernel for kernel in before.kernels if kernel.name.startswith("cpp_fused")]
        self.assertTrue(fused, before)
        self.assertFalse([kernel for kernel in after.kernels if kernel.name.startswith("cpp_fused")], "it runs eagerly")
        self.assertIn("aten::gelu", [kernel.name for kernel in after.kernels])
        for kernel in fused:
            self.assertTrue(kernel.time_ns > 0 and kernel.launches > 0 and kernel.read_bytes > 0, kernel)
            self.assertEqual((kernel.registers, kernel.spill_bytes, kernel.shared_bytes), (None, None, None))
        for side in (before, after):
            self.assertTrue(0 < side.busy_ns <= side.step_ns)
            self.assertEqual(side.kernel_launches, sum(kernel.launches for kernel in side.kernels))
        defaults = [step for step, plan in enumerate(self.ran) if plan == 0]
        looked_at = [step for step, flags in enumerate(self.flags) if flags & blazed.StepFlag.PROFILER]
        self.assertEqual(len(looked_at), 2)
        self.assertEqual(sum(1 for step in defaults if step > 4), 1, "one step of the default, behind the description")
        self.assertEqual(losses, self.run_job(ask_at=0, default_at=step - 1))
        self.assertEqual(self.told, [])

    def test_nobody_looks_while_plans_are_timed(self):
        self.run_job(steps=120, timed=lambda step: step < 60)
        ((step, *_),) = self.told
        self.assertGreaterEqual(step, 60)

    def test_another_plan_in_use_is_not_looked_at(self):
        self.run_job(handle=0)
        self.assertEqual(self.told, [])

    def test_a_profiler_of_the_script_is_left_alone_also_where_it_waits(self):
        waiting = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])
        self.run_job()
        ((_, _, before, after),) = self.told
        self.assertEqual((before.busy_ns, after.busy_ns), (None, None))
        self.assertTrue(all(kernel.time_ns is None for kernel in before.kernels))
        self.assertTrue(any(kernel.read_bytes for kernel in before.kernels), "what the compiler knows is told")
        self.assertFalse(any(flags & blazed.StepFlag.PROFILER for flags in self.flags))
        del waiting
        gc.collect()  # or it would be found by tests that follow

    def test_a_profiler_that_fails_costs_nothing(self):
        with mock.patch.object(step_profile.StepProfile, "begin", side_effect=RuntimeError("no")):
            losses = self.run_job()
        self.assertEqual((self.told, self.why_not), ([], ""))
        with mock.patch.object(kernel_trace, "of_host", side_effect=KeyError("traceEvents")):
            self.assertEqual(self.run_job(), losses)
        self.assertEqual((self.told, self.why_not), ([], ""))
        self.assertFalse(torch.autograd._profiler_enabled())

    def test_steps_unlike_others_are_looked_at_again_and_not_for_ever(self):
        ends = explainer.Explainer.ends
        with mock.patch.object(explainer.Explainer, "ends",
                               lambda self, flags: ends(self, flags | blazed.StepFlag.EVALUATION)):
            self.run_job()
        looked_at = [step for step, flags in enumerate(self.flags) if flags & blazed.StepFlag.PROFILER]
        self.assertEqual(len(looked_at), 6)
        ((_, _, before, _),) = self.told
        self.assertEqual(before.busy_ns, None)

    def test_an_option_turns_it_off(self):
        self.run_job(shared=blazed.Options(explain_kernels=False))
        self.assertEqual(self.told, [])

    def test_kernels_run_without_names_of_their_own_when_it_is_over(self):
        self.run_job()
        from torch._inductor.codecache import PyCodeCache

        kernels = [kernel for module in PyCodeCache.modules for name, kernel in vars(module).items() if name.startswith("cpp_")]
        self.assertTrue(kernels)
        self.assertFalse([kernel for kernel in kernels if hasattr(kernel, "__wrapped__") or isinstance(kernel, types.FunctionType)])


if __name__ == "__main__":
    unittest.main()
