"""Scripts that change under an optimiser whose updates run otherwise: they train on as without blazed, and what they do
between, inside and around a step stays theirs."""
import copy
import functools
import sys
import unittest
import warnings

import torch

import support

from updates_test import Script, Training, Updated, run

import blazed.torch
from blazed.torch import reach, updates
from blazed.torch.snapshot import Snapshot
from blazed.torch.step_state import StepState
from blazed.torch.updates import COMPILED, FUSED

numpy = sys.modules.get("numpy")  # PyTorch imports it where it is there
STEPS = 26
CHANGES = 16  # after this step, when a plan is in force


class Always(Script):
    """The plan that it built, in every step from then on."""

    def __call__(self, session):
        super().__call__(session)
        return next(iter(self.handles.values()), 0)


class Changing(Training):
    """`change` happens once, between two steps."""

    def between(self, number):
        if number == CHANGES:
            self.change()


class Hostile(Updated):
    def trained_with(self, way, make, steps=STEPS):
        """What a job with this plan, and the same one without blazed, end as; and the script that ran the plan."""
        plain = make()
        expected = run(plain, plain.step, steps)
        script = Always(way)
        with support.scripted(script):
            ours = make()
            step = blazed.torch.train_step(ours.step)
            self.assert_near(run(ours, step, steps), expected)
            self.assertEqual(blazed.torch.current_job().why_not, "")
        for a, b in zip(ours.model.parameters(), plain.model.parameters()):
            self.assertLess(float((a - b).detach().abs().max()) if a.numel() else 0.0, 1e-3)
        return ours, plain, script

    def assert_trains(self, make, ways=(FUSED, COMPILED)):
        for way in ways:
            with self.subTest(way):
                ours, _, script = self.trained_with(way, make)
                self.assertEqual(script.refused, {})
                self.assertFalse(script.session.host.built(script.handles[way]).updates.ran(), "and the plan says so")
                del ours


class LaidOut(Hostile):
    def test_gradients_that_lie_otherwise(self):
        class Turned(Changing):
            turned = False

            def change(self):
                self.turned = True

            def step(self, x):
                self.optimiser.zero_grad()
                loss = self.model(x).square().mean()
                loss.backward()
                if self.turned:
                    for parameter in self.model.parameters():
                        if parameter.dim() == 2:
                            parameter.grad = parameter.grad.t().contiguous().t()
                self.optimiser.step()
                return loss

        self.assert_trains(lambda: Turned(torch.optim.Adam))

    def test_parameters_that_are_moved(self):
        class Moved(Changing):
            def change(self):
                for parameter in self.model.parameters():
                    if parameter.dim() == 2:
                        parameter.data = parameter.data.t().contiguous().t()

        self.assert_trains(lambda: Moved(torch.optim.Adam))

    def test_strides_of_single_elements_say_nothing(self):
        parameter = torch.nn.Parameter(torch.zeros(3, 1))
        state = {"momentum_buffer": torch.zeros(3, 1)}
        for strides, fits in (((1, 1), True), ((1, 7), True), ((2, 1), False)):
            parameter.grad = torch.zeros(8).as_strided((3, 1), strides)
            self.assertEqual(updates._fits_fused(parameter, {"momentum": 0.9}, state), fits, strides)

    @unittest.skipIf(numpy is None, "NumPy is not installed here")
    def test_a_rate_that_is_no_number_of_pythons(self):
        class Odd(Changing):
            def change(self):
                self.optimiser.param_groups[0]["lr"] = numpy.array(5e-3)

        self.assert_trains(lambda: Odd(torch.optim.SGD, momentum=0.9), (FUSED,))

    def test_a_group_that_is_empty(self):
        class Grown(Changing):
            def change(self):
                self.optimiser.add_param_group({"params": []})

        self.assert_trains(lambda: Grown(torch.optim.Adam), (COMPILED,))


class Replaced(Hostile):
    def test_a_step_that_the_script_puts_there_runs(self):
        class Patched(Changing):
            def change(self):
                own = self.optimiser.step

                def step():
                    for parameter in self.model.parameters():
                        parameter.grad.mul_(0.1)
                    own()

                self.optimiser.step = self.kept = step

        for way in (FUSED, COMPILED):
            ours, _, _ = self.trained_with(way, lambda: Patched(torch.optim.SGD, lr=0.1))
            self.assertIs(ours.optimiser.step, ours.kept)

    def test_one_around_that_of_a_schedule_is_no_schedules(self):
        training = Training(torch.optim.SGD)
        schedule = torch.optim.lr_scheduler.StepLR(training.optimiser, 4)
        self.assertEqual(updates.why_not([training.optimiser]), "")
        training.optimiser.step = functools.wraps(training.optimiser.step)(lambda: None)
        self.assertIn("replaced", updates.why_not([training.optimiser]))
        del schedule

    def test_one_around_that_of_the_class_is_no_frameworks(self):
        own = torch.optim.SGD.step
        self.addCleanup(setattr, torch.optim.SGD, "step", own)
        training = Training(torch.optim.SGD)
        torch.optim.SGD.step = functools.wraps(torch.optim.SGD.step)(lambda optimiser, closure=None: None)
        self.assertIn("no optimiser of torch.optim", updates.why_not([training.optimiser]))

    def test_a_schedule_that_is_made_inside_a_step_or_later(self):
        class Scheduling(Training):
            schedule, number, inside = None, 0, True

            def step(self, x):
                if self.inside and self.number == CHANGES:
                    self.schedule = torch.optim.lr_scheduler.StepLR(self.optimiser, 2, 0.5)
                loss = super().step(x)
                return loss

            def between(self, number):
                self.number = number
                if not self.inside and number == CHANGES:
                    self.schedule = torch.optim.lr_scheduler.StepLR(self.optimiser, 2, 0.5)
                elif self.schedule is not None:
                    self.schedule.step()

        class Later(Scheduling):
            inside = False

        for kind in (Scheduling, Later):
            with self.subTest(kind.__name__), warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                ours, plain, script = self.trained_with(FUSED, lambda: kind(torch.optim.Adam))
                self.assertEqual([str(w.message) for w in told if "lr_scheduler" in str(w.message)], [])
                self.assertEqual(ours.optimiser.param_groups[0]["lr"], plain.optimiser.param_groups[0]["lr"])
                self.assertTrue(script.session.host.built(script.handles[FUSED]).updates.ran(), "it goes on")
                self.assertIs(ours.optimiser.step.__wrapped__, type(ours.optimiser).step)


class Undone(Hostile):
    def test_what_a_hook_counts(self):
        class Counted(Training):
            def __init__(self, *args):
                super().__init__(*args)
                counted = self.counted = {"calls": 0, "updates": 0}

                def called(module, inputs, output):
                    counted["calls"] += 1
                    return output / (1 + counted["calls"] / 64)

                def updated(*_):
                    counted["updates"] += 1

                self.model.register_forward_hook(called)
                self.optimiser.register_step_post_hook(updated)

        ours, _, script = self.trained_with(FUSED, lambda: Counted(torch.optim.Adam))
        self.assertEqual(ours.counted, {"calls": STEPS, "updates": STEPS})
        self.assertEqual(script.refused, {})

    def test_what_a_step_makes_the_optimiser_hold(self):
        class RollingBack(Training):
            def __init__(self, *args):
                super().__init__(*args)
                self.best = copy.deepcopy(self.optimiser.state_dict())

            def step(self, x):
                loss = super().step(x)
                if float(loss.detach()) > 0.2:
                    self.optimiser.load_state_dict(self.best)
                    self.optimiser.marked = True
                return loss

        training = RollingBack(torch.optim.SGD)
        state = StepState(reach.of(training.step))
        before = dict(vars(training.optimiser)), list(training.optimiser.param_groups)
        kept = Snapshot(state)
        training.optimiser.load_state_dict(training.best)
        training.optimiser.marked = True
        training.optimiser.add_param_group({"params": [torch.nn.Parameter(torch.zeros(1))]})
        kept.restore()
        self.assertEqual(list(map(id, vars(training.optimiser).values())), list(map(id, before[0].values())))
        self.assertEqual(list(map(id, training.optimiser.param_groups)), list(map(id, before[1])))
        self.trained_with(FUSED, lambda: RollingBack(torch.optim.Adam))

    def test_a_step_that_fails_leaves_the_optimisers_own(self):
        class Failing(Training):
            number = 0

            def step(self, x):
                loss = super().step(x)
                if self.number == CHANGES:
                    raise KeyboardInterrupt
                return loss

            def between(self, number):
                self.number = number

        script = Always(FUSED)
        with support.scripted(script):
            training = Failing(torch.optim.Adam)
            with self.assertRaises(KeyboardInterrupt):
                run(training, blazed.torch.train_step(training.step), STEPS)
            self.assertIn(FUSED, script.handles)
            self.assertNotIn("step", vars(training.optimiser))

    def test_notes_of_the_compiler(self):
        ours, plain, _ = self.trained_with(COMPILED, lambda: Training(torch.optim.Adam))

        def notes(training):
            return {key for state in training.optimiser.state.values() for value in state.values() for key in vars(value)} | {
                key for parameter in training.model.parameters() for key in vars(parameter)}

        self.assertEqual(notes(ours), notes(plain))
        self.assertEqual(vars(ours.optimiser).keys(), vars(plain.optimiser).keys())


class Loaded(Hostile):
    def test_a_state_that_is_loaded(self):
        class Loading(Changing):
            def between(self, number):
                if number == 4:
                    self.kept = copy.deepcopy(self.optimiser.state_dict())
                super().between(number)

            def change(self):
                self.optimiser.load_state_dict(self.kept)

        for way in (FUSED, COMPILED):
            self.trained_with(way, lambda: Loading(torch.optim.Adam))

    def test_a_copy_of_the_optimiser_made_inside_a_step_has_its_own_step(self):
        class Copied(Training):
            def step(self, x):
                loss = super().step(x)
                copied = copy.deepcopy(self.optimiser)
                assert "step" not in vars(copied) and type(copied.param_groups[0]["lr"]) is float
                return loss

        self.trained_with(FUSED, lambda: Copied(torch.optim.Adam))


class Offered(unittest.TestCase):
    def test_a_way_that_other_optimisers_cannot_run_is_refused(self):
        training = Training(torch.optim.NAdam)
        step = blazed.torch.train_step(training.step)
        with self.assertRaisesRegex(ValueError, "cannot run fused"):
            step.new_updates(FUSED)


if __name__ == "__main__":
    unittest.main()
