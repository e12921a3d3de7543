"""Places of forward and the copies of them that checkpointing runs again in backward.

With one copy run otherwise than the other, a recomputed value may differ in its last bits from the
one that forward used, which a routing by comparison turns into another branch. So a place and its
copy are one decision. A copy keeps the names of its nodes.
"""

from typing import Dict, FrozenSet, List, Sequence, Set, Tuple

from .direction import BACKWARD, FORWARD
from .fusion_table import node_of
from .graph import Graph
from .offer import Offer

Parts = List[Tuple[str, Offer]]  # direction and offer


def paired(graph: Graph, offers: Dict[str, Sequence[Offer]]) -> List[Parts]:
    """Every offer once, twins together, the forward ones first."""
    recomputed = _recomputed(graph)
    groups: List[Parts] = [[(FORWARD, offer)] for offer in offers.get(FORWARD, ())]
    for offer in offers.get(BACKWARD, ()):
        twins = [group for group in groups if _are_twins(group, offer, recomputed)] if recomputed else []
        if not twins:
            groups.append([(BACKWARD, offer)])
            continue
        for other in twins[1:]:  # a copy that stands for several places ties those as well
            twins[0].extend(other)
            groups.remove(other)
        twins[0].append((BACKWARD, offer))
        twins[0].sort(key=lambda part: part[0] == BACKWARD)
    return groups


def _are_twins(group: Parts, offer: Offer, recomputed: FrozenSet[str]) -> bool:
    return any(direction == FORWARD and one.kind == offer.kind and one.options == offer.options
               and _shared(one, offer, recomputed) for direction, one in group)


def _shared(one: Offer, other: Offer, recomputed: FrozenSet[str]) -> bool:
    both: Set[Tuple[str, ...]] = set(one.anchors) & set(other.anchors)
    return any(node_of(anchor) in recomputed for anchors in both for anchor in anchors)


def _recomputed(graph: Graph) -> FrozenSet[str]:
    """Nodes of forward that the job asked to be computed again."""
    forward = graph.default.directions.get(FORWARD)
    if forward is None:
        return frozenset()
    return frozenset(node.name for node in forward.source.module.graph.nodes
                     if getattr(node.meta.get("recompute"), "name", "") in ("MUST_RECOMPUTE", "PREFER_RECOMPUTE"))
