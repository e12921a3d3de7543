"""A plan of the daemon, made ready to run: for each graph the program and the variants of it."""

import dataclasses
from typing import Dict, List, Sequence, Tuple

from . import identity, space
from .direction import Direction
from .graph import Graph
from .program import Program
from .variant import Variant

Choices = Sequence[Tuple[int, int]]  # decision, option


@dataclasses.dataclass(frozen=True)
class Built:
    programs: Tuple[Tuple[Graph, Program], ...]
    variants: Tuple[Tuple[Direction, Variant], ...]

    def latch(self) -> None:
        """From here on the graphs run this plan. Session's thread, between steps."""
        for graph, program in self.programs:
            graph.current = program
        for direction, variant in self.variants:
            direction.current = variant

    def signature(self) -> bytes:
        """Of what ran in the latest call of each direction, not of what was asked."""
        parts: List[object] = []
        for graph, program in self.programs:
            parts += [graph.number, program.launched]
            parts += [d.ran.signature for _, d in sorted(program.directions.items())]
        return identity.digest(*parts)


def default(graphs: Sequence[Graph]) -> Built:
    return _of([(graph, graph.default) for graph in graphs], {})


def build(graphs: Sequence[Graph], decisions: Sequence[space.Decision], choices: Choices) -> Built:
    """Compiles what is not there yet; raises variant.Refused or what the compiler raises."""
    programs = {index: graph.default for index, graph in enumerate(graphs)}
    cuts: Dict[Tuple[int, str], set] = {}
    for number, option in choices:
        decision = decisions[number]
        if decision.kind == space.CHOICE:
            programs[decision.graph] = graphs[decision.graph].program(decision.options[option])
        else:
            cuts.setdefault((decision.graph, decision.direction), set()).add(decision.cut)
    return _of([(graphs[i], p) for i, p in programs.items()],
               {key: frozenset(pairs) for key, pairs in cuts.items()})


def _of(programs: List[Tuple[Graph, Program]], cuts: Dict[Tuple[int, str], frozenset]) -> Built:
    variants = []
    for index, (_, program) in enumerate(programs):
        for name, direction in program.directions.items():
            recipe = space.recipe_for(direction, cuts.get((index, name), frozenset()))
            variants.append((direction, direction.variant(recipe)))
    return Built(tuple(programs), tuple(variants))
