"""Where a captured graph could be run otherwise, and what each option asks of the compiler.

Repeats of a layer are one decision: places of one class follow it together. Identities are made of
classes, never of names or positions, so that two processes that describe the same program agree.
Which kinds of places there are is said by offers_*.py.
"""

import dataclasses
from typing import Dict, Iterable, List, Sequence, Tuple

from . import identity, offers_kernels, offers_products, offers_settings, offers_values, twins
from .ask import Ask
from .direction import Direction
from .graph import Graph
from .offer import BOUNDARY, PART, Offer

MOST_DECISIONS = 160  # of a step; the rest would only lengthen the search
_NAME_BYTES = 96
CHOICE = "choice"  # of how one graph runs
LAUNCH = "launch"  # of the whole step; launch.py
UPDATE = "update"  # of the optimisers; updates.py
PADDING = "padding"  # of one graph
WHOLE = -1  # in place of a graph
HEAVIEST = 1 << 62
_WORDS = {CHOICE: "runs as", PADDING: "pads its shapes as"}
_OFFERS = (offers_kernels, offers_values, offers_products, offers_settings)


@dataclasses.dataclass(frozen=True)
class Decision:
    """`options[0]` is the framework's own way. `graph`: index into the workload's graphs, or WHOLE."""

    id: bytes
    name: str
    kind: str  # BOUNDARY or PART of a direction, CHOICE or PADDING of a graph, LAUNCH or UPDATE of the step
    options: Tuple[str, ...]
    graph: int
    sites: int
    reorders_sums: bool
    weight: int  # bytes that it may save; what is left out where there are too many weighs least
    # By direction, what each option after the first asks of it; of BOUNDARY and PART alone.
    asks: Tuple[Tuple[str, Tuple[Ask, ...]], ...] = ()


def decisions_of(graphs: Sequence[Graph], ways: Sequence[Tuple[str, Sequence[str]]]) -> Tuple[Decision, ...]:
    """`ways`: kinds of decisions on how a graph runs and their options, the default first. The heaviest first, in an
    order that depends on the graphs alone."""
    found: List[Decision] = []
    seen: Dict[bytes, int] = {}
    for index, graph in enumerate(graphs):
        fingerprint = graph.fingerprint()
        before = seen[fingerprint] = seen.get(fingerprint, -1) + 1
        if before:  # captured more than once, as for a guard on a number that changes nothing
            fingerprint = identity.digest("again", before, fingerprint)
        for kind, options in ways:
            found.append(Decision(identity.digest(kind, *options, fingerprint), f"graph {index} {_WORDS[kind]}",
                                  kind, tuple(options), index, 1, True, HEAVIEST))
        offers = {name: _offers_of(direction) for name, direction in graph.default.directions.items()}
        found += [_decision(index, fingerprint, parts) for parts in twins.paired(graph, offers)]
    found.sort(key=lambda d: (-d.weight, d.graph, d.id))
    return tuple(_told_apart(found[:MOST_DECISIONS]))


def _offers_of(direction: Direction) -> List[Offer]:
    return [offer for kind in _OFFERS for offer in kind.offers_of(direction)]


def _decision(graph: int, fingerprint: bytes, parts: Sequence[Tuple[str, Offer]]) -> Decision:
    """Of one offer, or of the same one in both directions."""
    first = parts[0][1]
    where = " and ".join(dict.fromkeys(direction for direction, _ in parts))
    identities = [piece for direction, offer in parts for piece in (direction, *offer.identity)]
    return Decision(identity.digest(first.kind, fingerprint, *first.options, *identities), f"{where} {first.text}",
                    BOUNDARY if first.kind == BOUNDARY else PART, first.options, graph,
                    min(sum(offer.sites for _, offer in parts), 65535), any(offer.reorders_sums for _, offer in parts),
                    min(sum(offer.weight for _, offer in parts), HEAVIEST - 1),
                    tuple((direction, offer.asks) for direction, offer in parts))


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


Asks = Dict[Tuple[int, str], Ask]  # by graph and direction


def named(decisions: Sequence[Decision], number: int, option: int) -> Decision:
    """The decision of a plan's choice. Raises ValueError where there is none, or it has no such option."""
    if not 0 <= number < len(decisions):
        raise ValueError(f"the plan names decision {number} of {len(decisions)}")
    if not 0 < option < len(decisions[number].options):
        raise ValueError(f"the plan names option {option} of {decisions[number].name}, which has "
                         f"{len(decisions[number].options)}")
    return decisions[number]


def add_choice(asks: Asks, decision: Decision, option: int) -> None:
    """Adds to `asks` what `option` of a BOUNDARY or PART asks."""
    for direction, options in decision.asks:
        key = (decision.graph, direction)
        asks[key] = asks.get(key, Ask()).and_also(options[option - 1])

