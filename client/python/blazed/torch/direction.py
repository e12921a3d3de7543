"""Forward or backward of one compiled program: its variants, and which one the coming calls run.

The default result is used at once and kept for life; further variants are compiled later from the
same capture. Which one runs is set between steps and holds until the next step, for forward,
backward and every recompute alike, so that what a step cost is what one plan costs.
"""

from typing import Any, Callable, Dict, List, Optional, Sequence, Set

from . import fx_nodes
from .recipe import Recipe
from .variant import Source, Variant, compile_default, compile_variant

FORWARD, BACKWARD = "forward", "backward"


class Direction:
    """The framework calls what `entry` returns, on whatever thread it runs that direction on;
    everything else belongs to the session's thread, between steps."""

    def __init__(self, name: str, source: Source) -> None:
        self.name = name
        self.source = source
        self.default = compile_default(source)
        self.current = self.default
        self.ran: Optional[Variant] = None  # of the latest call
        self._failed: Dict[int, str] = {}  # variants by identity, and their errors
        self._skipped: Set[int] = set()  # variants by identity, whose CUDA graph the compiler did not run
        self.variants: Dict[Recipe, Variant] = {Recipe(): self.default}
        self._node_classes: Dict[str, bytes] = {}

    def entry(self) -> Callable[[List[Any]], Sequence[Any]]:
        """A plain function: the framework wraps it and copies its attributes."""

        def call(args: List[Any]) -> Sequence[Any]:
            ran = self.ran = self.current
            try:
                return self._through_a_graph(ran, args) if ran.recorded else ran.call(args)
            except Exception as error:
                self._note_failure(ran, error)
                raise

        call._boxed_call = True  # type: ignore[attr-defined]  # the list handed over is emptied
        return call

    def failure_of(self, variant: Variant) -> str:
        """Of a backward pass, whose inputs are gone when it has failed, so that it cannot be run again under the default:
        the script sees its error, once."""
        return self._failed.get(id(variant), "")

    def _note_failure(self, ran: Variant, error: Exception) -> None:
        if self.name == BACKWARD and ran is not self.default and any(ran is v for v in self.variants.values()):
            self._failed[id(ran)] = f"{type(error).__name__}: {error}"[:160]
            self.current = self.default

    def ran_recorded(self) -> bool:
        """Whether the latest call went through a CUDA graph, or on its way to one: a recording is made in early calls."""
        return self.ran is not None and self.ran.recorded and id(self.ran) not in self._skipped

    def _through_a_graph(self, variant: Variant, args: List[Any]) -> Sequence[Any]:
        before = _skips()
        try:
            return variant.call(args)
        finally:
            if _skips() != before:  # it says so once, and goes on without one
                self._skipped.add(id(variant))

    def node_classes(self) -> Dict[str, bytes]:
        """Of the captured graph, by the names of its nodes."""
        if not self._node_classes:
            self._node_classes = fx_nodes.classes_of(self.source.module.graph)
        return self._node_classes

    def variant(self, recipe: Recipe) -> Variant:
        """Compiles it where it is not there yet; variant.compile_variant says what is raised."""
        found = self.variants.get(recipe)
        if found is None:
            found = self.variants[recipe] = compile_variant(self.source, recipe, self.default)
        return found

    def keep_only(self, wanted: Sequence[Variant]) -> None:
        """Forgets variants that no plan names any more; never the default."""
        kept = {id(v) for v in (self.default, self.current, *wanted)}
        self.variants = {recipe: v for recipe, v in self.variants.items() if id(v) in kept}
        self._skipped &= kept
        self._failed = {key: why for key, why in self._failed.items() if key in kept}


def _skips() -> int:
    """How often the compiler's CUDA graphs gave up in this process."""
    from torch._dynamo.utils import counters

    return int(counters["inductor"]["cudagraph_skips"])
