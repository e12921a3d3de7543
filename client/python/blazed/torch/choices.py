"""The hook by which the compiler asks what may be fused.

A handler stands in front of the one that is active and refuses what the plan forbids; everything
else it hands on, so that handlers of other libraries go on working. It is set inside each compile,
because the compiler keeps it by thread and a backward pass may be compiled on another one.
"""

from typing import Any, FrozenSet, Optional, Set, Tuple

from . import fusion_table

Pair = Tuple[str, str]  # names of two operations, good within this graph


class FusionHandler:
    """Wraps `base`. `cuts`: pairs that may share no kernel. `alone`: operations that share with none."""

    def __init__(self, base: Any, cuts: FrozenSet[Pair] = frozenset(),
                 alone: FrozenSet[str] = frozenset()) -> None:
        self._base = base
        self._cuts = cuts
        self._alone = alone
        self._scheduler: Any = None
        self._operations: Tuple[fusion_table.Operation, ...] = ()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._base, name)

    def can_fuse(self, scheduler: Any, node1: Any, node2: Any, shared_data_score: int) -> bool:
        if self._scheduler is not scheduler:
            self._scheduler = scheduler
            self._operations = fusion_table.operations_of(scheduler)
        if self._refuses(_names(scheduler, node1), _names(scheduler, node2)):
            return False
        return bool(self._base.can_fuse(scheduler, node1, node2, shared_data_score))

    def table(self) -> Optional[fusion_table.FusionTable]:
        """What was fused in the compile that just ended; None where the compiler asked nothing:
        its result came from a cache, or there was nothing to fuse."""
        if self._scheduler is None:
            return None
        return fusion_table.FusionTable(self._operations, fusion_table.kernels_of(self._scheduler))

    def _refuses(self, first: Set[str], second: Set[str]) -> bool:
        if not self._alone.isdisjoint(first) or not self._alone.isdisjoint(second):
            return True
        return any((a in first and b in second) or (b in first and a in second)
                   for a, b in self._cuts)


def _names(scheduler: Any, node: Any) -> Set[str]:
    # A mix-order group asks about one of its halves only; what counts is the whole group.
    names = {inner.get_name() for inner in node.get_nodes()}
    for name in tuple(names):
        whole = scheduler.name_to_fused_node.get(name)
        if whole is not None:
            names.update(inner.get_name() for inner in whole.get_nodes())
    return names


