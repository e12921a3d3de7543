"""A plan that passed its probes and fails on a step: it runs no more, and the step is one of the default plan's where it
can be run again."""
import dataclasses
import unittest

import support
import torch

import blazed.torch
from blazed.enums import StepFlag
from blazed.torch.program import Program

STEPS = 12
FAILS_AT = 4  # step of the session


def named(session, option):
    return next((d, decision.options.index(option)) for d, decision in enumerate(session.workload.decisions)
                if option in decision.options)


class Failing:
    """In place of what a plan calls: raises `error` the first time that it is called on a step, once it is `live`."""

    def __init__(self, call, error):
        self._call, self._error = call, error
        self.live, self.calls = False, 0

    def __call__(self, *args):
        if self.live:
            self.calls += 1
            raise self._error
        return self._call(*args)


class OnAStep(unittest.TestCase):
    def trained(self, plant, dropout=0.0, batch_norm=False, script=None):
        """(session, job); the losses are those of a job without blazed. `plant(session) -> (handle, Failing)`."""
        def training(backend):
            module = support.model(dropout, batch_norm)
            compiled = torch.compile(module, backend=backend, dynamic=False)
            if script is None:
                return support.train(STEPS, compiled, module)
            return script(module, compiled)

        def directives(session):
            if session.step == 1:
                self.handle, self.failing = plant(session)
                session.probe(self.handle)
            if session.step == FAILS_AT:
                self.assertNotEqual(session.host.signature(self.handle), bytes(16))
                self.failing.live = True
            if session.step == FAILS_AT + 2:
                self.after = session.host.signature(self.handle)
                try:
                    session.probe(self.handle)
                    self.refused = ""
                except RuntimeError as error:
                    self.refused = str(error)
            return self.handle

        with support.scripted(directives) as made:
            ours = training(blazed.torch.backend)
            job = blazed.torch.current_job()
            self.assertEqual(job.why_not, "")
        torch._dynamo.reset()
        self.assertEqual(ours, training("inductor"))
        return made[0], job

    def assert_refused(self, session, job):
        self.assertEqual((self.failing.calls, job.plan_in_use(), self.after), (1, 0, bytes(16)))
        self.assertRegex(self.refused, "out of room")
        spoilt = [n + 1 for n, flags in enumerate(session.flags) if flags & StepFlag.RECOMPILE]
        self.assertEqual(spoilt, [FAILS_AT])

    def uncompiled(self, error):
        def plant(session):
            handle = session.build(named(session, "eager"))
            ((graph, program),) = session.host._plans[handle].programs
            failing = Failing(graph.default.call, error)
            session.host._plans[handle].programs = ((graph, Program(failing, {})),)
            session.host.latch(handle)  # once it has run there is a signature
            return handle, failing
        return plant

    def backward(self, error):
        def plant(session):
            host = session.host
            handle = next(handle for handle in map(session.build, self.cuts(session))
                          if any(d.name == "backward" and v is not d.default for d, v in host._plans[handle].variants))
            (direction, variant), = [(d, v) for d, v in host._plans[handle].variants if d.name == "backward"]
            failing = Failing(variant.call, error)
            other = dataclasses.replace(variant, call=failing)
            direction.variants[variant.recipe] = other
            host._plans[handle].variants = tuple((d, other if d is direction else v)
                                                 for d, v in host._plans[handle].variants)
            return handle, failing
        return plant

    @staticmethod
    def cuts(session):
        return ((d, 1) for d, decision in enumerate(session.workload.decisions) if decision.options[1] == "cut")

    def test_out_of_memory_in_forward_runs_the_step_by_the_default(self):
        for error in (torch.OutOfMemoryError("out of room"), MemoryError("out of room")):
            with self.subTest(type(error).__name__), self.assertLogs("blazed", "WARNING") as logs:
                session, job = self.trained(self.uncompiled(error))
            self.assert_refused(session, job)
            self.assertIn("out of room; it is not run any more", logs.output[0])

    def test_any_other_error_in_forward_does_too(self):
        with self.assertLogs("blazed", "WARNING"):
            session, job = self.trained(self.uncompiled(RuntimeError("out of room by an assertion")))
        self.assert_refused(session, job)

    def test_a_graph_that_draws_random_values_cannot_run_again_and_the_script_that_does_gets_the_default(self):
        errors = []

        def persistent(module, compiled):
            def again(batch):
                try:
                    return compiled(batch)
                except torch.OutOfMemoryError as error:
                    errors.append(error)
                    return compiled(batch)
            return support.train(STEPS, again, module)

        with self.assertLogs("blazed", "WARNING"):
            session, job = self.trained(self.uncompiled(torch.OutOfMemoryError("out of room")), dropout=0.1,
                                        script=persistent)
        self.assert_refused(session, job)
        self.assertEqual(len(errors), 1)

    def test_what_the_default_cannot_do_either_is_the_scripts_own_error(self):
        def plant(session):
            handle, failing = self.uncompiled(ValueError("of the batch"))(session)
            (graph,) = blazed.torch.current_job().graphs
            self.default = graph.default
            return handle, failing

        def persistent(module, compiled):
            def again(batch):
                try:
                    return compiled(batch)
                except ValueError as error:
                    self.assertEqual(str(error), "of this one too")
                    self.default.call, self.failing.live = kept[0], False
                    return compiled(batch)

            kept = []

            def each(step):
                if kept or not getattr(self, "failing", None) or not self.session_is_at(FAILS_AT - 1):
                    return
                kept.append(self.default.call)

                def fails(*args):
                    raise ValueError("of this one too")
                self.default.call = fails

            return support.train(STEPS, again, module, each)

        self.failing = None
        session, job = self.trained(plant, script=persistent)
        self.assertEqual((self.refused, job.plan_in_use()), ("", self.handle))
        self.assertEqual(self.failing.calls, 1)

    @staticmethod
    def session_is_at(step):
        session = blazed.torch.current_job().session
        return session is not None and session.step == step

    def test_a_backward_pass_that_fails_reaches_the_script_once(self):
        errors = []

        def persistent(module, compiled):
            torch.manual_seed(1)
            optimiser = torch.optim.Adam(module.parameters(), lr=1e-2)
            losses = []
            for step in range(STEPS):
                batch = torch.randn(8, 16, generator=torch.Generator().manual_seed(step))
                while True:
                    try:
                        loss = compiled(batch).square().mean()
                        loss.backward()
                        break
                    except torch.OutOfMemoryError as error:
                        errors.append(error)
                        if len(errors) > 1:
                            raise
                        optimiser.zero_grad()
                optimiser.step()
                optimiser.zero_grad()
                losses.append(loss.item())
            return losses

        session, job = self.trained(self.backward(torch.OutOfMemoryError("out of room")), script=persistent)
        self.assertEqual((len(errors), self.failing.calls, self.after), (1, 1, bytes(16)))
        self.assertRegex(self.refused, "^a backward pass under this plan failed: OutOfMemoryError: out of room")


if __name__ == "__main__":
    unittest.main()
