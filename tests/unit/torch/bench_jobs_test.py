"""The measured jobs begin alike in every arm and form and train, and the rounds keep what happened of each arm."""
import argparse
import pathlib
import sys
import tempfile
import unittest

import support
import torch

sys.path.insert(0, str(support.ROOT / "tests/bench/torch_jobs"))
import arms  # noqa: E402
import corpus  # noqa: E402
import jobs  # noqa: E402
import measure  # noqa: E402
import rounds  # noqa: E402
import stepper  # noqa: E402
import tables  # noqa: E402
import units  # noqa: E402
from small_models import HAND, STOCK  # noqa: E402


def weights(made):
    return {name: value.clone() for name, value in made.model.state_dict().items()}


class Jobs(unittest.TestCase):
    def test_every_job_starts_alike_each_time_and_learns(self):
        for job in jobs.JOBS:
            with self.subTest(job.name):
                first, second = (job.make("cpu", tiny=True) for _ in range(2))
                for (name, one), other in zip(weights(first).items(), weights(second).values()):
                    self.assertTrue(torch.equal(one, other), name)
                for one, other in zip(first.batches, second.batches):
                    self.assertTrue(torch.equal(one[0], other[0]) and torch.equal(one[1], other[1]))
                self.assertLess(self.losses(job)[-1], self.losses(job)[0])

    def losses(self, job, form=""):
        """Of one batch again and again."""
        made = job.make("cpu", form, tiny=True)
        inputs, targets = made.batches[0]
        objective, found = stepper.objective_of(made, job.precision, "cpu"), []
        for _ in range(30):
            loss = objective(inputs, targets)
            loss.backward()
            made.optimiser.step()
            made.optimiser.zero_grad(set_to_none=True)
            found.append(float(loss))
        return found

    def test_both_forms_of_a_job_train_the_same(self):
        named = [job for job in jobs.JOBS if job.stock_form]
        self.assertEqual([job.name for job in named], ["attn257", "attn256", "gpt4", "lstm"])
        for job in named:
            hand, stock = (self.losses(job, form) for form in (HAND, STOCK))
            torch.testing.assert_close(torch.tensor(hand), torch.tensor(stock), rtol=1e-3, atol=1e-4, msg=job.name)

    def test_text_is_real_and_targets_are_one_character_further(self):
        inputs, targets = jobs.BY_NAME["attn257"].make("cpu", tiny=True).batches[0]
        self.assertTrue(torch.equal(inputs[:, 1:], targets[:, :-1]))
        letters = corpus.vocabulary(corpus.read())
        text = bytes(letters[i] for i in inputs[0].tolist())
        self.assertIn(text, corpus.read())

    def test_a_stream_goes_on_from_a_jobs_own_batches(self):
        for name in ("attn256", "cnn"):
            job = jobs.BY_NAME[name]
            own, stream = job.make("cpu", tiny=True).batches, job.stream("cpu", True, 2 * jobs.BATCHES)
            self.assertEqual(len(stream), 2 * jobs.BATCHES)
            for one, other in zip(own, stream):
                self.assertTrue(torch.equal(one[1], other[1]), name)
            self.assertFalse(torch.equal(stream[0][0], stream[jobs.BATCHES][0]))

    def test_the_optimiser_is_fused_but_where_it_is_compiled(self):
        job = jobs.BY_NAME["cnn"]
        self.assertTrue(job.make("cpu", tiny=True).optimiser.defaults["fused"])
        compiled = job.make("cpu", tiny=True, fused=False).optimiser.defaults
        self.assertEqual((compiled["fused"], compiled["foreach"]), (None, True))


class Arms(unittest.TestCase):
    def test_usual_arms_leave_out_what_takes_minutes_to_compile(self):
        for job in jobs.JOBS:
            names = [arm.name for arm in arms.chosen(job, [], True)]
            self.assertFalse([name for name in names if "autotune" in name])
            self.assertIn("compile", names)
            everything = [arm.name for arm in arms.chosen(job, ["all"], True)]
            self.assertIn("max-autotune", everything)
            self.assertEqual(len(set(everything)), len(everything))

    def test_only_what_a_user_can_write_without_blazed_is_stock(self):
        stock = {arm.name for arm in arms.all_of(jobs.BY_NAME["attn257"]) if arm.stock}
        self.assertIn("sdpa/compile", stock)
        self.assertFalse(stock & {"graph-by-hand", "graph-by-hand-padded", "blazed", "blazed step"})

    def test_an_unknown_arm_is_said_by_name(self):
        with self.assertRaisesRegex(ValueError, "no arm is named fastest"):
            arms.chosen(jobs.JOBS[0], ["fastest"], True)


class Rounds(unittest.TestCase):
    def test_an_arm_that_fails_leaves_a_sentence_and_the_others_go_on(self):
        group = rounds.Group("cpu")
        job = jobs.BY_NAME["mlp1025"]
        by_name = {arm.name: arm for arm in arms.all_of(job)}
        self.assertTrue(group.warm("eager", lambda: stepper.start(job, by_name["eager"], "cpu", tiny=True), 60))
        self.assertFalse(group.warm("graph", lambda: stepper.start(job, by_name["graph-by-hand"], "cpu", tiny=True), 60))
        self.assertEqual(group.failures["graph"], "RuntimeError: only a GPU has graphs to capture a step in")
        self.assertEqual(list(group.run(3, 60)["host_ms"]), ["eager"])

    def test_an_arm_that_takes_too_long_is_broken_off(self):
        def for_ever():
            while True:
                try:
                    sum(range(1000))
                except Exception:  # as a compiler does that tries something
                    pass

        group = rounds.Group("cpu")
        self.assertFalse(group.warm("slow", for_ever, 0.05))
        self.assertIn("took longer than", group.failures["slow"])

    def test_short_steps_have_long_units_and_long_steps_short_ones(self):
        self.assertEqual(units.shape_for(1.0), (2, 30))
        self.assertEqual(units.shape_for(0.01), (2, 64))
        self.assertEqual(units.shape_for(5.0), (2, 8))
        self.assertEqual(units.shape_for(120.0), (1, 3))

    def test_a_whole_job_gives_rows_and_samples_of_each_arm(self):
        folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(lambda: __import__("shutil").rmtree(folder))
        args = argparse.Namespace(device="cpu", tiny=True, arms=["eager", "compile"], seconds=600.0, rounds=4, blazed=None,
                                  out=folder)
        result = measure.one_job(jobs.BY_NAME["mlp1025"], args)
        self.assertEqual(result["failures"], {})
        self.assertEqual([row["arm"] for row in result["rows"]], ["eager", "compile"])
        for row in result["rows"]:
            self.assertEqual(row["ms"]["n"], 4)
            self.assertEqual(len(result["host_ms"][row["arm"]]), 4)
            self.assertGreater(row["ms"]["low"], 0)
        self.assertEqual([sorted(order) for order in result["orders"]], [["compile", "eager"]] * 4)
        eager, compiled = result["rows"]
        self.assertAlmostEqual(eager["first_loss"], compiled["first_loss"], places=4)
        self.assertEqual(compiled["against_compile"]["estimate"], 1.0)
        self.assertIn("eager", tables.of_job(result))


if __name__ == "__main__":
    unittest.main()
