"""A job in the words of the session: its graphs, and the decisions of its step."""
from typing import Any, List, Optional, Sequence, Tuple

from .. import describe as words
from ..enums import DecisionKind, Regime, Result
from . import identity, launch, plan, recorder, space, support, updates
from .graph import Graph
from .program import EAGER
from .train_step import TrainStep


def decisions_of(graphs: Sequence[Graph], calls: int, device: str, step: Optional[TrainStep]) -> List[space.Decision]:
    """How the step, which calls the graphs so often, is launched and its optimisers run, then those of the graphs."""
    whole = step is not None and step.offers_whole_step(recorder.for_device(device))
    found = [launch.decision(launch.options(device, calls, whole)), step.offered_updates() if step is not None else None]
    return [*filter(None, found), *space.decisions_of(graphs, plan.ways_for(device))]


def describe(session: Any, graphs: Sequence[Graph], decisions: Sequence[space.Decision], step: Optional[TrainStep],
             step_ns: int, peak_bytes: int, regime: Regime = Regime.TRAINING) -> str:
    """A step without a captured graph is described as one by what train_step knows of it. `peak_bytes`: of the default
    plan, 0 where nothing is known. Why the session only observes; empty where it does not."""
    told = [words.Graph(_fingerprint(graph, regime), f"graph{graph.number}", graph.nodes(), regime)
            for graph in graphs]
    if not told:
        told = [words.Graph(step.fingerprint(), "step", 1, Regime.TRAINING)]
    for graph in told:
        session.describe_graph(graph)
    result = session.describe_workload(words.Workload(
        support.workload_name(), [graph.fingerprint for graph in told],
        [_described(decision, len(graphs)) for decision in decisions], plan.default(graphs).signature(),
        default_peak_bytes=peak_bytes, default_step_ns=step_ns, default_build_ns=_build_ns(graphs)))
    return "" if result != Result.INVALID else f"the job's description was refused: {session.reason()}"


def _fingerprint(graph: Graph, regime: Regime) -> bytes:
    """A graph without a backward pass may also be a part of a step that trains, and is another one there."""
    found = graph.fingerprint()
    return identity.digest("forward", found) if regime == Regime.FORWARD else found


def _build_ns(graphs: Sequence[Graph]) -> int:
    """What compiling one direction takes here; most plans change one."""
    took = [d.default.build_ns for graph in graphs for d in graph.default.directions.values()]
    return max(took, default=0)


def _described(decision: space.Decision, graphs: int) -> words.Decision:
    # How the only graph of a step runs is how the step runs.
    whole = decision.kind in (space.LAUNCH, space.UPDATE) or (decision.kind in (space.CHOICE, space.PADDING) and graphs == 1)
    kind = DecisionKind.BOUNDARY if decision.kind == space.BOUNDARY else DecisionKind.CHOICE
    return words.Decision(decision.id, decision.name, decision.options, kind, 0 if whole else decision.graph + 1,
                          decision.sites, decision.reorders_sums, _guesses(decision))


def _guesses(decision: space.Decision) -> Tuple[int, ...]:
    """What the options take to build that compile nothing; 0: as long as other plans."""
    known = {launch.WHOLE_STEP: launch.RECORDING_NS, EAGER: 1, updates.FUSED: 1}
    if decision.kind not in (space.LAUNCH, space.UPDATE, space.CHOICE):
        return ()
    return tuple(known.get(option, 0) for option in decision.options)
