"""Values that the compiler computes anew in each reader, long before it asks what may be fused.

Offered are values that several kernels compute, and one in the middle of an operation that computes
very many, the largest first. `written` puts the value into memory, from where its readers may still
be merged with it; `written apart` also keeps it out of their kernels.
"""

from typing import Any, Dict, List, Set, Tuple

from . import fusion_table, fx_nodes, materialise
from .ask import Ask
from .direction import Direction
from .fusion_table import LOW_PRECISION, POINTWISE, REDUCTION, FusionTable, Operation
from .offer import WRITTEN, Offer

_MANY = 12  # nodes that one operation computes
_MOST = 16  # such decisions of one direction


def offers_of(direction: Direction) -> List[Offer]:
    table = direction.default.table
    if table is None or materialise.operation() is None:
        return []
    graph = direction.source.module.graph
    classes = direction.node_classes()
    sites: Dict[bytes, List[Tuple[Any, int]]] = {}
    for node, kernels in _inlined(graph, table):
        sites.setdefault(classes[node.name], []).append((node, kernels))
    offers = [_offer(kind, places) for kind, places in sites.items()]
    offers.sort(key=lambda offer: (-offer.weight, offer.identity))
    return offers[:_MOST]


def _offer(kind: bytes, places: List[Tuple[Any, int]]) -> Offer:
    node = places[0][0]
    value = node.meta["val"]
    shape = "x".join(map(str, value.shape)) or "scalar"
    asks = (Ask(written=frozenset({kind})), Ask(written_apart=frozenset({kind})))
    weight = sum(kernels * fx_nodes.bytes_of(place.meta["val"]) for place, kernels in places)
    words = fx_nodes.target(node).replace("aten.", "").replace(".default", "")
    return Offer(WRITTEN, f"value {words} {shape}", (kind,), ("in its readers", "written", "written apart"), asks,
                 len(places), weight, str(value.dtype) in LOW_PRECISION or _sums(node),
                 tuple((place.name,) for place, _ in places))


def _inlined(graph: Any, table: FusionTable) -> List[Tuple[Any, int]]:
    """With in how many kernels each is computed, in the graph's order."""
    kernel = table.kernel_of()
    nodes = {node.name: node for node in graph.nodes}
    in_memory = {fusion_table.node_of(operation.anchor) for operation in table.operations}
    computed_in: Dict[str, Set[int]] = {}
    middles: Set[str] = set()
    for operation in table.operations:
        inside = _computed_by(operation, nodes, in_memory)
        if len(inside) > _MANY:
            middles.add(_middle(inside))
        for name in inside:
            computed_in.setdefault(name, set()).add(kernel.get(operation.name, -1))
    return [(node, len(computed_in[name])) for name, node in nodes.items()
            if name in computed_in and name not in in_memory and _can_be_written(node)
            and (len(computed_in[name]) > 1 or name in middles)]


def _computed_by(operation: Operation, nodes: Dict[str, Any], in_memory: Set[str]) -> Dict[str, Any]:
    """What one pass over its result computes: from there back to what lies in memory. The compiler's
    own list of origins goes further, past values that were written after the list was made."""
    inside: Dict[str, Any] = {}
    start = nodes.get(fusion_table.node_of(operation.anchor))
    if operation.form not in (POINTWISE, REDUCTION) or start is None:
        return inside
    left = [start]
    while left:
        node = left.pop()
        inside[node.name] = node
        left += [read for read in node.all_input_nodes if read.op == "call_function"
                 and read.name not in inside and read.name not in in_memory]
    return inside


def _can_be_written(node: Any) -> bool:
    """A value of its own in memory: no view, no result of several, no constant."""
    import torch

    if not node.all_input_nodes or not isinstance(node.target, torch._ops.OpOverload):
        return False
    value = node.meta.get("val")
    if not isinstance(value, torch.Tensor) or not fx_nodes.bytes_of(value):
        return False
    return not any(result.alias_info for result in node.target._schema.returns)


def _middle(inside: Dict[str, Any]) -> str:
    """The value before which half of the work is done."""

    def before(node: Any) -> int:
        seen: Set[str] = set()
        left = [node]
        while left:
            new = [read for read in left.pop().all_input_nodes if read.name in inside and read.name not in seen]
            seen.update(read.name for read in new)
            left += new
        return len(seen)

    able = sorted(name for name, node in inside.items() if _can_be_written(node))
    return min(able, key=lambda name: abs(2 * before(inside[name]) - len(inside)), default="")


def _sums(node: Any) -> bool:
    """Whether a reader sums it up: over another value's loops the order may change."""
    return any(word in str(user.target) for user in node.users for word in ("sum", "mean", "var", "norm"))
