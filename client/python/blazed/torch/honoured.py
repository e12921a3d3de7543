"""Whether a compile did what a recipe asked: read from its table, never taken on trust."""

from typing import Any, Sequence

from .fusion_table import TEMPLATE, FusionTable
from .recipe import Recipe


class Refused(Exception):
    """The compiler's result cannot stand in for the default; the text is one sentence."""


def look(table: FusionTable, recipe: Recipe) -> None:
    """Raises Refused where something that was asked for is not there."""
    named = {o.anchor: o.name for o in table.operations}
    for anchor in sorted(recipe.written):
        if anchor not in named:
            raise Refused(f"the compiler computes {anchor} in its readers although the plan writes it out")
    for anchors in sorted(recipe.cuts):
        a, b = (_found(named, anchor) for anchor in anchors)
        if table.together(a, b):
            raise Refused(f"the compiler merged {anchors[0]} and {anchors[1]} although the plan keeps them apart")
    kernels = {name: kernel for kernel in table.kernels for name in kernel}
    for anchor in sorted(recipe.alone):
        if len(kernels.get(_found(named, anchor), ())) > 1:
            raise Refused(f"the compiler merged {anchor} with others although the plan keeps it alone")
    _look_at_products(table, recipe)


def look_at_recordings(variants: Sequence[Any]) -> None:
    """Raises Refused where CUDA graphs were asked for, and the compiler runs none of these through one."""
    if any(variant.recorded for variant in variants):
        return
    reasons = dict.fromkeys(variant.why_not_recorded for variant in variants if variant.why_not_recorded)
    raise Refused("the compiler runs this graph without a CUDA graph: " + ("; ".join(reasons) or "it does not say why"))


def _look_at_products(table: FusionTable, recipe: Recipe) -> None:
    forms = {o.anchor: o.form for o in table.operations}
    for kind, option in sorted(recipe.templates):
        here = [product for product in table.products if product.kind == kind]
        if not here:
            raise Refused("the plan names a product of matrices that this graph does not hold")
        for product in here:
            if product.done_by != option or forms.get(product.anchor) != TEMPLATE:
                raise Refused(f"the compiler has no {option} for {product.anchor}, so the library computes it")


def _found(named: "dict[str, str]", anchor: str) -> str:
    if anchor not in named:
        raise Refused(f"the compiler made no operation of {anchor}, which the plan keeps apart")
    return named[anchor]
