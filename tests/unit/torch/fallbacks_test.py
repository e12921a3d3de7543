"""Jobs that blazed leaves alone, wholly or in part: they train to the bits that they would have without it, and where
nothing is tuned the reason is said."""
import contextlib
import os
import tempfile
import unittest

import support
import torch

import blazed.torch
from blazed.enums import StepFlag

STEPS = 16


class Breaking(torch.nn.Module):
    """Its forward pass is two graphs, with plain Python between them."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = support.Block(16), support.Block(16)
        self.head = torch.nn.Linear(16, 4)

    def forward(self, x):
        x = self.first(x)
        torch._dynamo.graph_break()
        return self.head(self.second(x))


def cuts_of(session):
    return [d for d, decision in enumerate(session.workload.decisions) if decision.options[1] == "cut"]


class Fallbacks(unittest.TestCase):
    def both(self, job, script=lambda session: 0):
        """`job(compile) -> losses` beside a scripted session; they are those of the same job without blazed. What was
        scripted, and the job."""
        with support.scripted(script) as made:
            ours = job(lambda module, **how: torch.compile(module, backend=blazed.torch.backend, **how))
            found = blazed.torch.current_job()
        torch._dynamo.reset()
        self.assertEqual(ours, job(torch.compile))
        torch._dynamo.reset()
        return made, found

    @staticmethod
    def usual(make=support.model, each=None, **how):
        def job(compiler):
            module = make()
            return support.train(STEPS, compiler(module, **how), module, each)
        return job

    def test_symbolic_shapes(self):
        made, job = self.both(self.usual(lambda: support.model(batch_norm=False), dynamic=True))
        self.assertEqual(made, [])
        self.assertIn("symbolic shapes", job.why_not)

    def test_compiled_autograd_around_the_backward_pass(self):
        def job(compiler):
            module = support.model(batch_norm=False)
            compiled = compiler(module, dynamic=False)
            losses = []
            optimiser = torch.optim.Adam(module.parameters(), lr=1e-2)
            data = torch.randn(STEPS, 8, 16, generator=torch.Generator().manual_seed(2))
            for batch in data:
                loss = compiled(batch).square().mean()
                with torch._dynamo.compiled_autograd._enable(torch.compile(backend="eager")):
                    loss.backward()
                optimiser.step()
                optimiser.zero_grad()
                losses.append(loss.item())
            return losses

        made, job = self.both(job)
        self.assertEqual(made, [])
        self.assertIn("compiled autograd", job.why_not)

    def test_compiled_autograd_by_the_compilers_own_setting(self):
        def job(compiler):
            module = support.model(batch_norm=False)
            optimiser = torch.optim.Adam(module.parameters(), lr=1e-2)
            data = torch.randn(STEPS, 8, 16, generator=torch.Generator().manual_seed(2))

            def forward_and_backward(batch):
                loss = module(batch).square().mean()
                loss.backward()
                return loss

            losses = []
            with torch._dynamo.config.patch(compiled_autograd=True):
                compiled = compiler(forward_and_backward, dynamic=False)
                for batch in data:
                    losses.append(compiled(batch).item())
                    optimiser.step()
                    optimiser.zero_grad()
            return losses

        made, job = self.both(job)
        self.assertEqual(made, [])
        self.assertIn("compiled autograd", job.why_not)

    def test_graph_breaks_give_a_step_of_several_graphs(self):
        def script(session):
            if session.step == 2:
                graphs = {session.workload.decisions[d].graph for d in cuts_of(session)}
                self.assertEqual(graphs, {1, 2})
                self.handle = session.build(*((d, 1) for d in cuts_of(session)[:3]))
                self.assertEqual(session.probe(self.handle), session.probe(0))
            return self.handle if session.step % 2 else 0

        self.handle = 0
        made, job = self.both(self.usual(Breaking, dynamic=False), script)
        self.assertEqual((job.why_not, len(made[0].graphs)), ("", 2))
        self.assertEqual(set(made[0].flags), {0})

    def test_a_batch_of_another_shape_is_no_sample(self):
        rows = [8] * 8 + [5] + [8] * 3 + [5] + [8] * 3

        def job(compiler):
            module = support.model()
            compiled = compiler(module, dynamic=False)
            optimiser = torch.optim.Adam(module.parameters(), lr=1e-2)
            losses = []
            for step, count in enumerate(rows):
                batch = torch.randn(count, 16, generator=torch.Generator().manual_seed(step))
                loss = compiled(batch).square().mean()
                loss.backward()
                optimiser.step()
                optimiser.zero_grad()
                losses.append(loss.item())
            return losses

        def script(session):
            if session.step == 2:
                self.handle = session.build((cuts_of(session)[0], 1))
            return self.handle

        self.handle = 0
        made, job = self.both(job, script)
        self.assertEqual(job.why_not, "")
        # Described at the fifth step. The other shape's are none of its steps, and the one behind each is no sample.
        self.assertEqual(len(made[0].flags), sum(count == 8 for count in rows[4:]))
        self.assertEqual([bool(flags) for flags in made[0].flags], [False] * 4 + [True, False, False] * 2)

    def test_a_profiler_is_flagged_and_in_nobodys_way(self):
        def each(step):
            if step == 7:
                self.profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])
                self.profiler.__enter__()
            if step == 9:
                self.profiler.__exit__(None, None, None)
                self.assertTrue(self.profiler.key_averages())

        made, job = self.both(self.usual(each=each, dynamic=False))
        self.assertEqual(job.why_not, "")
        self.assertEqual(sum(bool(flags & StepFlag.PROFILER) for flags in made[0].flags), 2, made[0].flags)

    def test_an_interrupt_that_the_script_outlives_leaves_that_step_to_the_default(self):
        def job(compiler):
            module = support.model()
            compiled = compiler(module, dynamic=False)

            def persistent(batch):
                try:
                    return compiled(batch)
                except KeyboardInterrupt:
                    interrupted.append(blazed.torch.current_job().plan_in_use())
                    return compiled(batch)

            return support.train(STEPS, persistent, module)

        def script(session):
            if session.step == 2:
                self.handle = session.build((cuts_of(session)[0], 1))
            if session.step == 4:
                raise KeyboardInterrupt
            return self.handle

        self.handle, interrupted = 0, []
        made, job = self.both(job, script)
        self.assertEqual((job.why_not, interrupted), ("", [0]))
        self.assertEqual([bool(flags) for flags in made[0].flags[:5]], [False, False, False, True, False])
        self.assertEqual(job.plan_in_use(), self.handle)

    def test_a_session_that_lies_gets_sentences_and_no_step(self):
        """What the shim lets through would be a daemon's; this is the fence behind it."""
        sentences = []

        def script(session):
            if session.step == 2:
                count = len(session.workload.decisions)
                for choices in ([(count, 1)], [(-1, 1)], [(0, 0)], [(0, 99)], [(d, 1) for d in range(100_000)],
                                *([(d, len(x.options))] for d, x in enumerate(session.workload.decisions))):
                    with self.assertRaises(blazed.BuildFailed) as failed:
                        session.build(*choices)
                    sentences.append(failed.exception.sentence)
                with self.assertRaises(KeyError):
                    session.host.probe(77, lambda tensor: True)
                session.host.drop(77)
                self.assertEqual(session.host.signature(77), bytes(16))
            return 77 if session.step == 8 else 0

        with self.assertLogs("blazed", "WARNING"):
            made, job = self.both(self.usual(dynamic=False), script)
        self.assertTrue(all("the plan names" in sentence for sentence in sentences), sentences)
        self.assertIn("blazed failed and left the job to PyTorch (KeyError: 77)", job.why_not)
        self.assertEqual(set(made[0].flags), {0})

    def test_deterministic_algorithms(self):
        torch.use_deterministic_algorithms(True)
        try:
            made, job = self.both(self.usual(dynamic=False))
        finally:
            torch.use_deterministic_algorithms(False)
        self.assertEqual(len(made), 1)
        self.assertIn("deterministic algorithms", job.why_not)

    def test_a_compiled_model_is_saved_and_loaded(self):
        def job(compiler):
            module = support.model()
            compiled = compiler(module, dynamic=False)
            losses = support.train(6, compiled, module)
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "model.pt")
                torch.save(compiled.state_dict(), path)
                other = support.model()
                again = compiler(other, dynamic=False)
                again.load_state_dict(torch.load(path, weights_only=True))
                losses += support.train(6, again, other)
                with self.saved_whole(compiled, path) as loaded:
                    losses += support.train(6, loaded, loaded)
            return losses

        made, job = self.both(job)
        self.assertEqual((job.why_not, len(made)), ("", 1))

    @contextlib.contextmanager
    def saved_whole(self, compiled, path):
        torch.save(compiled, path)
        yield torch.load(path, weights_only=False)


if __name__ == "__main__":
    unittest.main()
