"""What an option asks of one direction, by classes that hold in every process."""

import dataclasses
from typing import Any, FrozenSet, Tuple

from .recipe import Recipe, Settings


@dataclasses.dataclass(frozen=True)
class Ask:
    """Classes are of operations (fusion_table) for `cuts` and `alone`, of nodes of the captured
    graph for `written` and `written_apart`, of nodes that the compiler lowers for `templates`."""

    cuts: FrozenSet[Tuple[bytes, bytes]] = frozenset()
    alone: FrozenSet[bytes] = frozenset()
    written: FrozenSet[bytes] = frozenset()
    written_apart: FrozenSet[bytes] = frozenset()  # and in no kernel with another
    templates: FrozenSet[Tuple[bytes, str]] = frozenset()
    hooks: FrozenSet[str] = frozenset()
    settings: Settings = ()

    def and_also(self, other: "Ask") -> "Ask":
        settings = dict(self.settings)
        settings.update(other.settings)
        return Ask(self.cuts | other.cuts, self.alone | other.alone, self.written | other.written,
                   self.written_apart | other.written_apart, self.templates | other.templates,
                   self.hooks | other.hooks, tuple(sorted(settings.items())))

    def recipe(self, direction: Any) -> Recipe:
        """In the terms of `direction`, a direction.Direction. What it does not hold is left out: a
        graph that runs as another program may have fewer places."""
        cuts, alone = self._operations(direction)
        written, apart = self._nodes(direction)
        return Recipe(cuts, alone | apart, written | apart, self.templates, self.hooks, self.settings)

    def _operations(self, direction: Any) -> Tuple[FrozenSet[Tuple[str, str]], FrozenSet[str]]:
        table = direction.default.table
        if table is None or not (self.cuts or self.alone):
            return frozenset(), frozenset()
        by_name = {o.name: o for o in table.operations}
        cuts = {(by_name[read].anchor, reader.anchor) for reader in table.operations for read in reader.reads
                if read in by_name and (by_name[read].kind, reader.kind) in self.cuts}
        return frozenset(cuts), frozenset(o.anchor for o in table.operations if o.kind in self.alone)

    def _nodes(self, direction: Any) -> Tuple[FrozenSet[str], FrozenSet[str]]:
        if not self.written and not self.written_apart:
            return frozenset(), frozenset()
        classes = direction.node_classes().items()
        return (frozenset(name for name, kind in classes if kind in self.written),
                frozenset(name for name, kind in classes if kind in self.written_apart))
