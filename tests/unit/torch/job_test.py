import unittest

import support
import torch

import blazed
import blazed.torch
from blazed.enums import Role, StepFlag

STEPS = 24


def plain(module, steps=STEPS, each=None):
    torch._dynamo.reset()
    return support.train(steps, torch.compile(module, dynamic=False), module, each)


class Switching(unittest.TestCase):
    def losses(self, script, dropout=0.0, steps=STEPS, each=None):
        with support.scripted(script) as made:
            module = support.model(dropout)
            compiled = torch.compile(module, backend=blazed.torch.backend, dynamic=False)
            losses = support.train(steps, compiled, module, each)
            self.assertEqual(len(made), 1, blazed.torch.current_job().why_not)
            return losses, made[0]

    @staticmethod
    def cut_of(session):
        return next(d for d, decision in enumerate(session.workload.decisions) if decision.options[1] == "cut")

    def test_every_boundary_trains_to_the_same_bits(self):
        built = []

        def script(session):
            if not built:
                built.extend(session.build((d, 1)) for d, decision in enumerate(session.workload.decisions)
                             if decision.options[1] == "cut")
                default = session.probe(0)
                for handle in built:
                    self.assertEqual(session.probe(handle), default)
                    self.assertNotEqual(session.host.signature(handle), bytes(16))
            return [0, *built][session.step % (len(built) + 1)]

        losses, session = self.losses(script, dropout=0.1)
        self.assertGreater(len(built), 3)
        self.assertEqual(losses, plain(support.model(dropout=0.1)))
        self.assertEqual(set(session.flags), {0})

    def test_running_uncompiled_changes_rounding_alone(self):
        def script(session):
            if session.step == 1:
                (eager,) = [d for d, decision in enumerate(session.workload.decisions) if "eager" in decision.options]
                self.handle = session.build((eager, 1))
                self.default, self.other = session.probe(0), session.probe(self.handle)
            return self.handle

        losses, _ = self.losses(script)
        self.assertEqual(self.default.keys(), self.other.keys())
        self.assertIn(Role.GRADIENT, {role for role, _ in self.default.values()})
        for ours, theirs in zip(losses, plain(support.model())):
            self.assertAlmostEqual(ours, theirs, places=3)

    def test_another_dropout_mask_shows_in_a_probe(self):
        def script(session):
            if session.step == 1:
                (eager,) = [d for d, decision in enumerate(session.workload.decisions) if "eager" in decision.options]
                self.assertNotEqual(session.probe(session.build((eager, 1))), session.probe(0))
            return 0

        self.losses(script, dropout=0.5)

    def test_the_plan_in_use_is_dropped_and_built_again(self):
        seen = []

        def script(session):
            if session.step == 2:
                seen.append(session.build((self.cut_of(session), 1)))
            if session.step == 6:
                first = session.host._plans[seen[0]].variants
                session.host.drop(seen[0])
                seen.append(session.build((self.cut_of(session), 1)))
                again = session.host._plans[seen[1]].variants
                self.assertTrue(any(a is not b for (_, a), (_, b) in zip(first, again)), "nothing was compiled again")
                self.assertEqual(session.probe(seen[1]).keys(), session.probe(0).keys())
                return 0
            return seen[-1] if seen else 0

        losses, _ = self.losses(script)
        self.assertEqual(losses, plain(support.model()))
        self.assertEqual(len(seen), 2)

    def test_a_failure_of_its_own_leaves_the_job_to_the_framework(self):
        def script(session):
            handle = session.build((self.cut_of(session), 1)) if session.step == 2 else 0
            if session.step == 5:
                raise KeyError("a fault of blazed")
            return handle

        with support.scripted(script):
            module = support.model()
            compiled = torch.compile(module, backend=blazed.torch.backend, dynamic=False)
            with self.assertLogs("blazed", "WARNING"):
                losses = support.train(STEPS, compiled, module)
            self.assertIn("a fault of blazed", blazed.torch.current_job().why_not)
            self.assertEqual(blazed.torch.current_job().plan_in_use(), 0)
        self.assertEqual(losses, plain(support.model()))

    def test_a_probe_ends_where_the_session_takes_no_more(self):
        given = []

        def script(session):
            if session.step == 1:
                session.host.probe(0, lambda tensor: given.append(tensor.name) or len(given) < 2)
            return 0

        losses, _ = self.losses(script)
        self.assertEqual(len(given), 2)
        self.assertEqual(losses, plain(support.model()))

    def test_writes_behind_the_back_of_autograd_are_undone(self):
        class Counting(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = support.model()
                self.register_buffer("seen", torch.zeros(()))

            def forward(self, x):
                self.seen.data.add_(1.0)
                return self.inner(x)

        def script(session):
            if session.step == 1:
                session.probe(0)
            return 0

        with support.scripted(script) as made:
            module = Counting()
            support.train(STEPS, torch.compile(module, backend=blazed.torch.backend, dynamic=False), module)
            probed = bool(made)
            self.assertTrue(probed, blazed.torch.current_job().why_not)
        self.assertEqual(module.seen.item(), STEPS)

    def test_a_mode_of_torch_compile_is_followed_and_not_tuned(self):
        with support.scripted(lambda session: 0) as made:
            module = support.model()
            compiled = torch.compile(module, backend=blazed.torch.backend, dynamic=False, options={"max_fusion_size": 4})
            losses = support.train(STEPS, compiled, module)
            self.assertEqual(made, [])
            self.assertIn("leave them out", blazed.torch.current_job().why_not)
        torch._dynamo.reset()
        module = support.model()
        compiled = torch.compile(module, dynamic=False, options={"max_fusion_size": 4})
        self.assertEqual(losses, support.train(STEPS, compiled, module))

    def test_two_processes_would_describe_the_same_job(self):
        seen = []

        def script(session):
            seen.append((session.graphs, session.workload.graphs, session.workload.decisions))
            return 0

        self.losses(script)
        first = seen.pop()
        seen.clear()
        self.losses(script)
        self.assertEqual(first, seen[0])

    def test_evaluation_between_steps_is_flagged_and_changes_nothing(self):
        def each(step):
            if step == 10:
                self.module.eval()
                with torch.no_grad():
                    self.compiled(torch.randn(8, 16, generator=torch.Generator().manual_seed(step)))
                self.module.train()

        with support.scripted(lambda session: 0) as made:
            self.module = support.model()
            self.compiled = torch.compile(self.module, backend=blazed.torch.backend, dynamic=False)
            losses = support.train(STEPS, self.compiled, self.module, each)
            flags = made[0].flags
        self.assertEqual(sum(1 for f in flags if f & StepFlag.EVALUATION), 1)
        torch._dynamo.reset()
        self.module = support.model()
        self.compiled = torch.compile(self.module, dynamic=False)
        self.assertEqual(losses, support.train(STEPS, self.compiled, self.module, each))

    def test_a_step_that_is_handed_over_is_one_step_of_its_graphs(self):
        def job(wrapped, backend):
            torch.manual_seed(0)
            model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.LayerNorm(8), torch.nn.Linear(8, 3))
            net = torch.compile(model, dynamic=False, **backend)
            optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)

            def step(x, y):
                optimiser.zero_grad()
                for rows, labels in zip(x.chunk(2), y.chunk(2)):
                    loss = torch.nn.functional.cross_entropy(net(rows), labels)
                    loss.backward()
                optimiser.step()
                return loss

            run = wrapped(step)
            x, y = torch.randn(8, 6), torch.arange(8) % 3
            return [run(x + number, y).item() for number in range(STEPS)]

        def script(session):
            if session.step == 2:
                cut = next(d for d, decision in enumerate(session.workload.decisions) if decision.options[1] == "cut")
                self.handle = session.build((cut, 1))
                self.assertEqual(session.probe(self.handle), session.probe(0))
            return self.handle if session.step % 2 else 0

        self.handle = 0
        with support.scripted(script) as made:
            losses = job(blazed.torch.train_step, {"backend": blazed.torch.backend})
            self.assertEqual((blazed.torch.current_job().why_not, len(made)), ("", 1))
            self.assertIn("NVIDIA", blazed.torch.current_job().why_no_whole_step())
        self.assertEqual(set(made[0].flags), {0})
        torch._dynamo.reset()
        self.assertEqual(losses, job(lambda step: step, {}))

    def test_a_failed_build_is_one_sentence(self):
        def script(session):
            if session.step == 1:
                def broken(recipe):
                    raise RuntimeError("the assembler ran away\nand more")

                direction = next(iter(blazed.torch.current_job().graphs[0].default.directions.values()))
                direction.variant = broken
                with self.assertRaisesRegex(blazed.BuildFailed, "RuntimeError: the assembler ran away$"):
                    session.build((len(session.workload.decisions) - 1, 1))
            return 0

        losses, _ = self.losses(script)
        self.assertEqual(losses, plain(support.model()))


class Fallbacks(unittest.TestCase):
    def test_symbolic_shapes_are_left_alone(self):
        with support.scripted(lambda session: 0) as made:
            module = support.model(batch_norm=False)
            compiled = torch.compile(module, backend=blazed.torch.backend, dynamic=True)
            support.train(8, compiled, module)
            self.assertEqual(made, [])
            self.assertIn("symbolic shapes", blazed.torch.current_job().why_not)

    def test_a_fault_of_blazed_leaves_the_graph_to_the_compiler(self):
        from unittest import mock
        with support.scripted(lambda session: 0), mock.patch("blazed.torch.Graph", side_effect=RuntimeError("no")):
            module = support.model()
            compiled = torch.compile(module, backend=blazed.torch.backend, dynamic=False)
            with self.assertLogs("blazed", "WARNING"):
                losses = support.train(4, compiled, module)
        self.assertEqual(losses, plain(support.model(), 4))


if __name__ == "__main__":
    unittest.main()
