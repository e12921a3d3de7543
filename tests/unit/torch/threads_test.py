"""Graphs of a training job that other threads call too: they get the default's numbers, whatever is being tried, no call of
theirs is a step, and what they called is not tuned."""
import os
import threading
import unittest

import support
import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

import blazed.torch
from blazed.enums import StepFlag
from blazed.torch import elsewhere
from blazed.torch.program import Program

STEPS = 12
TRIED_AT = 3  # step of the session


class Elsewhere:
    """A function's call on a thread of its own. `result` raises what the call raised."""

    def __init__(self, function):
        self._function, self._result, self._error = function, None, None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self):
        try:
            self._result = self._function()
        except BaseException as error:
            self._error = error

    def wait(self, seconds):
        """Enough for a call that does not wait; nothing hangs on it."""
        self._thread.join(seconds)

    def result(self):
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._result


def cut_of(session):
    return next(d for d, decision in enumerate(session.workload.decisions) if decision.options[1] == "cut")


def wrong_plan(session):
    """A plan whose numbers are another model's, in force as it would be in its probe."""
    handle = session.build((cut_of(session), 1))
    (graph,) = (graph for graph in blazed.torch.current_job().graphs if graph.training)
    session.host._plans[handle].programs = ((graph, Program(lambda *a: [2 * y for y in graph.default.call(*a)], {})),)
    session.host.latch(handle)
    return handle


class Training(unittest.TestCase):
    def setUp(self):
        self.batch = torch.randn(8, 16, generator=torch.Generator().manual_seed(9))

    def trained(self, script, each=None, before_optimiser=()):
        """(session or none, job) of a job whose losses are those of one without blazed. `before_optimiser`: calls that end
        before a step changes the parameters."""
        with support.scripted(script) as made:
            self.module = support.model(batch_norm=False)
            self.compiled = torch.compile(self.module, backend=blazed.torch.backend, dynamic=False)
            def hook(*_):
                for call in before_optimiser:
                    call.result()

            hooked = register_optimizer_step_pre_hook(hook)
            try:
                ours = support.train(STEPS, self.compiled, self.module, each)
            finally:
                hooked.remove()
            job = blazed.torch.current_job()
        torch._dynamo.reset()
        module = support.model(batch_norm=False)
        self.assertEqual(ours, support.train(STEPS, torch.compile(module, dynamic=False), module))
        return made[0] if made else None, job

    def test_a_call_of_the_graph_that_is_tuned_waits_for_the_default_and_ends_the_tuning(self):
        calls, abandoned = [], []

        def script(session):
            if session.step != TRIED_AT:
                return 0
            session.host.explainer.abandon = lambda: abandoned.append(threading.get_ident())
            self.expected = self.module(self.batch).detach()
            wrong_plan(session)
            calls.append(Elsewhere(lambda: self.compiled(self.batch).detach()))
            calls[0].wait(0.5)
            session.host.latch(0)
            return session.build((cut_of(session), 1))

        session, job = self.trained(script, before_optimiser=calls)
        torch.testing.assert_close(calls[0].result(), self.expected)
        self.assertEqual((job.why_not, session.closed, job.plan_in_use()), (elsewhere.SEVERAL_THREADS, True, 0))
        self.assertEqual(len(session.flags), TRIED_AT - 1, "the step of that call is not counted")
        self.assertEqual(set(abandoned), {threading.get_ident()}, "a profiler ends on the thread that it began on")

    def test_a_graph_that_was_called_elsewhere_before_is_not_tuned(self):
        def each(step):
            if step == 0:
                Elsewhere(lambda: self.compiled(self.batch)).result()

        session, job = self.trained(lambda session: 0, each)
        self.assertEqual((session, job.why_not), (None, elsewhere.SEVERAL_THREADS))

    def test_an_evaluation_elsewhere_has_a_graph_of_its_own_and_spoils_that_step_alone(self):
        """Before the job is described, in a build, and later."""
        calls, build = [], []

        def evaluate():
            with torch.no_grad():
                return self.compiled(self.batch)

        def evaluated():
            calls.append((self.module(self.batch).detach(), Elsewhere(evaluate)))

        def each(step):
            if step in (0, STEPS - 3):
                evaluated()
                calls[-1][1].result()

        def script(session):
            if session.step == TRIED_AT:
                wrong_plan(session)
                evaluated()
                build.append(calls[-1][1])
                build[0].wait(0.5)
                session.host.latch(0)
            return 0

        session, job = self.trained(script, each, before_optimiser=build)
        self.assertEqual(len(calls), 3)
        for expected, call in calls:
            torch.testing.assert_close(call.result(), expected)
        self.assertEqual((job.why_not, session.closed), ("", False))
        spoilt = [n for n, flags in enumerate(session.flags) if flags & StepFlag.EVALUATION]
        self.assertEqual(len(spoilt), 2, session.flags)
        self.assertEqual(spoilt[0], TRIED_AT - 1)

    def test_a_compile_elsewhere_waits_for_a_build_whose_settings_hold_for_the_whole_process(self):
        from torch.compiler import config

        seen, calls = [], []

        def backend(module, inputs):
            seen.append(config.cache_key_tag)
            return module.forward

        def compiling():
            other = torch.nn.Linear(16, 16)
            return torch.compile(other, backend=backend, dynamic=False)(self.batch)

        def script(session):
            if session.step != TRIED_AT:
                return 0
            (graph,) = blazed.torch.current_job().graphs
            for direction in graph.default.directions.values():
                direction.source.compile = slowly(direction.source.compile)
            session.build((cut_of(session), 1))
            return 0

        def slowly(compiler):
            def compiled(*args, **kwargs):
                self.assertTrue(config.cache_key_tag)
                calls.append(Elsewhere(compiling))
                calls[-1].wait(0.5)
                return compiler(*args, **kwargs)
            return compiled

        # An optimiser that steps while another thread compiles rounds otherwise in some releases of PyTorch.
        self.trained(script, before_optimiser=calls)
        self.assertEqual(seen, [""] * len(calls))
        self.assertTrue(calls)

    def test_a_child_that_another_thread_makes_during_a_probe_runs_the_default(self):
        def child():
            pid = os.fork()
            if pid == 0:
                os._exit(0 if torch.allclose(self.compiled(self.batch), self.expected) else 7)
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

        def script(session):
            if session.step == TRIED_AT:
                self.expected = self.module(self.batch)
                wrong_plan(session)
                self.code = Elsewhere(child).result()
                session.host.latch(0)
            return 0

        session, job = self.trained(script)
        self.assertEqual((self.code, job.why_not, session.closed), (0, "", False))

    def test_what_a_backward_pass_computes_again_is_a_part_of_the_step_on_whichever_thread(self):
        seen = []
        value = torch.ones((), requires_grad=True)
        twice = value * 2
        twice.register_hook(lambda gradient: seen.append(elsewhere.in_backward()))
        twice.backward()
        self.assertEqual((seen, elsewhere.in_backward()), ([True], False))


if __name__ == "__main__":
    unittest.main()
