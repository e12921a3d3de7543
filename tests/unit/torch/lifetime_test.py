"""What blazed keeps of a job, and for how long: no batch longer than a step, no model longer than its script."""
import gc
import unittest
import weakref

import support
import torch

import blazed.torch
from blazed.torch.program import Way


def alive(refs):
    gc.collect()
    return sorted(name for name, ref in refs.items() if ref() is not None)


class Lifetime(unittest.TestCase):
    """A script of one cell that may be run again: it makes a model, compiles it and trains it."""

    def cell(self, steps=12, width=16, refs=None, step_of=None):
        torch.manual_seed(0)
        module = torch.nn.Sequential(support.Block(width), support.Block(width), torch.nn.Linear(width, 4))
        refs = {} if refs is None else refs
        refs.update(module=weakref.ref(module), parameter=weakref.ref(module[2].weight))
        compiled = torch.compile(module, backend=blazed.torch.backend, dynamic=False)
        optimiser = torch.optim.Adam(module.parameters(), lr=1e-2)

        def train(batch):
            loss = compiled(batch).square().mean()
            loss.backward()
            optimiser.step()
            optimiser.zero_grad()
            return loss

        step = train if step_of is None else step_of(train)
        for number in range(steps):
            batch = torch.randn(8, width)
            refs[f"batch {number}"] = weakref.ref(batch)
            step(batch)
            del batch
        for graph in blazed.torch.current_job().graphs:
            refs[f"graph {graph.number}"] = weakref.ref(graph)
        return refs

    @staticmethod
    def building(session):
        """Every kind of plan that a graph can have, and one of them in use."""
        decisions = session.workload.decisions
        if session.step == 1:
            session.handle = 0
            for wanted in ("cut", "eager"):
                session.handle = session.build((next(d for d, x in enumerate(decisions) if x.options[1] == wanted), 1))
                session.probe(session.handle)
        return session.handle

    def test_no_batch_outlives_its_step(self):
        refs = {}
        with support.scripted(self.building) as made:
            self.cell(refs=refs)
            self.assertEqual([name for name in alive(refs) if name.startswith("batch")], ["batch 11"],
                             "that of the latest step is what a probe would take")
        self.assertEqual(len(made), 1)

    def test_a_job_that_was_closed_frees_its_graphs_and_the_model(self):
        for step_of in (None, blazed.torch.train_step):
            with support.scripted(self.building) as made:
                refs = self.cell(step_of=step_of)
                self.assertEqual(len(made), 1)
                blazed.torch.current_job().close()
                made.clear()
                torch._dynamo.reset()
                self.assertEqual(alive(refs), [])

    def test_a_model_that_nobody_has_any_more_is_freed_before_the_job_was_described(self):
        with support.scripted(self.building) as made:
            refs = self.cell(steps=2)
            torch._dynamo.reset()
            self.assertEqual((alive(refs), made), ([], []))
            self.assertEqual(blazed.torch.current_job().graphs, [])

    def test_a_cell_that_is_run_again_frees_what_it_made_before(self):
        with support.scripted(self.building) as made:
            before = self.cell()
            torch._dynamo.reset()
            after = self.cell(steps=40)
            self.assertEqual([session.closed for session in made], [True, False])
            del made[0]
            self.assertEqual(alive(before), [])
            self.assertIn("graph 1", alive(after))

    def test_a_program_that_is_compiled_later_is_what_the_real_inputs_gave(self):
        """Padding changes nothing on the CPU, so that a graph compiled with it has to come out as the default did."""
        class Writing(torch.nn.Module):
            def __init__(self):
                super().__init__()
                torch.manual_seed(0)
                self.inner = support.model(dropout=0.1)
                self.tied = torch.nn.Linear(4, 16, bias=False)
                self.tied.weight = torch.nn.Parameter(self.inner[3].weight.detach().t().clone())
                self.register_buffer("seen", torch.zeros(16))

            def forward(self, x, column):
                self.seen += x.detach().sum(0)
                return self.tied(self.inner(x)) + column[:, None] * x.t()[0][:, None]

        with support.scripted(lambda session: 0):
            module = Writing()
            compiled = torch.compile(module, backend=blazed.torch.backend, dynamic=False)
            x = torch.randn(16, 8).t()  # by columns, and one of its columns beside it
            compiled(x, x[:, 3]).sum().backward()
            (graph,) = blazed.torch.current_job().graphs
            later = graph.program(Way(padded=True))
        self.assertEqual(later.directions.keys(), graph.default.directions.keys())
        for name, direction in later.directions.items():
            default = graph.default.directions[name]
            self.assertEqual(direction.default.signature, default.default.signature, name)
            self.assertEqual(direction.default.strides, default.default.strides)
            self.assertEqual(direction.default.mutated, default.default.mutated)
            for given in ("static_input_idxs", "is_inference"):
                self.assertEqual(direction.source.arguments.get(given), default.source.arguments.get(given), given)

    def test_a_closed_job_trains_on_untuned(self):
        with support.scripted(self.building) as made:
            job = blazed.torch.current_job()

            def each(step):
                if step == 8:
                    job.close()

            module = support.model()
            losses = support.train(16, torch.compile(module, backend=blazed.torch.backend, dynamic=False), module, each)
            self.assertEqual((len(made), job.plan_in_use(), job.why_not), (1, 0, "the job was closed"))
        torch._dynamo.reset()
        module = support.model()
        plain = support.train(16, torch.compile(module, dynamic=False), module)
        self.assertEqual([round(a - b, 3) for a, b in zip(losses, plain)], [0.0] * 16, "one plan rounds otherwise")


if __name__ == "__main__":
    unittest.main()
