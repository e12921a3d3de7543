"""The hooks by which the compiler asks what may be fused and how a product is computed.

A handler stands in front of the one that is active and answers what the plan decides; everything
else it hands on, so that handlers of other libraries go on working. It is set inside each compile,
because the compiler keeps it by thread and a backward pass may be compiled on another one.
"""

import dataclasses
from typing import Any, Dict, FrozenSet, List, Optional, Set, Tuple

from ..log import logger
from . import fusion_table, fx_nodes, kernel_traffic, materialise, products, scheduled
from .recipe import Pair, Recipe

LONG_PERSISTENT = "long persistent reductions"  # a reduction keeps its row at once up to 16 times the length
HOOKS = (LONG_PERSISTENT,)


class FusionHandler:
    """Wraps `base`, an InductorChoices. Good for one compile."""

    def __init__(self, base: Any, recipe: Recipe = Recipe()) -> None:
        self._base = base
        self.notes: kernel_traffic.Notes = {}  # of this compile's kernels
        self._recipe = recipe
        self._templates = dict(recipe.templates)
        self._scheduler: Any = None
        self._graph: Any = None  # the compiler's, where products were asked for
        self._operations: Tuple[fusion_table.Operation, ...] = ()
        self._cuts: FrozenSet[Pair] = frozenset()  # by the names of this compile
        self._alone: FrozenSet[str] = frozenset()
        self._products: List[fusion_table.Product] = []
        self._classes: Dict[int, Dict[str, bytes]] = {}  # of nodes, by graph
        self._could_mix = False
        self._reorderings = _reorderings()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._base, name)

    # ---- asked by the compiler ----

    def can_fuse(self, scheduler: Any, node1: Any, node2: Any, shared_data_score: int) -> bool:
        if self._scheduler is not scheduler:
            self._meet(scheduler)
        if self._refuses(_names(scheduler, node1), _names(scheduler, node2)):
            return False
        return bool(self._base.can_fuse(scheduler, node1, node2, shared_data_score))

    def get_template_configs(self, kernel_inputs: Any, templates: Any, op_name: str, *more: Any, **named: Any) -> Any:
        option = products.LIBRARY
        try:
            option = self._option_for(kernel_inputs, op_name)
        except Exception:  # of a release that hands over something else: nothing is decided here
            logger.debug("a product is left to the compiler", exc_info=True)
        if option != products.LIBRARY:
            choice = products.chosen(self._base, kernel_inputs, op_name, option)
            if choice is not None:
                return [choice]
            self._products[-1] = dataclasses.replace(self._products[-1], done_by=products.LIBRARY)
        return self._base.get_template_configs(kernel_inputs, templates, op_name, *more, **named)

    def should_use_persistent_reduction(self, features: Any, cooperative_reduction: bool) -> bool:
        from torch._inductor import config

        if LONG_PERSISTENT not in self._recipe.hooks:
            return bool(self._base.should_use_persistent_reduction(features, cooperative_reduction))
        # The compiler's own longer limit, which it keeps for when it compiles both and times them.
        with config.patch({"triton.multi_kernel": 1}):
            return bool(self._base.should_use_persistent_reduction(features, cooperative_reduction))

    # ---- after the compile ----

    def table(self) -> Optional[fusion_table.FusionTable]:
        """What was done in the compile that just ended; None where the compiler asked nothing: its
        result came from a cache, or there was nothing to decide."""
        if self._scheduler is None:
            scheduler = getattr(self._graph, "scheduler", None)
            if scheduler is None:
                return None
            self._meet(scheduler)  # nothing was fused
        traits = scheduled.traits_of(self._scheduler, self._could_mix, _reorderings() > self._reorderings)
        return fusion_table.FusionTable(self._operations, scheduled.kernels_of(self._scheduler),
                                        tuple(self._products), traits, kernel_traffic.table_of(self.notes))

    # ---- its own ----

    def _meet(self, scheduler: Any) -> None:
        self._scheduler = scheduler
        self._operations = scheduled.operations_of(scheduler)
        self._could_mix = self._recipe.empty() and scheduled.could_mix_orders(scheduler)  # asked of the default
        here = {o.anchor: o.name for o in self._operations}
        self._cuts = frozenset((here[a], here[b]) for a, b in self._recipe.cuts if a in here and b in here)
        self._alone = frozenset(here[anchor] for anchor in self._recipe.alone if anchor in here)
        if self._alone:
            _forbid_fusion(scheduler, self._alone)

    def _class_of(self, node: Any) -> bytes:
        node = materialise.marked(node)
        classes = self._classes.get(id(node.graph))
        if classes is None:
            classes = self._classes[id(node.graph)] = fx_nodes.classes_of(node.graph)
        return classes.get(node.name, b"")

    def _option_for(self, inputs: Any, name: str) -> str:
        """How the plan computes the product that is being lowered, noted as the latest one."""
        from torch._inductor import config
        from torch._inductor.virtualized import V

        node = getattr(V.graph, "current_node", None)
        # With the compiler's own choice by timing on there is no default to hold an option against.
        if name not in products.NAMES or node is None or config.max_autotune or config.max_autotune_gemm:
            return products.LIBRARY
        self._graph = V.graph
        kind = self._class_of(node)
        option = self._templates.get(kind, products.LIBRARY)
        product = products.described(inputs, name, node, kind, option)
        if product is None or any(known.anchor == product.anchor for known in self._products):
            return products.LIBRARY
        self._products.append(product)
        return option

    def _refuses(self, first: Set[str], second: Set[str]) -> bool:
        if not self._alone.isdisjoint(first) or not self._alone.isdisjoint(second):
            return True
        return any((a in first and b in second) or (b in first and a in second)
                   for a, b in self._cuts)


def _forbid_fusion(scheduler: Any, operations: FrozenSet[str]) -> None:
    """Where the compiler looks before it tries other orders of loops, which a refusal by can_fuse
    comes too late for."""
    from torch._inductor.virtualized import V

    forbidden = getattr(V.graph, "no_fuse_buffer_names", None)
    if forbidden is None:
        return
    for node in scheduler.nodes:
        for inner in node.get_nodes():
            if inner.get_name() in operations:
                forbidden.update(buffer.get_name() for buffer in inner.get_outputs())


def _reorderings() -> int:
    """How often the compiler has put loops into another order in this process."""
    from torch._inductor import metrics

    return int(getattr(metrics, "num_loop_reordering", 0))


def _names(scheduler: Any, node: Any) -> Set[str]:
    # A mix-order group asks about one of its halves only; what counts is the whole group.
    names = {inner.get_name() for inner in node.get_nodes()}
    for name in tuple(names):
        whole = scheduler.name_to_fused_node.get(name)
        if whole is not None:
            names.update(inner.get_name() for inner in whole.get_nodes())
    return names
