"""What a plan asks of one direction of one graph, in the compiler's own terms."""

import dataclasses
from typing import Any, FrozenSet, Tuple

from . import identity
from .choices import Pair


@dataclasses.dataclass(frozen=True)
class Recipe:
    """Empty: the compiler's own way. Hashable, so that plans that agree here share one result."""

    cuts: FrozenSet[Pair] = frozenset()
    alone: FrozenSet[str] = frozenset()
    settings: Tuple[Tuple[str, Any], ...] = ()  # of torch._inductor.config, sorted by name

    def empty(self) -> bool:
        return not (self.cuts or self.alone or self.settings)

    def and_also(self, other: "Recipe") -> "Recipe":
        settings = dict(self.settings)
        settings.update(other.settings)
        return Recipe(self.cuts | other.cuts, self.alone | other.alone, tuple(sorted(settings.items())))

    def tag(self) -> str:
        """Keeps results of this recipe apart in the compiler's cache. Empty for the compiler's own
        way, whose results are shared with jobs that do not use blazed."""
        if self.empty():
            return ""
        parts = [*sorted(map(repr, self.cuts)), b"|", *sorted(self.alone), b"|", *map(repr, self.settings)]
        return "blazed-" + identity.digest(*parts).hex()
