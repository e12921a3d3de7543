"""Steps in which nothing is asked: they are counted, they run the plan in force, and they end when the session's word
changes."""
import ctypes
import threading
import unittest

import support
import torch
import trainings

import blazed.torch
from blazed.session import Quiet
from blazed.torch import elsewhere
from blazed.torch.program import Program

ALIVE, ASKED = 1, 3
WINDOW = 5  # steps without calls


class Session:
    """What a scripted session needs beside: stretches of WINDOW steps without calls."""

    def __init__(self, handle=0):
        self.word, self.handle, self.passed = ctypes.c_uint32(ALIVE), handle, []

    def added_to(self, session):
        session.quiet = lambda: Quiet(self.word, ALIVE, WINDOW, self.handle)
        session.pass_steps = self.passed.append


class Steps(unittest.TestCase):
    def train(self, steps, each=None, handle=0):
        """(scripted session, what was passed) of a job whose session is quiet from its second step on."""
        quiet = Session(handle)

        def script(session):
            if session.step == 2:
                quiet.added_to(session)
            return 0

        with support.scripted(script) as made:
            module = support.model()
            self.compiled = torch.compile(module, backend=blazed.torch.backend, dynamic=False)
            losses = support.train(steps, self.compiled, module, each=each and (lambda step: each(step, quiet)))
            blazed.torch.current_job().close()
        return made[0], quiet, losses

    def test_steps_pass_in_stretches_and_are_told(self):
        session, quiet, losses = self.train(40)
        self.assertEqual(set(quiet.passed[:-1]), {WINDOW})
        self.assertGreater(len(quiet.passed), 3)
        # One with its calls between two stretches, and those before the second.
        self.assertLess(session.step, 40 - sum(quiet.passed))
        self.assertEqual(len(session.flags), session.step)
        module = support.model()
        plain = torch.compile(module, dynamic=False)
        self.assertEqual(losses, support.train(40, plain, module))

    def test_the_session_is_asked_again_as_soon_as_its_word_changes(self):
        def each(step, quiet):
            if step == 20:
                quiet.word.value = ASKED

        session, quiet, _ = self.train(40, each)
        after = sum(quiet.passed)
        # From the step behind the change on each has its calls.
        self.assertGreaterEqual(session.step, 40 - 21)
        self.assertLess(after, 21)

    def test_another_plan_than_the_one_in_force_is_asked_for(self):
        session, quiet, _ = self.train(20, handle=7)
        self.assertEqual(quiet.passed, [])

    def test_a_graph_that_is_captured_ends_the_stretch(self):
        inside = []

        def each(step, quiet):
            if blazed.torch.current_job().passing.on and not inside:
                other = torch.compile(torch.nn.Linear(3, 3), backend=blazed.torch.backend, dynamic=False)
                other(torch.randn(2, 3))
                inside.append(blazed.torch.current_job().passing.on)

        self.train(28, each)
        self.assertEqual(inside, [False])

    def test_an_optimiser_that_steps_alone_is_no_step(self):
        def each(step, quiet):
            if step > 10:
                other.step()

        parameter = torch.nn.Parameter(torch.zeros(2))
        parameter.grad = torch.ones(2)
        other = torch.optim.SGD([parameter], lr=0.1)
        session, quiet, _ = self.train(40, each)
        self.assertLessEqual(session.step + sum(quiet.passed), 40)

    def test_what_another_thread_does_is_no_step_and_a_call_of_the_graph_ends_all(self):
        counted, jobs = [], []

        def each(step, quiet):
            job = blazed.torch.current_job()
            if job.passing.on and not counted:
                jobs.append(job)
                parameter = torch.nn.Parameter(torch.zeros(2))
                parameter.grad = torch.ones(2)

                def beside():
                    self.compiled(torch.zeros(8, 16))
                    torch.optim.SGD([parameter], lr=0.1).step()

                before = job.passing._left
                thread = threading.Thread(target=beside)
                thread.start()
                thread.join()
                counted.append(job.passing._left - before)

        session, quiet, _ = self.train(28, each)
        self.assertEqual(counted, [0])
        self.assertLess(sum(quiet.passed), WINDOW)
        self.assertEqual(jobs[0].why_not, elsewhere.SEVERAL_THREADS)

    def test_a_plan_that_fails_in_a_stretch_ends_it_and_the_step_is_the_defaults(self):
        quiet, failed = Session(), []

        def failing(graph):
            def call(*args):
                if blazed.torch.current_job().passing.on:
                    failed.append(len(quiet.passed))
                    raise torch.OutOfMemoryError("out of room")
                return graph.default.call(*args)
            return call

        def script(session):
            if session.step == 1:
                (eager,) = [d for d, decision in enumerate(session.workload.decisions) if "eager" in decision.options]
                quiet.handle = session.build((eager, 1))
                ((graph, program),) = session.host._plans[quiet.handle].programs
                session.host._plans[quiet.handle].programs = ((graph, Program(failing(graph), {})),)
                quiet.added_to(session)
            return quiet.handle

        def trained(backend):
            module = support.model(batch_norm=False)
            return support.train(20, torch.compile(module, backend=backend, dynamic=False), module)

        with support.scripted(script), self.assertLogs("blazed", "WARNING"):
            ours = trained(blazed.torch.backend)
        self.assertEqual((failed, quiet.passed), ([0], [1]))
        torch._dynamo.reset()
        self.assertEqual(ours, trained("inductor"))

    def test_a_closed_session_ends_it(self):
        quiet = Quiet(ctypes.c_uint32(ALIVE), ALIVE, WINDOW, 0)
        quiet.end()
        self.assertNotEqual(quiet.word.value, quiet.value)

    def test_a_step_that_was_handed_over_passes_as_a_whole(self):
        quiet = Session()

        def script(session):
            if session.step == 2:
                quiet.added_to(session)
            return 0

        with support.scripted(script) as made:
            training = trainings.Training(wrapped=lambda m: torch.compile(m, backend=blazed.torch.backend, dynamic=False))
            step = blazed.torch.train_step(training.step)
            trainings.run(training, step, 60)
            blazed.torch.current_job().close()
        self.assertGreater(sum(quiet.passed), 10)
        self.assertLess(made[0].step + sum(quiet.passed), 61)


if __name__ == "__main__":
    unittest.main()
