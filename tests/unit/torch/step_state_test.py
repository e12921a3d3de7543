"""What a step's function reaches, what a look at it notices, and what a snapshot puts back."""
import functools
import random
import subprocess
import sys
import unittest

import support  # noqa: F401
import torch
import trainings

from blazed.torch import reach, step_gradients
from blazed.torch.snapshot import RandomState, Snapshot
from blazed.torch.static_values import StaticInputs
from blazed.torch.step_state import StepState
from blazed.torch.watched import Watch

shared_model = torch.nn.Linear(2, 2)
rate = 0.5


def helper(x):
    return shared_model(x) * rate


def by_globals(x):
    return helper(x)


class Reached(unittest.TestCase):
    def test_closures_globals_and_the_functions_they_name(self):
        inner = torch.nn.Linear(2, 2)
        optimiser = torch.optim.SGD(inner.parameters(), lr=0.1)

        def step(x):
            optimiser.zero_grad()
            return by_globals(inner(x))

        found = reach.of(step)
        self.assertEqual([id(m) for m in found.modules], [id(inner), id(shared_model)])
        self.assertEqual(found.optimisers, [optimiser])
        self.assertIn("rate", [place.name for place in found.places])

    def test_what_a_method_is_bound_to_by_the_names_in_its_code(self):
        training = trainings.Averaged()
        training.unrelated = 1
        found = reach.of(training.step)
        self.assertEqual((found.modules, found.optimisers), ([training.model], [training.optimiser]))
        self.assertIn("self.mean", [name for name, _ in found.containers()])
        self.assertNotIn("self.unrelated", [place.name for place in found.places])

    def test_partial_functions_and_compiled_models(self):
        model = torch.nn.Linear(2, 2)
        found = reach.of(functools.partial(lambda net, x: net(x), torch.compile(model)))
        self.assertEqual(found.modules, [model])

    def test_iterators_files_and_printing_are_named(self):
        batches = iter([1])

        def step():
            print(next(batches))

        self.assertEqual(set(reach.of(step).streams), {"print", "batches"})

    def test_a_large_ring_of_objects_ends(self):
        class Node:
            pass

        nodes = [Node() for _ in range(10_000)]
        for node, following in zip(nodes, nodes[1:] + nodes[:1]):
            node.following = following
        first = nodes[0]
        self.assertEqual(reach.of(lambda: first.following.following).modules, [])


class Noticed(unittest.TestCase):
    def setUp(self):
        self.training = trainings.Averaged()
        self.training.factor = 1.0
        step = self.training.step

        def whole(x, y):
            return step(x, y) * self.training.factor

        whole(*self.training.batch(0))
        self.whole, self.watch = whole, Watch(StepState(reach.of(whole)))

    def assert_noticed(self, reason, change):
        self.assertEqual(self.watch.changed(), "")
        change()
        self.assertRegex(self.watch.changed(), reason)
        self.watch.note()
        self.assertEqual(self.watch.changed(), "")

    def test_each_change_has_a_name(self):
        training = self.training
        group, model = training.optimiser.param_groups[0], training.model
        for reason, change in (
                ("^lr$", lambda: group.update(lr=0.01)),
                ("^betas$", lambda: group.update(betas=(0.8, 0.9))),
                ("^training of Linear", lambda: model[0].eval()),
                ("^p of Dropout", lambda: setattr(model[3], "p", 0.3)),
                ("factor", lambda: setattr(training, "factor", 2.0)),
                ("requires_grad", lambda: model[0].weight.requires_grad_(False)),
                ("hooks", lambda: model[0].register_forward_hook(lambda *_: None)),
                ("hooks", lambda: model[4].weight.register_hook(lambda g: g)),
                ("memory", lambda: setattr(model[0].weight, "data", model[0].weight.data.clone())),
                ("parameter, a buffer", lambda: model[1].register_buffer("running_mean", torch.zeros(8))),
                ("mean", lambda: training.mean.__setitem__(0, training.mean[0].clone())),
                ("module inside", lambda: model.__setattr__("4", torch.nn.Linear(8, 3))),
                ("mode", lambda: torch.set_float32_matmul_precision("high"))):
            with self.subTest(reason):
                self.addCleanup(torch.set_float32_matmul_precision, "highest")
                self.assert_noticed(reason, change)

    def test_switches_of_f32_products_that_contradict_each_other_can_be_looked_at(self):
        matmul = torch.backends.mkldnn.matmul
        self.addCleanup(setattr, matmul, "fp32_precision", matmul.fp32_precision)
        matmul.fp32_precision = "bf16"
        self.assertRaises(RuntimeError, torch.get_float32_matmul_precision)
        self.assertIn("mode", self.watch.changed())
        self.watch.note()
        self.assertEqual(self.watch.changed(), "")

    def test_training_goes_unnoticed(self):
        for number in range(3):
            self.whole(*self.training.batch(number))
            torch.nn.Linear(2, 2).register_forward_hook(lambda *_: None)  # somebody else's
            self.assertEqual(self.watch.changed(), "")

    def test_a_value_that_cannot_be_compared_is_a_change(self):
        self.training.factor = torch.ones(3)
        self.assertNotEqual(self.watch.changed(), "")


class PutBack(unittest.TestCase):
    def test_nothing_shows_of_what_ran_in_between(self):
        training = trainings.Scaled()
        training.seen = []
        step = training.step

        def whole(x, y):
            training.seen.append(random.random())
            training.optimiser.param_groups[0]["lr"] *= 0.9
            return step(x, y)

        whole(*training.batch(0))
        state = StepState(reach.of(whole))
        kept = Snapshot(state)
        before = [(name, t, t.clone(), t._version, t.data_ptr()) for name, t in state.tensors()]
        values, generators = state.host_values(), RandomState([]).digest()
        gradients = step_gradients.now(state.trained())
        with kept.versions_kept():
            for number in range(3):
                whole(*training.batch(number))
            kept.restore()
        self.assertEqual(len(training.seen), 1)
        self.assertEqual((state.host_values(), RandomState([]).digest()), (values, generators))
        self.assertTrue(all(a is b for a, b in zip(step_gradients.now(state.trained()), gradients)))
        for (name, tensor, value, version, address), (_, again) in zip(before, state.tensors()):
            self.assertIs(tensor, again, name)
            self.assertTrue(torch.equal(tensor, value), name)
            self.assertEqual((tensor._version, tensor.data_ptr()), (version, address), name)

    def test_a_graph_that_autograd_keeps_is_not_broken(self):
        training = trainings.Training()
        x, y = training.batch(0)
        training.step(x, y)
        outside = training.model[0](x).square().sum()
        kept = Snapshot(StepState(reach.of(training.step)))
        with kept.versions_kept():
            training.step(x, y)
            kept.restore()
        outside.backward()


class Arguments(unittest.TestCase):
    def test_others_than_the_recorded_are_not_taken(self):
        x = torch.ones(4, 2)
        inputs = StaticInputs((x, 3), {"scale": 2.0}, "cpu")
        self.assertTrue(inputs.copy_in((x + 1, 3), {"scale": 2.0}))
        (copied, _), _ = inputs.arguments()
        self.assertTrue(torch.equal(copied, x + 1))
        for args, kwargs in (((x, 4), {"scale": 2.0}), ((x, 3), {"scale": 2.5}), ((x, 3), {}), ((x[:2], 3), {"scale": 2.0}),
                             ((x.double(), 3), {"scale": 2.0}), ((x.t().contiguous().t(), 3), {"scale": 2.0}),
                             ((x, 3.0), {"scale": 2.0}), ((None, 3), {"scale": 2.0})):
            self.assertFalse(inputs.copy_in(args, kwargs), (args, kwargs))
        self.assertTrue(torch.equal(copied, x + 1), "nothing was copied")

    def test_what_cannot_be_recorded_is_said(self):
        for value, reason in ((torch.ones(2, requires_grad=True), "needs a gradient"), (iter([1]), "is an iterator"),
                              (torch.ones(2).to_sparse(), "no dense tensor")):
            with self.assertRaisesRegex(ValueError, reason):
                StaticInputs((value,), {}, "cpu")
        with self.assertRaisesRegex(ValueError, "lies on cpu; move the batch to cuda"):
            StaticInputs((torch.ones(2),), {}, "cuda")


class FailedRecordings(unittest.TestCase):
    def test_what_may_not_be_destroyed_is_not_at_the_end_either(self):
        program = ("from blazed.torch import recorder\n"
                   "class Loud:\n"
                   "    def __del__(self): print('destroyed')\n"
                   "loud = Loud()\n"
                   "{}")
        for kept, said in (("", "destroyed\n"), ("recorder._keep_for_ever(loud)", "")):
            ran = subprocess.run([sys.executable, "-c", program.format(kept)], capture_output=True, text=True, check=True)
            self.assertEqual(ran.stdout, said)


if __name__ == "__main__":
    unittest.main()
