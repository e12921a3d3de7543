"""A step that is replayed comes to the same numbers as one that is not, over 500 steps, or is not replayed and says why."""
import unittest

import support
import torch
from operation_recorder import OperationRecorder

import blazed
import blazed.torch

STEPS = 500


class Training:
    """A small job. Tests change what they are about."""

    def __init__(self, dropout=0.0, lr=0.05, **options):
        torch.manual_seed(0)
        self.model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.BatchNorm1d(8), torch.nn.Tanh(),
                                         torch.nn.Dropout(dropout), torch.nn.Linear(8, 3))
        self.optimiser = torch.optim.Adam(self.model.parameters(), lr=lr, fused=True, **options)

    def loss(self, x, y):
        return torch.nn.functional.cross_entropy(self.model(x), y)

    def step(self, x, y):
        self.optimiser.zero_grad()
        loss = self.loss(x, y)
        loss.backward()
        self.optimiser.step()
        return loss

    def between(self, number):
        """After each step."""

    def state(self):
        return [value.clone() for value in self.model.state_dict().values()]


def run(training, step, steps=STEPS):
    """Losses, as the job sees them, and the state at the end."""
    torch.manual_seed(7)
    data = torch.randn(16, 8, 6)
    labels = torch.randint(0, 3, (16, 8))
    losses = []
    for number in range(steps):
        losses.append(float(step(data[number % 16], labels[number % 16])))
        training.between(number)
    return losses, training.state()


class Replayed(unittest.TestCase):
    """`script` builds the plan that replays, probes it and runs it from then on."""

    def setUp(self):
        self.recorder = OperationRecorder()
        self.counts, self.refused, self.job = [], "", None

    def script(self, session):
        if session.step == 1:
            self.handle = 0
            (launch,) = [d for d, decision in enumerate(session.workload.decisions)
                         if "whole_step" in decision.options] or [None]
            if launch is not None:
                try:
                    self.handle = session.build((launch, session.workload.decisions[launch].options.index("whole_step")))
                except blazed.BuildFailed as why:
                    self.refused = why.sentence
        if self.handle and session.step % 100 == 1:
            self.counts.append(int.from_bytes(session.probe(self.handle)["whole step"][1], "little", signed=True))
        return self.handle

    def both(self, make, steps=STEPS):
        """Runs the job without blazed, then with it; both must come to the same bits."""
        training = make()
        plain = run(training, training.step, steps)
        with support.scripted(self.script, self.recorder) as made:
            training = make()
            ours = run(training, blazed.torch.train_step(training.step), steps)
            self.job = blazed.torch.current_job()
        self.flags = made[0].flags if made else []
        self.assertEqual(ours[0], plain[0])
        self.assertTrue(all(torch.equal(a, b) for a, b in zip(ours[1], plain[1])))
        return training

    def assert_replayed(self, most_others=40):
        self.assertEqual((self.job.why_not, self.job.why_no_whole_step(), self.refused), ("", "", ""))
        self.assertEqual(set(self.counts), {0})
        replays = self.recorder.replays - 3 * len(self.counts)
        self.assertGreater(replays, STEPS - most_others)
        self.assertLessEqual(self.recorder.alive, 1)
        others = sum(1 for flags in self.flags if flags)
        self.assertLessEqual(len(self.flags) - others, replays)

    # ---- replayed ----

    def test_a_plain_step(self):
        self.both(Training)
        self.assert_replayed(20)
        self.assertEqual(set(self.flags), {0})

    def test_dropout_draws_the_same_masks(self):
        self.both(lambda: Training(dropout=0.4))
        self.assert_replayed(20)

    def test_a_learning_rate_in_a_tensor_is_scheduled(self):
        class Scheduled(Training):
            def __init__(self):
                super().__init__(lr=torch.tensor(0.05))
                self.schedule = torch.optim.lr_scheduler.StepLR(self.optimiser, 3, 0.97)

            def between(self, number):
                self.schedule.step()

        self.both(Scheduled)
        self.assert_replayed(20)

    def test_gradients_are_clipped(self):
        class Clipped(Training):
            def step(self, x, y):
                self.optimiser.zero_grad()
                loss = self.loss(x, y)
                loss.backward()
                norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), 0.3)
                self.optimiser.step()
                return loss + 0 * norm

        self.both(Clipped)
        self.assert_replayed(20)

    def test_a_mean_of_the_parameters_is_kept(self):
        class Averaged(Training):
            def __init__(self):
                super().__init__()
                self.mean = [p.detach().clone() for p in self.model.parameters()]

            def step(self, x, y):
                loss = super().step(x, y)
                for mean, p in zip(self.mean, self.model.parameters()):
                    mean.lerp_(p.detach(), 0.05)
                return loss

            def state(self):
                return super().state() + [mean.clone() for mean in self.mean]

        self.both(Averaged)
        self.assert_replayed(20)

    def test_gradients_are_added_up_inside_the_step(self):
        class Micro(Training):
            def step(self, x, y):
                self.optimiser.zero_grad()
                total = 0
                for rows, labels in zip(x.chunk(2), y.chunk(2)):
                    loss = self.loss(rows, labels) / 2
                    loss.backward()
                    total = total + loss.detach()
                self.optimiser.step()
                return total

        self.both(Micro)
        self.assert_replayed(20)

    def test_losses_are_scaled(self):
        class Scaled(Training):
            def __init__(self):
                super().__init__()
                self.scaler = torch.amp.GradScaler("cpu", init_scale=64.0, growth_interval=20)

            def step(self, x, y):
                self.optimiser.zero_grad()
                loss = self.loss(x, y)
                self.scaler.scale(loss).backward()
                self.scaler.step(self.optimiser)
                self.scaler.update()
                return loss

            def state(self):
                return super().state() + [self.scaler._scale.clone(), self.scaler._growth_tracker.clone()]

        self.both(Scaled)
        self.assert_replayed(20)

    def test_gradients_are_left_to_the_script(self):
        for none in (True, False):
            class Left(Training):
                def step(self, x, y):
                    loss = self.loss(x, y)
                    loss.backward()
                    self.optimiser.step()
                    return loss

                def between(self, number):
                    self.norms = getattr(self, "norms", []) + [
                        float(sum(p.grad.square().sum() for p in self.model.parameters()))]
                    self.optimiser.zero_grad(set_to_none=none)

                def state(self):
                    return super().state() + [torch.tensor(self.norms)]

            with self.subTest(set_to_none=none):
                self.setUp()
                self.both(Left)
                self.assert_replayed(20)

    def test_evaluation_between_steps(self):
        class Evaluated(Training):
            def between(self, number):
                if number % 50 == 10:
                    self.model.eval()
                    with torch.no_grad():
                        self.model(torch.ones(2, 6))
                    self.model.train()

        self.both(Evaluated)
        self.assert_replayed(20)

    def test_frozen_in_eval_mode_for_a_while(self):
        class Frozen(Training):
            def between(self, number):
                if number in (100, 200):
                    self.model.train(number == 200)

        self.both(Frozen)
        self.assert_replayed()
        self.assertEqual(len(self.recorder.recordings), 3)

    def test_a_checkpoint_is_loaded(self):
        class Resumed(Training):
            def between(self, number):
                import copy
                if number == 100:
                    self.saved = copy.deepcopy((self.model.state_dict(), self.optimiser.state_dict()))
                if number == 200:
                    self.model.load_state_dict(self.saved[0])
                    self.optimiser.load_state_dict(self.saved[1])
                if number == 300:
                    self.model.load_state_dict(self.saved[0], assign=True)

        self.both(Resumed)
        self.assert_replayed()
        self.assertGreater(len(self.recorder.recordings), 1)

    def test_a_learning_rate_that_drops_now_and_then(self):
        class Dropping(Training):
            def between(self, number):
                if number % 150 == 60:
                    self.optimiser.param_groups[0]["lr"] *= 0.5

        self.both(Dropping)
        self.assert_replayed()
        self.assertEqual(len(self.recorder.recordings), 4)
        self.assertGreater(sum(1 for flags in self.flags if flags), 20, "steps that were not replayed are no samples")

    def test_a_hook_comes_and_goes(self):
        class Hooked(Training):
            def between(self, number):
                if number == 100:
                    self.hook = self.model[0].register_forward_hook(lambda module, x, out: out * 0.5)
                if number == 200:
                    self.hook.remove()
                if number == 300:
                    self.hook = self.model[4].weight.register_hook(lambda gradient: gradient * 2)

        self.both(Hooked)
        self.assert_replayed()
        self.assertEqual(len(self.recorder.recordings), 4)

    def test_another_batch_size_now_and_then(self):
        class Ragged(Training):
            pass

        training, plain = Ragged(), Ragged()
        step = None
        torch.manual_seed(3)
        batches = [(torch.randn(8 if i % 10 else 5, 6), None) for i in range(100)]
        batches = [(x, torch.randint(0, 3, (len(x),))) for x, _ in batches]
        wanted = [float(plain.step(x, y)) for x, y in batches[1:]]
        with support.scripted(self.script, self.recorder) as made:
            step = blazed.torch.train_step(training.step)
            self.assertEqual([float(step(x, y)) for x, y in batches[1:]], wanted)
        flagged = sum(1 for flags in made[0].flags if flags) if made else 0
        self.assertGreater(flagged, 3)

    # ---- not replayed ----

    def assert_not_offered(self, reason):
        self.assertRegex(self.job.why_no_whole_step(), reason)
        self.assertEqual(self.recorder.recordings, [])

    def assert_refused(self, reason):
        self.assertRegex(self.refused, reason)
        self.assertEqual(self.recorder.recordings, [])
        self.assertEqual(set(self.flags), {0})

    def test_a_learning_rate_that_always_changes_is_named(self):
        class Scheduled(Training):
            def __init__(self):
                super().__init__()
                self.schedule = torch.optim.lr_scheduler.ExponentialLR(self.optimiser, 0.999)

            def between(self, number):
                self.schedule.step()

        self.both(Scheduled)
        self.assert_not_offered("^lr is a Python number that changes from step to step; give a tensor lr and cap")

    def test_a_counter_of_the_script_is_named(self):
        class Counted(Training):
            calls = 0

            def __init__(self):
                super().__init__()
                self.calls = 0

            def step(self, x, y):
                self.calls += 1
                return super().step(x * (1.0 + 0.001 * self.calls), y)

            def state(self):
                return super().state() + [torch.tensor(self.calls)]

        self.both(Counted)
        self.assert_not_offered("calls changes from step to step")

    def test_gradients_added_up_over_calls(self):
        class Accumulated(Training):
            def __init__(self):
                super().__init__()
                self.calls = 0

            def step(self, x, y):
                self.calls += 1
                loss = self.loss(x, y)
                loss.backward()
                if self.calls % 4 == 0:
                    self.optimiser.step()
                    self.optimiser.zero_grad()
                return loss

        self.both(Accumulated)
        self.assert_not_offered("the optimiser does not step in every call|calls changes")

    def test_a_batch_from_an_iterator(self):
        class Fed(Training):
            def __init__(self):
                super().__init__()
                self.batches = iter([(torch.randn(8, 6), torch.randint(0, 3, (8,))) for _ in range(STEPS)])

            def step(self, x, y):
                return super().step(*next(self.batches))

        self.both(Fed)
        self.assert_not_offered("batches, which a replay would not")

    def test_a_tensor_that_nothing_names(self):
        class Hidden(Training):
            def __init__(self):
                super().__init__()
                hidden = torch.zeros(3)

                def hook(module, x, out):
                    hidden.add_(out.detach().mean())

                self.model[0].register_forward_hook(hook)
                self.hidden = hidden

            def state(self):
                return super().state() + [self.hidden.clone()]

        self.both(Hidden)
        self.assert_not_offered("writes to a tensor of shape")

    def test_a_value_that_is_read_back(self):
        class Read(Training):
            def step(self, x, y):
                loss = super().step(x, y)
                if loss.item() > 1e6:
                    raise RuntimeError("it diverged")
                return loss

        self.both(Read)
        self.assert_refused(r"such as \.item\(\)")

    def test_a_value_that_is_read_back_and_kept(self):
        class Read(Training):
            def step(self, x, y):
                loss = super().step(x, y)
                self.last = loss.item()
                return loss

        self.both(Read)
        self.assert_not_offered("last changes")

    def test_an_optimiser_that_counts_on_the_host(self):
        class OnHost(Training):
            def __init__(self):
                super().__init__()
                self.optimiser = torch.optim.Adam(self.model.parameters(), lr=0.01, foreach=False)

        self.both(OnHost)
        self.assert_refused("cannot be recorded")

    def test_no_optimiser_is_found(self):
        holder = {}

        class Far(Training):
            def step(self, x, y):
                return holder_of(self).step_of(x, y)

        def holder_of(training):
            holder.setdefault("it", Training())
            return _Opaque(holder["it"])

        class _Opaque:
            __slots__ = ("_Opaque__training",)

            def __init__(self, training):
                self.__training = training

            def step_of(self, x, y):
                return Training.step(self.__training, x, y)

        plain = run(Training(), Training().step, 1)
        self.assertTrue(plain)
        with support.scripted(self.script, self.recorder):
            training = Far()
            run(training, blazed.torch.train_step(training.step), 40)
            self.assertRegex(blazed.torch.current_job().why_no_whole_step(), "found")

    def test_no_room_for_the_probe(self):
        self.recorder.free = 1000
        self.both(Training)
        self.assert_refused("^no room for the probe of a whole step")


class Planted(unittest.TestCase):
    """Values that go stale behind the watch's back are found by the probe."""

    def count(self, training):
        recorder = OperationRecorder()
        found = []

        def script(session):
            if session.step == 1:
                found.append(session.probe(session.build((0, 1)))["whole step"][1])
            return 0

        with support.scripted(script, recorder):
            step = blazed.torch.train_step(training.step)
            run(training, step, 30)
            self.assertEqual(blazed.torch.current_job().why_no_whole_step(), "")
        return int.from_bytes(found[0], "little")

    def test_a_learning_rate_that_only_a_hidden_hand_moves(self):
        steps = [0]  # out of reach: only a closure of a hook sees it

        class Stale(Training):
            def __init__(self):
                super().__init__()
                optimiser = self.optimiser

                def move(*_):
                    steps[0] += 1
                    with torch.no_grad():  # after twenty looks that saw nothing
                        optimiser.param_groups[0]["lr"] = 0.05 * (0.5 if steps[0] > 11 and steps[0] % 2 else 1.0)

                optimiser.register_step_pre_hook(move)
                optimiser.register_step_post_hook(lambda *_: optimiser.param_groups[0].update(lr=0.05))

        self.assertGreater(self.count(Stale()), 0)

    def test_a_sound_step_shows_nothing(self):
        self.assertEqual(self.count(Training(dropout=0.3)), 0)


if __name__ == "__main__":
    unittest.main()
