"""A plan of the daemon, made ready to run: how the step is launched and its optimisers run, for each graph the program
and the variants of it."""

import dataclasses
from typing import Any, Dict, List, Optional, Sequence, Tuple

from . import identity, launch, space, updates
from .direction import Direction
from .graph import Graph
from .honoured import Refused
from .program import EAGER, Program, Way
from .recipe import Recipe
from .variant import Variant

Choices = Sequence[Tuple[int, int]]  # decision, option

_WAYS = {space.CHOICE: ("compiled", EAGER), space.PADDING: ("as the compiler decides", "always")}


@dataclasses.dataclass
class Built:
    programs: Tuple[Tuple[Graph, Program], ...]
    variants: Tuple[Tuple[Direction, Variant], ...]
    launch: str = launch.STREAMS
    whole_step: Optional[Any] = None  # the recording, where the launch asks for one
    way: str = updates.AS_IT_IS  # of the optimisers
    updates: Optional[Any] = None  # made ready, where the way is another

    def latch(self) -> None:
        """From here on the graphs run this plan. Session's thread, between steps."""
        for graph, program in self.programs:
            graph.current = program
        for direction, variant in self.variants:
            direction.current = variant

    def changes(self, graph: Graph) -> bool:
        """Whether it runs this graph otherwise than the default plan does."""
        program = next((program for each, program in self.programs if each is graph), graph.default)
        return program is not graph.default or any(
            variant is not direction.default for direction, variant in self.variants
            if any(direction is own for own in program.directions.values()))

    def failed_backward(self) -> str:
        """The error of a backward pass under one of its variants; empty where none failed."""
        return next((why for direction, variant in self.variants for why in [direction.failure_of(variant)] if why), "")

    def look_at_recordings(self) -> None:
        """After some runs: raises Refused where CUDA graphs were asked for and none of the compiled graphs went through
        one."""
        ran = [d.ran_recorded() for _, program in self.programs for d in program.directions.values()]
        if self.launch == launch.GRAPHS and ran and not any(ran):
            raise Refused("the compiler gave up its CUDA graphs when they first ran")

    def signature(self) -> bytes:
        """Of what ran in the latest call of each direction, not of what was asked."""
        parts: List[object] = []
        for index, (_, program) in enumerate(self.programs):
            parts += [index, program.launched]
            for _, direction in sorted(program.directions.items()):
                ran = direction.ran or direction.default
                parts += [ran.signature, *[launch.GRAPHS] * direction.ran_recorded()]
        if self.whole_step is not None and self.whole_step.replayed:
            parts.append(launch.WHOLE_STEP)
        if self.updates is not None and self.updates.ran():
            parts.append(self.updates.way)
        return identity.digest("plan", *parts)


def ways_for(device: str) -> List[Tuple[str, Tuple[str, ...]]]:
    """The decisions on how one graph runs on this type of device: kind, and options with the default first."""
    kinds = (space.CHOICE, space.PADDING) if device == "cuda" else (space.CHOICE,)
    return [(kind, _WAYS[kind]) for kind in kinds]


def default(graphs: Sequence[Graph]) -> Built:
    return _of([(graph, graph.default) for graph in graphs], {}, launch.STREAMS)


def build(graphs: Sequence[Graph], decisions: Sequence[space.Decision], choices: Choices) -> Built:
    """Compiles what is not there yet; raises variant.Refused or what the compiler raises. A step that is to be
    replayed has yet to be recorded. Waits for the end of a compile on another thread."""
    launched, way = launch.STREAMS, updates.AS_IT_IS
    ways: Dict[int, Dict[str, bool]] = {index: {} for index in range(len(graphs))}
    asks: space.Asks = {}
    for number, option in choices:
        decision = space.named(decisions, number, option)
        if decision.kind == space.LAUNCH:
            launched = decision.options[option]
        elif decision.kind == space.UPDATE:
            way = decision.options[option]
        elif decision.kind == space.CHOICE:
            ways[decision.graph]["eager"] = True
        elif decision.kind == space.PADDING:
            ways[decision.graph]["padded"] = True
        else:
            space.add_choice(asks, decision, option)
    as_graphs = launched == launch.GRAPHS
    with compiler_alone():
        programs = [(graph, graph.program(Way(graphs=as_graphs, **ways[index]))) for index, graph in enumerate(graphs)]
        return _of(programs, asks, launched, way)


def compiler_alone() -> Any:
    """What a plan sets for its compiles holds for the whole process: nothing else is to be compiled meanwhile."""
    from torch._dynamo import convert_frame

    return convert_frame.compile_lock


def _of(programs: List[Tuple[Graph, Program]], asks: space.Asks, launched: str, way: str = updates.AS_IT_IS) -> Built:
    variants = []
    for index, (_, program) in enumerate(programs):
        for name, direction in program.directions.items():
            recipe = asks[index, name].recipe(direction) if (index, name) in asks else Recipe()
            variants.append((direction, direction.variant(recipe)))
    return Built(tuple(programs), tuple(variants), launched, way=way)
