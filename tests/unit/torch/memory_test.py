"""What plans need of the device's memory is told to the session, which refuses those that need too much."""
import contextlib
import types
import unittest
from unittest import mock

import support
import torch
import trainings
from operation_recorder import OperationRecorder

import blazed
import blazed.torch
from blazed.enums import StepFlag
from blazed.torch import memory

POOL = 1000


class FakeMeter:
    """Of a device whose runs need 100 bytes, and `more` where another plan than the default's runs."""

    def __init__(self, recorder=None):
        self.recorder, self.more, self.runs, self.retried, self.asked = recorder, 0, 0, 0, 0
        self.spoilt = None

    def needed(self, run):
        if self.spoilt is not None:
            raise self.spoilt
        self.runs += 1
        run()
        directions = [d for graph in blazed.torch.current_job().graphs for d in graph.current.directions.values()]
        return 100 + self.more * any(d.ran is not d.default for d in directions)

    def held(self):
        return POOL * self.recorder.alive if self.recorder is not None else 0

    def spare(self):
        return 77

    def retries(self):
        self.asked += 1
        return self.retried


class Memory(unittest.TestCase):
    def trained(self, script, meter, steps=12, options=None, each=None):
        with support.scripted(script) as made, mock.patch.object(memory, "for_device", lambda device: meter):
            blazed.torch.replace_job(blazed.torch.Job(options or blazed.Options()))
            module = support.model()
            support.train(steps, torch.compile(module, backend=blazed.torch.backend, dynamic=False), module, each)
            self.assertEqual(len(made), 1, blazed.torch.current_job().why_not)
            return made[0]

    @staticmethod
    def choices(session, option="cut"):
        return tuple((d, 1) for d, decision in enumerate(session.workload.decisions) if decision.options[1] == option)[:1]

    def test_what_a_plan_needs_and_what_the_default_does(self):
        seen = []

        def script(session):
            if session.step == 1:
                meter.more = 23
                seen.append(session.host.build(self.choices(session)))
                probed = session.probe(seen[0].handle)
                self.assertEqual(probed.keys(), session.probe(0).keys())
                self.assertEqual(session.host.signature(seen[0].handle), seen[0].signature)
            return seen[0].handle

        meter = FakeMeter()
        session = self.trained(script, meter)
        self.assertEqual(session.workload.default_peak_bytes, 100)
        self.assertEqual(seen[0].peak_bytes, 123)
        self.assertNotEqual(seen[0].signature, bytes(16))
        self.assertEqual(session.host.signature(seen[0].handle), seen[0].signature, "of steps as of the first run")

    def test_a_recording_counts_with_the_memory_that_it_keeps(self):
        recorder = OperationRecorder()
        meter, built = FakeMeter(recorder), []

        def script(session):
            if session.step == 1:
                (launched,) = [d for d, decision in enumerate(session.workload.decisions) if "whole_step" in decision.options]
                built.append(session.host.build(((launched, 1),)))
                meter.spoilt = MemoryError("no room")
                if session.host._graphs:
                    self.assertRaisesRegex(blazed.BuildFailed, "^its first run failed with MemoryError", session.host.build,
                                           ((launched, 1),))
                    self.assertEqual(recorder.alive, 1, "what did not fit is given back")
            return 0

        for wrapped, default in ((lambda model: torch.compile(model, backend=blazed.torch.backend, dynamic=False), 100),
                                 (None, 1)):
            built.clear()
            recorder.recordings.clear()
            meter.spoilt = None
            with support.scripted(script, recorder) as made, mock.patch.object(memory, "for_device", lambda device: meter):
                training = trainings.Training(wrapped=wrapped)
                trainings.run(training, blazed.torch.train_step(training.step), 24)
            self.assertEqual(made[0].workload.default_peak_bytes, default)
            self.assertEqual(built[0].peak_bytes, POOL + (default if wrapped else 0))

    def test_a_plan_whose_first_run_does_not_fit_is_refused_for_memory(self):
        def script(session):
            if session.step == 1:
                meter.spoilt = torch.OutOfMemoryError("no room")
                with self.assertRaises(blazed.BuildFailed) as raised:
                    session.host.build(self.choices(session))
                self.assertTrue(raised.exception.memory)
            return 0

        meter = FakeMeter()
        self.trained(script, meter)

    def test_what_the_job_allows(self):
        self.assertEqual(self.trained(lambda session: 0, FakeMeter()).options.extra_memory_bytes, 77)
        allowed = self.trained(lambda session: 0, FakeMeter(), options=blazed.Options(extra_memory_bytes=5))
        self.assertEqual(allowed.options.extra_memory_bytes, 5)

    def test_of_the_cpu_nothing_is_known(self):
        seen = []

        def script(session):
            if session.step == 1:
                seen.append(session.host.build(self.choices(session)))
            return 0

        with support.scripted(script) as made:
            module = support.model()
            support.train(8, torch.compile(module, backend=blazed.torch.backend, dynamic=False), module)
        self.assertEqual((made[0].workload.default_peak_bytes, seen[0].peak_bytes, made[0].options.extra_memory_bytes),
                         (0, 0, 0))

    def test_a_unit_in_which_the_allocator_began_anew_is_no_sample(self):
        meter, flags = FakeMeter(), []

        def script(session):
            meter.retried += session.step in (3, 6, 7)
            flags.append(session.host.unit_flags())
            return 0

        self.trained(script, meter)
        self.assertEqual([step for step, flag in enumerate(flags, 1) if flag == StepFlag.RECOMPILE], [3, 6, 7])
        self.assertEqual(set(flags), {0, StepFlag.RECOMPILE})

    def test_the_allocator_is_not_asked_in_steps(self):
        meter, handles = FakeMeter(), []

        def script(session):
            if session.step == 1:
                handles.append(session.build(*self.choices(session)))
            return handles[0] if session.step == 14 else 0

        self.trained(script, meter, steps=30)
        self.assertEqual(meter.asked, 0)


class OfAGpu(unittest.TestCase):
    """The meter's sums, with a stand-in for the allocator."""

    @contextlib.contextmanager
    def allocator(self, **answers):
        with contextlib.ExitStack() as stack:
            for name, answer in answers.items():
                stack.enter_context(mock.patch(f"torch.cuda.{name}", answer))
            yield

    def test_needed_is_what_was_in_use_beside_what_was_there(self):
        now = types.SimpleNamespace(used=500, peak=9000)

        def run():
            now.peak = now.used + 40

        def reset():
            now.peak = now.used

        with self.allocator(reset_peak_memory_stats=reset, memory_allocated=lambda: now.used,
                            max_memory_allocated=lambda: now.peak):
            self.assertEqual(memory.CudaMeter().needed(run), 40)
            self.assertEqual(memory.CudaMeter().needed(lambda: None), 0)

    def test_held_is_what_lies_in_pools_of_their_own(self):
        segments = [{"total_size": 7, "segment_pool_id": (0, 0)}, {"total_size": 20, "segment_pool_id": (0, 3)},
                    {"total_size": 300, "segment_pool_id": (5, 0)}]
        with self.allocator(memory_snapshot=lambda: segments):
            self.assertEqual(memory.CudaMeter().held(), 320)
        with self.allocator(memory_snapshot=mock.Mock(side_effect=RuntimeError("another allocator"))):
            self.assertEqual(memory.CudaMeter().held(), 0)

    def test_spare_is_a_part_of_the_device_and_at_most_half_of_what_is_free(self):
        answers = {"memory_reserved": lambda: 30, "memory_allocated": lambda: 10}
        with self.allocator(mem_get_info=lambda: (700, 800), **answers):
            self.assertEqual(memory.CudaMeter().spare(), 100)
        with self.allocator(mem_get_info=lambda: (60, 800), **answers):
            self.assertEqual(memory.CudaMeter().spare(), 40)

    def test_retries_are_the_allocators_count(self):
        with self.allocator(memory_stats_as_nested_dict=lambda: {"num_alloc_retries": 3}):
            self.assertEqual(memory.CudaMeter().retries(), 3)

    def test_the_meter_is_there_on_a_gpu_alone(self):
        self.assertIsInstance(memory.for_device("cuda"), memory.CudaMeter)
        self.assertIsNone(memory.for_device("cpu"))


if __name__ == "__main__":
    unittest.main()
