"""A step that is replayed comes to the same numbers as one that is not, over 500 steps, or is not replayed and says why."""
import threading
import unittest

import support
import torch
import trainings
from operation_recorder import OperationRecorder

import blazed
import blazed.torch
from blazed.torch import reach, step_probe, updates
from blazed.torch.snapshot import Snapshot
from blazed.torch.step_state import StepState

STEPS = 500
PROBED_EVERY = 100


class Script:
    """Builds the plan that replays, probes it now and then, and runs it from then on."""

    def __init__(self):
        self.handle, self.counts, self.refused = 0, [], ""

    def __call__(self, session):
        if session.step == 1:
            for number, decision in enumerate(session.workload.decisions):
                if "whole_step" in decision.options:
                    self.build(session, number, decision.options.index("whole_step"))
        if self.handle and session.step % PROBED_EVERY == 1:
            self.counts.append(int.from_bytes(session.probe(self.handle)["whole step"][1], "little", signed=True))
        return self.handle

    def build(self, session, number, option):
        try:
            self.handle = session.build((number, option))
        except blazed.BuildFailed as why:
            self.refused = why.sentence


class Job:
    """One of trainings.ALL, without blazed and with it."""

    def __init__(self, kind, recorder=None, steps=STEPS):
        self.recorder, self.script = recorder or OperationRecorder(), Script()
        training = kind()
        self.plain = trainings.run(training, training.step, steps)
        with support.scripted(self.script, self.recorder) as made:
            training = kind()
            self.ours = trainings.run(training, blazed.torch.train_step(training.step), steps)
            self.why_not = blazed.torch.current_job().why_no_whole_step()
        self.flags = made[0].flags if made else []

    def replays(self):
        """Of the job's own steps."""
        made_anew = len(self.recorder.recordings) - 1  # each is checked by three replays
        return self.recorder.replays - 3 * (len(self.script.counts) + made_anew)


class WholeStep(unittest.TestCase):
    def assert_same(self, job):
        self.assertEqual(job.ours[0], job.plain[0])
        self.assertTrue(all(torch.equal(a, b) for a, b in zip(job.ours[1], job.plain[1])))

    def test_jobs_come_to_the_same_bits(self):
        for kind in trainings.ALL:
            with self.subTest(kind.__name__):
                job = Job(kind)
                self.assert_same(job)
                getattr(self, "check_" + kind.expected.replace(" ", "_"))(kind, job)

    def check_replayed(self, kind, job):
        self.assertEqual((job.why_not, job.script.refused), ("", ""))
        self.assertEqual(set(job.script.counts), {0})
        self.assertGreater(job.replays(), STEPS - kind.most_others)
        self.assertEqual(len(job.recorder.recordings), kind.recordings)
        self.assertLessEqual(job.recorder.alive, 1)
        # What was not replayed is no sample of the plan.
        self.assertEqual(sum(1 for flags in job.flags if not flags), job.replays())

    def check_not_offered(self, kind, job):
        self.assertRegex(job.why_not, kind.reason)
        self.assertEqual(job.recorder.recordings, [])

    def check_refused(self, kind, job):
        self.assertRegex(job.script.refused, kind.reason)
        self.assertEqual(job.recorder.recordings, [])
        self.assertEqual(set(job.flags), {0})

    def test_without_room_for_the_probe_nothing_is_recorded(self):
        job = Job(trainings.Training, OperationRecorder(free_bytes=1000), steps=40)
        self.assert_same(job)
        self.assertRegex(job.script.refused, "^no room for the probe of a whole step")

    def test_named_modules_and_optimisers_stand_for_those_that_would_be_found(self):
        class Opaque:
            __slots__ = ("call",)

        training, opaque = trainings.Training(), Opaque()
        opaque.call = training.step

        def step(x, y):
            return opaque.call(x, y)

        for named, reason in (({}, "no module was found"), ({"modules": [training.model]}, "no optimiser was found"),
                              ({"modules": [training.model], "optimisers": [training.optimiser]}, "^$")):
            with support.scripted(Script(), OperationRecorder()):
                trainings.run(training, blazed.torch.train_step(step, **named), 30)
                self.assertRegex(blazed.torch.current_job().why_no_whole_step(), reason)

    def test_an_object_that_holds_its_own_step_is_replayed(self):
        class Trainer:
            def __init__(self):
                self.training = trainings.Training()
                self.whole = blazed.torch.train_step(self.one)

            def one(self, x, y):
                return self.training.step(x, y)

            def step(self, x, y):
                return self.whole(x, y)

            def one_more(self, x, y):  # names the step, as any method that is looked at may
                return self.whole

        script, recorder = Script(), OperationRecorder()
        with support.scripted(script, recorder) as made:
            trainer = Trainer()
            trainer.one = trainer.one_more and trainer.one
            trainings.run(trainer.training, trainer.step, 40)
            self.assertEqual((blazed.torch.current_job().why_no_whole_step(), script.refused, len(made)), ("", "", 1))

    def test_on_the_cpu_it_is_not_offered(self):
        with support.scripted(Script(), None) as made:
            training = trainings.Training()
            trainings.run(training, blazed.torch.train_step(training.step), 30)
            self.assertRegex(blazed.torch.current_job().why_no_whole_step(), "NVIDIA GPUs alone")
        self.assertEqual([d.options for d in made[0].workload.decisions], [(updates.AS_IT_IS, updates.COMPILED)])

    def test_on_the_cpu_nothing_is_offered_where_the_updates_are_not_known(self):
        class Own(torch.optim.SGD):
            pass

        with support.scripted(Script(), None) as made:
            training = trainings.Training()
            training.optimiser = Own(training.model.parameters(), lr=training.lr)
            trainings.run(training, blazed.torch.train_step(training.step), 30)
            self.assertRegex(blazed.torch.current_job().why_not, "NVIDIA GPUs alone")
        self.assertEqual(made, [])

    def test_a_step_that_raises_is_begun_anew(self):
        training, calls = trainings.Training(), []

        def step(x, y):
            if len(calls) == 20:
                calls.append(None)
                raise KeyError("the script's own")
            return training.step(x, y)

        with support.scripted(Script(), None):
            wrapped = blazed.torch.train_step(step)
            for number in range(30):
                calls.append(number)
                if len(calls) == 20:
                    with self.assertRaisesRegex(KeyError, "the script's own"):
                        wrapped(*training.batch(number))
                else:
                    wrapped(*training.batch(number))

    def test_a_second_step_of_a_job_says_why_it_runs_as_it_is(self):
        first, second = trainings.Training(), trainings.Training()
        with support.scripted(Script(), OperationRecorder()) as made:
            steps = blazed.torch.train_step(first.step), blazed.torch.train_step(second.step)
            trainings.run(first, steps[0], 16)
            with self.assertLogs("blazed", "WARNING") as logged:
                results = trainings.run(second, steps[1], 16)
        self.assertEqual((len(made), steps[0].why_not), (1, ""))
        self.assertEqual(steps[1].why_not,
                         "a job has one step that is tuned as one, and Training.step was handed over before")
        self.assertEqual(len(logged.records), 1, "it is said once")
        plain = trainings.Training()
        self.assertEqual(results[0], trainings.run(plain, plain.step, 16)[0])

    def test_a_step_of_another_thread_says_so_too(self):
        training = trainings.Training()
        with support.scripted(Script(), None), self.assertLogs("blazed", "WARNING"):
            step = blazed.torch.train_step(training.step)
            blazed.torch.current_job()
            thread = threading.Thread(target=lambda: step(*training.batch(0)))
            thread.start()
            thread.join()
        self.assertIn("another thread", step.why_not)

    def test_results_come_detached(self):
        training = trainings.Training()
        with support.scripted(Script(), None):
            step = blazed.torch.train_step(lambda x, y: {"loss": training.step(x, y), "rows": len(x)})
            result = step(*training.batch(0))
        self.assertFalse(result["loss"].requires_grad)
        self.assertEqual(result["rows"], 8)


class Probed(unittest.TestCase):
    """Values that go stale behind the watch's back are found by the probe."""

    def count(self, training, steps=16):
        script, recorder = Script(), OperationRecorder()
        with support.scripted(script, recorder) as made:
            trainings.run(training, blazed.torch.train_step(training.step), steps)
        self.assertEqual((script.refused, len(made)), ("", 1))
        return script.counts[0]

    def test_a_sound_step_shows_nothing(self):
        self.assertEqual(self.count(trainings.Dropout()), 0)

    def test_chance_of_its_own_is_allowed_and_no_more(self):
        model = torch.nn.Linear(40, 30)
        optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
        state = StepState(reach.of(lambda: (model, optimiser)))
        chance = torch.Generator().manual_seed(3)

        def step(noise=1e-4, rate=0.1, stale=None):
            with torch.no_grad():
                for p in model.parameters():
                    moves = p.sin() + noise * torch.randn(p.shape, generator=chance) * (torch.rand((), generator=chance) < 0.7)
                    p -= rate * moves
                if stale is not None:
                    model.weight[stale] = kept_weight[stale]
            return model.weight.sum()

        kept_weight = model.weight.detach().clone()

        def count(run, replay):
            kept = Snapshot(state)
            counted = step_probe.differing(state, kept, run, replay)
            self.assertTrue(torch.equal(model.weight, kept_weight), "the state is put back")
            return counted

        for _ in range(50):
            self.assertEqual(count(step, step), 0)
        self.assertGreater(count(step, lambda: step(rate=0.101)), 0)
        self.assertGreater(count(step, lambda: step(stale=7)), 0)
        self.assertEqual(count(lambda: step(0.0), lambda: step(0.0)), 0)
        self.assertGreater(count(lambda: step(0.0), lambda: step(1e-7)), 0, "one that repeats its bits")
        self.assertGreater(count(lambda: step(3.0), lambda: step(3.0)), 0, "nothing can be told of this one")

    def test_a_tensor_that_is_all_chance_does_not_hide_the_others(self):
        """As the bias of an attention's keys under Adam: no gradient but rounding, and steps as large as any other's."""
        model = torch.nn.Sequential(*(torch.nn.Linear(20, 20) for _ in range(4)))
        state = StepState(reach.of(lambda: model))
        chance = torch.Generator().manual_seed(5)
        mute = model[2].bias

        def step(rate=0.1, seldom=0.0):
            with torch.no_grad():
                for p in model.parameters():
                    p -= rate * p.sin() * (1 + 1e-6 * torch.randn((), generator=chance))
                    if float(torch.rand((), generator=chance)) < seldom:
                        p -= 0.02 * p.sin()
                mute.add_(rate * torch.randn(mute.shape, generator=chance).sign())
            return model[0].weight.sum()

        def count(run, replay):
            return step_probe.differing(state, Snapshot(state), run, replay)

        for _ in range(30):
            self.assertEqual(count(step, step), 0)
            self.assertGreater(count(step, lambda: step(rate=0.101)), 0)
        self.assertLessEqual(sum(count(lambda: step(seldom=0.02), lambda: step(seldom=0.02)) > 0 for _ in range(30)), 1)

    def test_a_replay_that_rounds_otherwise_is_the_same_step_unless_bits_are_asked_for(self):
        """As where atomics end in one order in the step's memory and in another one in the recording's."""
        model = torch.nn.Sequential(*(torch.nn.Linear(20, 20) for _ in range(4)))
        state = StepState(reach.of(lambda: model))
        mute, weight = model[2].bias, model[1].weight

        def step(rate=0.1, off=0.0, stale=None):
            with torch.no_grad():
                mute.add_(rate * torch.sin(1e8 * (weight.sum(1) + off)))
                for p in model.parameters():
                    if p is not mute and p is not stale:
                        p -= rate * p.sin() * (1 + off)
            return model[0].weight.sum()

        def count(replay, exact):
            return step_probe.differing(state, Snapshot(state), step, replay, exact)

        self.assertEqual(count(lambda: step(off=1e-7), exact=False), 0)
        self.assertGreater(count(lambda: step(off=1e-7), exact=True), 0)
        for wrong in (lambda: step(rate=0.101), lambda: step(off=1e-3), lambda: step(stale=model[3].bias)):
            self.assertGreater(count(wrong, exact=False), 0)

    def test_distances(self):
        inf, nan = float("inf"), float("nan")
        for a, b, apart in (([1.0, inf, nan], [1.0, inf, nan], 0.0), ([1.0, nan], [1.0, 2.0], inf),
                            ([1.0, inf], [1.0, -inf], inf), ([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 5.0], 0.5), ([], [], 0.0)):
            for dtype in (torch.float32, torch.bfloat16, torch.float64):
                self.assertEqual(step_probe._distance(torch.tensor(a, dtype=dtype), torch.tensor(b, dtype=dtype)), apart)
        self.assertEqual(step_probe._distance(torch.tensor([2**62]), torch.tensor([2**62 + 1])), 1.0)

    def test_a_learning_rate_that_moves_inside_the_step_and_is_back_at_its_end(self):
        class Stale(trainings.Training):
            def __init__(self):
                super().__init__()
                self.lowered = torch.zeros((), dtype=torch.int64)  # a count that no look at values sees

            def step(self, x, y):
                self.lowered += 1
                group = self.optimiser.param_groups[0]
                group["lr"] = 0.05 / float(self.lowered.numpy())
                loss = super().step(x, y)
                group["lr"] = 0.05
                return loss

        self.assertGreater(self.count(Stale()), 0)


if __name__ == "__main__":
    unittest.main()
