"""What a plan asks of one direction of one graph, in the compiler's own terms."""

import dataclasses
from typing import Any, FrozenSet, Tuple

from . import identity

Pair = Tuple[str, str]
Settings = Tuple[Tuple[str, Any], ...]


@dataclasses.dataclass(frozen=True)
class Recipe:
    """Empty: the compiler's own way. Hashable, so that plans that agree here share one result.

    Operations go by their anchors (fusion_table.Operation), nodes by their names: both hold in every
    compile of one direction in one process, whatever else a recipe changes.
    """

    cuts: FrozenSet[Pair] = frozenset()  # operations that may share no kernel
    alone: FrozenSet[str] = frozenset()  # operations that share with none
    written: FrozenSet[str] = frozenset()  # nodes of the captured graph whose values go to memory
    templates: FrozenSet[Tuple[bytes, str]] = frozenset()  # class of a product, how it is computed
    hooks: FrozenSet[str] = frozenset()  # other answers of the handler, choices.HOOKS
    settings: Settings = ()  # of torch._inductor.config, sorted by name

    def empty(self) -> bool:
        return self == Recipe()

    def tag(self) -> str:
        """Keeps results of this recipe apart in the compiler's cache. Empty for the compiler's own
        way, whose results are shared with jobs that do not use blazed."""
        if self.empty():
            return ""
        parts = []
        for field in dataclasses.fields(self):
            parts += [field.name, *sorted(map(repr, getattr(self, field.name)))]
        return "blazed-" + identity.digest(*parts).hex()
