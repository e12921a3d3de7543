"""Where a captured graph could be run otherwise, and what each option asks of the compiler.

Repeats of a layer are one decision: pairs of operations of one class are kept apart together or not
at all. Identities are made of classes, never of names or positions, so that two processes that
describe the same program agree.
"""

import dataclasses
from typing import Dict, FrozenSet, Iterable, List, Sequence, Tuple

from . import identity
from .direction import Direction
from .graph import Graph
from .recipe import Recipe

MOST_DECISIONS = 160  # of a step; the rest would only lengthen the search
_NAME_BYTES = 96
BOUNDARY, CHOICE = "boundary", "choice"
LAUNCH = "launch"  # of the whole step; launch.py
PADDING = "padding"  # of one graph
WHOLE = -1  # in place of a graph
HEAVIEST = 1 << 62
_WORDS = {CHOICE: "runs as", PADDING: "pads its shapes as"}


@dataclasses.dataclass(frozen=True)
class Decision:
    """`options[0]` is the framework's own way. `graph`: index into the workload's graphs, or WHOLE."""

    id: bytes
    name: str
    kind: str
    options: Tuple[str, ...]
    graph: int
    sites: int
    reorders_sums: bool
    weight: int  # bytes that it moves; what is left out where there are too many weighs least
    direction: str = ""  # of a boundary
    cut: Tuple[bytes, bytes] = (b"", b"")  # classes of the two operations


def decisions_of(graphs: Sequence[Graph], ways: Sequence[Tuple[str, Sequence[str]]]) -> Tuple[Decision, ...]:
    """`ways`: kinds of decisions on how a graph runs and their options, the default first. In an order that depends
    on the graphs alone."""
    found: List[Decision] = []
    for index, graph in enumerate(graphs):
        fingerprint = graph.fingerprint()
        for kind, options in ways:
            found.append(Decision(identity.digest(kind, *options, fingerprint), f"graph {index} {_WORDS[kind]}",
                                  kind, tuple(options), index, 1, True, HEAVIEST))
        for direction in graph.default.directions.values():
            found += _boundaries(index, fingerprint, direction)
    found.sort(key=lambda d: (-d.weight, d.graph, d.id))
    kept = found[:MOST_DECISIONS]
    kept.sort(key=lambda d: (d.graph, d.direction, d.id))
    return tuple(_told_apart(kept))


def _boundaries(index: int, fingerprint: bytes, direction: Direction) -> List[Decision]:
    table = direction.default.table
    if table is None:
        return []
    kernel = table.kernel_of()
    by_name = {o.name: o for o in table.operations}
    sites: Dict[Tuple[bytes, bytes], List[Tuple[str, str]]] = {}
    for reader in table.operations:
        for read in reader.reads:
            if read in kernel and kernel[read] == kernel.get(reader.name):
                sites.setdefault((by_name[read].kind, reader.kind), []).append((read, reader.name))
    decisions = []
    for pair, places in sites.items():
        first, second = by_name[places[0][0]], by_name[places[0][1]]
        name = f"{direction.name} {first.text} | {second.text}"
        sums = any(word in first.text + second.text for word in ("sum", "mean", "var", "norm", "softmax"))
        decisions.append(Decision(identity.digest("cut", direction.name, fingerprint, *pair), name, BOUNDARY,
                                  ("merged", "cut"), index, min(len(places), 65535), sums,
                                  first.bytes_written * len(places), direction=direction.name, cut=pair))
    return decisions


def _told_apart(decisions: Iterable[Decision]) -> List[Decision]:
    """Names that people can tell apart, in plain ASCII and short enough."""
    seen: Dict[str, int] = {}
    out = []
    for decision in decisions:
        name = decision.name.encode("ascii", "replace").decode()
        base = "".join(c if c.isprintable() else "?" for c in name)[: _NAME_BYTES - 8]
        seen[base] = seen.get(base, 0) + 1
        out.append(dataclasses.replace(decision, name=base if seen[base] == 1 else f"{base} ({seen[base]})"))
    return out


def recipe_for(direction: Direction, cuts: FrozenSet[Tuple[bytes, bytes]]) -> Recipe:
    """What these cuts ask of one direction, by the names of this process."""
    table = direction.default.table
    if table is None or not cuts:
        return Recipe()
    by_name = {o.name: o for o in table.operations}
    pairs = frozenset((read, reader.name) for reader in table.operations for read in reader.reads
                      if read in by_name and (by_name[read].kind, reader.kind) in cuts)
    return Recipe(cuts=pairs)
