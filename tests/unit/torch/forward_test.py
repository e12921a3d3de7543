"""Jobs that never train: a step is a call of a compiled graph."""
import threading
import unittest

import support
import torch

import blazed.torch
from blazed.enums import Regime, Role, StepFlag
from blazed.torch.forward import CALLS_TO_KNOW

BEFORE = CALLS_TO_KNOW + 1  # calls, the first of which compiles, and the job is described
CALLS = BEFORE + 12


class Counting(torch.nn.Module):
    """Writes to a buffer in each call, and to a parameter where gradients are off."""

    def __init__(self):
        super().__init__()
        self.inner = support.model()
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x):
        self.seen += 1
        with torch.no_grad():
            self.inner[-1].bias.mul_(0.5)
        return self.inner(x)


def cut_of(session):
    return next(d for d, decision in enumerate(session.workload.decisions) if decision.options[1] == "cut")


def eager_of(session):
    (found,) = [d for d, decision in enumerate(session.workload.decisions) if "eager" in decision.options]
    return found


class Forward(unittest.TestCase):
    def answers(self, compiled, scope=torch.no_grad, calls=CALLS, rows=lambda call: 8):
        found = []
        with scope():
            for call in range(calls):
                found.append(compiled(torch.randn(rows(call), 16, generator=torch.Generator().manual_seed(call))).tolist())
        return found

    def both(self, script, make=lambda: support.model().eval(), **how):
        """The scripted sessions and the job, whose answers are those of the same one without blazed."""
        with support.scripted(script) as made:
            ours = self.answers(torch.compile(make(), backend=blazed.torch.backend, dynamic=False), **how)
            job = blazed.torch.current_job()
        torch._dynamo.reset()
        self.assertEqual(ours, self.answers(torch.compile(make(), dynamic=False), **how))
        return made, job

    def trying_a_cut(self, session):
        if session.step == 2:
            self.handle = session.build((cut_of(session), 1))
            self.probed = session.probe(self.handle), session.probe(0)
        return self.handle if session.step % 2 else 0

    def test_calls_are_steps_of_the_regime_forward(self):
        for scope in (torch.no_grad, torch.inference_mode):
            self.handle = 0
            made, job = self.both(self.trying_a_cut, scope=scope)
            self.assertEqual((job.why_not, len(made)), ("", 1))
            self.assertEqual([graph.regime for graph in made[0].graphs], [Regime.FORWARD])
            self.assertEqual(made[0].flags, [0] * (CALLS - BEFORE))
            self.assertEqual(*self.probed)
            self.assertNotIn(Role.GRADIENT, {role for role, _ in self.probed[0].values()})

    def test_what_runs_uncompiled_gives_the_same_tensors_to_a_probe(self):
        def script(session):
            if session.step == 2:
                handle = session.build((eager_of(session), 1))
                self.assertEqual(session.probe(handle).keys(), session.probe(0).keys())
            return 0

        made, job = self.both(script)
        self.assertEqual((job.why_not, len(made)), ("", 1))

    def test_what_a_call_writes_is_undone_in_probes(self):
        self.handle = 0
        made, job = self.both(self.trying_a_cut, make=lambda: Counting().eval())
        self.assertEqual((job.why_not, len(made)), ("", 1))
        self.assertEqual(*self.probed)

    def test_calls_of_another_shape_between_are_no_steps(self):
        made, job = self.both(lambda session: 0, rows=lambda call: 5 if call == BEFORE + 4 else 8)
        self.assertEqual((job.why_not, len(made)), ("", 1))
        self.assertEqual([bool(flags & StepFlag.EVALUATION) for flags in made[0].flags],
                         [call == 4 for call in range(CALLS - BEFORE - 1)])

    def test_graphs_in_turn_are_left_alone_with_a_reason(self):
        made, job = self.both(lambda session: 0, calls=300, rows=lambda call: 8 - call % 2)
        self.assertEqual(made, [])
        self.assertIn("fullgraph=True", job.why_not)

    def test_a_function_that_is_handed_over_is_one_step_of_its_graphs(self):
        first, second = (support.model().eval() for _ in range(2))

        def made_of(compiler, wrapped):
            one = compiler(torch.nn.Sequential(first, torch.nn.Linear(4, 16)).eval())
            other = compiler(torch.nn.Sequential(second, torch.nn.Tanh()).eval())
            return wrapped(lambda x: other(one(x)).float())

        def script(session):
            if session.step == 2:
                cuts = [d for d, decision in enumerate(session.workload.decisions) if decision.options[1] == "cut"]
                self.assertEqual({session.workload.decisions[d].graph for d in cuts}, {1, 2})
                self.handle = session.build(*((d, 1) for d in cuts))
                self.assertEqual(session.probe(self.handle), session.probe(0))
            return self.handle if session.step % 2 else 0

        self.handle = 0
        with support.scripted(script) as made:
            torch.manual_seed(7)
            ours = self.answers(made_of(lambda m: torch.compile(m, backend=blazed.torch.backend, dynamic=False),
                                        blazed.torch.forward_step))
            self.assertEqual(blazed.torch.current_job().why_not, "")
        self.assertEqual([[graph.regime for graph in session.graphs] for session in made], [[Regime.FORWARD] * 2])
        self.assertEqual(made[0].flags, [0] * (CALLS - BEFORE))
        torch._dynamo.reset()
        torch.manual_seed(7)
        self.assertEqual(ours, self.answers(made_of(lambda m: torch.compile(m, dynamic=False), lambda f: f)))

    def test_a_function_whose_calls_run_other_graphs_each_time_says_so(self):
        with support.scripted(lambda session: 0) as made:
            compiled = torch.compile(support.model().eval(), backend=blazed.torch.backend, dynamic=False)
            self.answers(blazed.torch.forward_step(compiled), calls=300, rows=lambda call: 8 - call % 2)
            self.assertEqual(made, [])
            self.assertIn("given to forward_step", blazed.torch.current_job().why_not)

    def test_a_job_that_trains_after_all_is_tuned_as_one_that_trains(self):
        def job(compiler):
            module = support.model()
            compiled = compiler(module)
            module.eval()
            answers = self.answers(compiled)
            module.train()
            return answers, support.train(8, compiled, module), self.answers(compiled, calls=3)

        with support.scripted(lambda session: 0) as made:
            ours = job(lambda module: torch.compile(module, backend=blazed.torch.backend, dynamic=False))
            self.assertEqual(blazed.torch.current_job().why_not, "")
        self.assertEqual([[graph.regime for graph in session.graphs] for session in made],
                         [[Regime.FORWARD], [Regime.TRAINING]])
        self.assertNotEqual(made[0].workload.graphs, made[1].workload.graphs)
        torch._dynamo.reset()
        self.assertEqual(ours, job(lambda module: torch.compile(module, dynamic=False)))

    def test_another_thread_never_meets_a_plan(self):
        ran = []

        def elsewhere():
            ran.append(self.answers(self.compiled, calls=1))
            ran.append([d.ran is d.default for d in self.graph.default.directions.values()])

        def script(session):
            if session.step != 2:
                return 0
            (self.graph,) = blazed.torch.current_job().graphs
            handle = session.build((cut_of(session), 1))
            session.host.latch(handle)  # as in a probe, before anybody knows what it computes
            self.thread = threading.Thread(target=elsewhere)
            self.thread.start()
            self.thread.join(0.5)  # enough for a call that does not wait
            return handle

        with support.scripted(script) as made:
            self.compiled = torch.compile(support.model().eval(), backend=blazed.torch.backend, dynamic=False)
            ours = self.answers(self.compiled, calls=BEFORE + 2)
            self.thread.join()
            self.assertEqual(ran, [ours[:1], [True]])
            self.assertEqual(self.answers(self.compiled, calls=3), ours[:3])
            job = blazed.torch.current_job()
            self.assertIn("several threads", job.why_not)
            self.assertEqual((job.plan_in_use(), len(made)), (0, 1))

    def test_a_call_that_raises_is_no_step(self):
        def script(session):
            if session.step == 2:
                raise KeyboardInterrupt
            return 0

        with support.scripted(script) as made:
            compiled = torch.compile(support.model().eval(), backend=blazed.torch.backend, dynamic=False)
            self.answers(compiled, calls=BEFORE + 1)
            with self.assertRaises(KeyboardInterrupt):
                self.answers(compiled, calls=1)
            self.answers(compiled, calls=3)
        self.assertEqual([bool(flags) for flags in made[0].flags], [False, True, False, False])


if __name__ == "__main__":
    unittest.main()
