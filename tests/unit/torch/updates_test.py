"""Other ways to run the optimiser's updates: they train to nearly the same losses, are refused where they would not, and
what they were not made for runs as the script has it."""
import unittest
from unittest import mock

import support
import torch

from operation_recorder import OperationRecorder

import blazed
import blazed.torch
from blazed.torch import updates
from blazed.torch.updates import AS_IT_IS, COMPILED, FUSED

STEPS = 24
# Of torch.optim: all that may run otherwise, and what each is made with.
OPTIMISERS = {
    "Adam": {}, "AdamW": {"amsgrad": True}, "SGD": {"momentum": 0.9, "nesterov": True}, "RMSprop": {"centered": True},
    "NAdam": {}, "RAdam": {}, "Adagrad": {}, "Adadelta": {}, "Adamax": {}, "ASGD": {}, "Rprop": {},
}
CAN_FUSE = {"Adam", "AdamW", "SGD"}
CANCELS = {"RAdam"}  # in its first steps what an f32 keeps of its rectification is little, so that it may be refused


class Script:
    """Builds a plan of each way, probes it, and runs the default and them in turn."""

    def __init__(self, *ways):
        self.ways, self.handles, self.counts, self.refused, self.session = ways, {}, {}, {}, None

    def __call__(self, session):
        self.session = session
        if session.step == 1:
            for number, decision in enumerate(session.workload.decisions):
                if decision.options[0] == AS_IT_IS:
                    self.build(session, number, decision.options)
        turns = [0, *self.handles.values()]
        return turns[session.step % len(turns)]

    def build(self, session, number, options):
        for way in self.ways:
            try:
                self.handles[way] = session.build((number, options.index(way)))
                told = session.probe(self.handles[way])
                self.counts[way] = int.from_bytes(told["whole step"][1], "little", signed=True)
            except blazed.BuildFailed as why:
                self.refused[way] = why.sentence


class Training:
    def __init__(self, optimiser, **settings):
        torch.manual_seed(0)
        self.model = support.model(batch_norm=False)
        self.optimiser = optimiser(self.model.parameters(), **{"lr": 1e-2, **settings})

    def step(self, x):
        self.optimiser.zero_grad()
        loss = self.model(x).square().mean()
        loss.backward()
        self.optimiser.step()
        return loss

    def between(self, number):
        """After each step."""


def run(training, step, steps=STEPS):
    generator, losses = torch.Generator().manual_seed(3), []
    for number in range(steps):
        losses.append(float(step(torch.randn(8, 16, generator=generator))))
        training.between(number)
    return losses


class Updated(unittest.TestCase):
    def trained(self, make, ways=(FUSED, COMPILED), steps=STEPS):
        """The script that ran, losses with it, losses without blazed, and why updates run as they are."""
        training = make()
        plain = run(training, training.step, steps)
        script = Script(*ways)
        with support.scripted(script):
            training = make()
            step = blazed.torch.train_step(training.step)
            ours = run(training, step, steps)
            own = vars(training.optimiser).get("step")
            self.assertTrue(own is None or hasattr(own, "_wrapped_by_lr_sched") and not own.__name__ == "<lambda>", "it is put back")
            self.assertTrue(all(isinstance(g["lr"], float) for g in training.optimiser.param_groups))
            why_not = step.why_not_updates or blazed.torch.current_job().why_not
        return script, ours, plain, why_not

    def assert_near(self, ours, plain):
        for a, b in zip(ours, plain):
            self.assertAlmostEqual(a, b, delta=1e-4 * max(1.0, abs(b)))


class EveryOptimiser(Updated):
    def train_each(self, names, ways):
        for name in sorted(names):
            with self.subTest(name):
                script, ours, plain, why_not = self.trained(
                    lambda: Training(getattr(torch.optim, name), **OPTIMISERS[name]), ways)
                self.assertEqual((why_not, script.refused), ("", {}))
                if name not in CANCELS:
                    self.assertEqual(script.counts, dict.fromkeys(ways, 0))
                self.assert_near(ours, plain)
                signatures = {script.session.host.signature(handle) for handle in (0, *script.handles.values())}
                self.assertEqual(len(signatures), 1 + len(ways), "what ran is told apart")

    def test_those_that_can_be_fused_train_to_nearly_the_same_losses(self):
        self.train_each(CAN_FUSE, (FUSED, COMPILED))

    def test_the_others_train_to_nearly_the_same_losses(self):
        self.train_each(set(OPTIMISERS) - CAN_FUSE, (COMPILED,))

    def test_one_that_is_fused_may_be_compiled(self):
        for name in CAN_FUSE:
            with self.subTest(name):
                script, ours, plain, why_not = self.trained(
                    lambda: Training(getattr(torch.optim, name), fused=True), (COMPILED,))
                self.assertEqual((why_not, script.refused, script.counts), ("", {}, {COMPILED: 0}))
                self.assert_near(ours, plain)
                self.assertTrue(script.session.host.built(script.handles[COMPILED]).updates.ran())

    def test_all_of_torch_optim_are_known(self):
        known = set(OPTIMISERS) | {"LBFGS", "SparseAdam", "Adafactor", "Muon"}
        there = {name for name, kind in vars(torch.optim).items()
                 if isinstance(kind, type) and issubclass(kind, torch.optim.Optimizer) and kind is not torch.optim.Optimizer}
        self.assertLessEqual(there, known, "one that no test has tried")


class Scheduled(Training):
    """Its learning rate is a Python number that falls now and then."""

    def __init__(self, *args, **settings):
        super().__init__(*args, **settings)
        self.schedule = torch.optim.lr_scheduler.StepLR(self.optimiser, 16, 0.5)

    def between(self, number):
        self.schedule.step()


class Met(Updated):
    def test_a_schedule_compiles_nothing_anew(self):
        compiles = []
        with mock.patch.object(updates._Compiled, "_note_uncompiled", lambda update: compiles.append(update)):
            script, ours, plain, why_not = self.trained(lambda: Scheduled(torch.optim.AdamW), (COMPILED,), 48)
        self.assertEqual((why_not, script.counts, compiles), ("", {COMPILED: 0}, []))
        self.assert_near(ours, plain)

    def test_what_it_was_not_compiled_for_runs_uncompiled_and_says_so(self):
        class Decaying(Training):
            def between(self, number):
                if number == STEPS - 4:
                    self.optimiser.param_groups[0]["weight_decay"] = 0.1

        script, ours, plain, _ = self.trained(lambda: Decaying(torch.optim.Adam), (COMPILED,))
        self.assert_near(ours, plain)
        self.assertFalse(script.session.host.built(script.handles[COMPILED]).updates.ran())

    def test_a_closure_is_called_as_the_optimiser_has_it(self):
        class WithClosure(Training):
            def step(self, x):
                def closure():
                    self.optimiser.zero_grad()
                    loss = self.model(x).square().mean()
                    loss.backward()
                    return loss
                with torch.enable_grad():
                    return self.optimiser.step(closure)

        script, ours, plain, _ = self.trained(lambda: WithClosure(torch.optim.SGD), (COMPILED,))
        self.assertEqual(ours, plain)
        self.assertEqual(script.refused, {COMPILED: "the optimiser did not run compiled"})

    def test_hooks_run_once_a_step(self):
        calls = []

        class Hooked(Training):
            def __init__(self, *args):
                super().__init__(*args)
                self.counted = 0
                self.optimiser.register_step_post_hook(lambda *_: calls.append(1))

        script, ours, plain, _ = self.trained(lambda: Hooked(torch.optim.Adam), (COMPILED,))
        self.assert_near(ours, plain)
        self.assertGreaterEqual(len(calls), 2 * STEPS)

    def test_a_wrong_update_is_refused(self):
        def wrong(update, optimiser):
            with updates._set(update._groups, [{"lr": 1.001 * group["lr"]} for group in update._groups]):
                update._own(optimiser)

        def stale(update, optimiser):
            """Leaves out one parameter."""
            kept = optimiser.param_groups[0]["params"][0]
            before = kept.detach().clone()
            update._own(optimiser)
            kept.data.copy_(before)

        for name, update in (("rate", wrong), ("left out", stale)):
            with self.subTest(name), mock.patch.object(updates._Fused, "_update", update):
                script, _, _, _ = self.trained(lambda: Training(torch.optim.Adam), (FUSED,))
                self.assertGreater(script.counts[FUSED], 0)

    def test_an_update_that_fails_to_compile_leaves_the_job_as_it_was(self):
        def fails(update, optimiser):
            update._own(optimiser)
            raise RuntimeError("out of its depth")

        with mock.patch.object(updates._Compiled, "_update", fails):
            script, ours, plain, _ = self.trained(lambda: Training(torch.optim.Adam), (COMPILED,))
        self.assertIn("out of its depth", script.refused[COMPILED])
        self.assertEqual(ours, plain)


class Replayed(Updated):
    """The updates of a step that is recorded."""

    class Script(Script):
        def build(self, session, number, options):
            launched = next(n for n, d in enumerate(session.workload.decisions) if "whole_step" in d.options)
            self.handles[FUSED] = session.build((launched, 1), (number, options.index(FUSED)))
            told = session.probe(self.handles[FUSED])
            self.counts[FUSED] = int.from_bytes(told["whole step"][1], "little", signed=True)

    def test_a_recorded_step_runs_them(self):
        training, recorder, script = Training(torch.optim.AdamW), OperationRecorder(), self.Script()
        plain = run(training, training.step, 48)
        with support.scripted(script, recorder):
            training = Training(torch.optim.AdamW)
            ours = run(training, blazed.torch.train_step(training.step), 48)
            self.assertEqual(blazed.torch.current_job().why_not, "")
        self.assertEqual(script.counts, {FUSED: 0})
        self.assertTrue(any("fused_adamw" in str(function) for function, *_ in recorder.recordings[0].operations))
        self.assert_near(ours, plain)


class NotOffered(unittest.TestCase):
    def sentence(self, optimiser, **settings):
        return updates.why_not([Training(optimiser, **settings).optimiser])

    def test_each_says_why(self):
        class Own(torch.optim.SGD):
            def step(self, closure=None):
                return super().step(closure)

        self.assertIn("no optimiser of torch.optim", self.sentence(Own))
        self.assertIn("no fixed list", self.sentence(torch.optim.LBFGS))
        self.assertIn("differentiable", self.sentence(torch.optim.SGD, differentiable=True))
        self.assertIn("no optimiser was found", updates.why_not([]))
        training = Training(torch.optim.SGD)
        training.optimiser.step = lambda: None
        self.assertIn("replaced", updates.why_not([training.optimiser]))

    def test_the_way_an_optimiser_runs_is_told_in_its_decision(self):
        self.assertEqual(updates.decision([Training(torch.optim.Adam).optimiser]).options, (AS_IT_IS, FUSED, COMPILED))
        for without in (Training(torch.optim.NAdam), Training(torch.optim.Adam, fused=True)):
            self.assertEqual(updates.decision([without.optimiser]).options, (AS_IT_IS, COMPILED))


if __name__ == "__main__":
    unittest.main()
