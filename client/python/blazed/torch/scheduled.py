"""Reads a fusion table from the scheduler of one compile.

Everything here looks at private data of the compiler, which differs between releases: what is not
there reads as not known.
"""

from typing import Any, Dict, Iterable, List, Sequence, Tuple

from . import fusion_table, identity, materialise
from .fusion_table import COULD_MIX_ORDERS, MIXED_ORDERS, Operation

_MOST_REDUCTIONS = 64  # of which pairs are looked at


def operations_of(scheduler: Any) -> Tuple[Operation, ...]:
    """The scheduler's operations before anything was fused; call it before the first fusion."""
    nodes = [inner for node in scheduler.nodes for inner in node.get_nodes()]
    owner = {buffer.get_name(): node.get_name() for node in nodes for buffer in node.get_outputs()}
    labels: Dict[str, bytes] = {}
    edges: List[identity.Edge] = []
    reads: Dict[str, Tuple[str, ...]] = {}
    for node in nodes:
        name = node.get_name()
        labels[name] = identity.digest(*_label(node))
        read = _reads(node, owner)
        reads[name] = tuple(producer for producer, _ in read if producer != name)
        edges += [(producer, name, slot) for producer, slot in read if producer != name]
    classes = identity.refine(labels, edges)
    anchors = _anchors(nodes)
    return tuple(Operation(n.get_name(), classes[n.get_name()], _text(n), reads[n.get_name()], _bytes(n),
                           anchors[n.get_name()], _form(n), _origin_names(n), _reduced(n), str(_laid_out(n, "dtype") or ""))
                 for n in nodes)


def kernels_of(scheduler: Any) -> Tuple[Tuple[str, ...], ...]:
    """Which operations share a kernel; call it after fusion."""
    return tuple(tuple(inner.get_name() for inner in node.get_nodes())
                 for whole in scheduler.nodes for node in _launched_together(whole))


def could_mix_orders(scheduler: Any) -> bool:
    """Whether two reductions of one input over different dimensions could be one kernel where the
    compiler's own limits of size did not forbid it. Before fusion."""
    try:
        from torch._inductor import config
        from torch._inductor.scheduler import MixOrderReduction

        reductions = [n for n in scheduler.nodes if n.is_reduction() and n.is_gpu()][:_MOST_REDUCTIONS]
        with config.patch({"triton.mix_order_reduction": True, "triton.mix_order_reduction_non_strict_mode": True}):
            return any(MixOrderReduction.can_fuse(a, b) for i, a in enumerate(reductions) for b in reductions[i + 1:])
    except Exception:  # the compiler's own checks, on nodes they may not expect
        return False


def traits_of(scheduler: Any, could_mix: bool, reordered: bool) -> Tuple[str, ...]:
    """After fusion."""
    mixed = any(type(node).__name__ == "FusedMixOrderReductions" for node in scheduler.nodes)
    found = ((MIXED_ORDERS, mixed), (COULD_MIX_ORDERS, could_mix), (fusion_table.REORDERED, reordered))
    return tuple(trait for trait, there in found if there)


def _launched_together(node: Any) -> Iterable[Any]:
    """A combo kernel runs kernels side by side, each of them with loops of its own."""
    if type(node).__name__ == "ForeachKernelSchedulerNode":
        return node.snodes
    return (node,)


def _anchors(nodes: Sequence[Any]) -> Dict[str, str]:
    """By name. The compiler notes which node of the captured graph an operation's value is; parts of
    one, such as the second result, go by the last node that they compute."""
    position: Dict[Any, int] = {}
    seen: Dict[str, int] = {}
    anchors = {}
    for node in nodes:
        base = _anchor(node, position)
        seen[base] = seen.get(base, 0) + 1
        anchors[node.get_name()] = base if seen[base] == 1 else f"{base}#{seen[base]}"
    return anchors


def _anchor(node: Any, position: Dict[Any, int]) -> str:
    origin = getattr(getattr(node, "node", None), "origin_node", None)
    if hasattr(origin, "name"):
        return str(materialise.marked(origin).name)
    origins = [other for other in _origin_nodes(node) if hasattr(other, "graph")]
    if not origins:
        return "~" + str(node.get_name())
    if not position:
        position.update({other: index for index, other in enumerate(origins[0].graph.nodes)})
    last = max(origins, key=lambda other: position.get(other, -1))
    return "~" + str(materialise.marked(last).name)


def _reads(node: Any, owner: Dict[str, str]) -> List[Tuple[str, int]]:
    # A set in the compiler: its order is that of insertion, which the program gives.
    names = [dependency.name for dependency in node.read_writes.reads]
    seen: Dict[str, int] = {}
    for slot, name in enumerate(names):
        if name in owner:
            seen.setdefault(owner[name], slot)
    return list(seen.items())


def _origin_nodes(node: Any) -> List[Any]:
    origins = getattr(getattr(node, "node", None), "origins", None) or ()
    return [origin for origin in origins if getattr(origin, "op", "call_function") == "call_function"]


def _origins(node: Any) -> List[str]:
    return sorted(str(getattr(origin, "target", origin)) for origin in _origin_nodes(node))


def _origin_names(node: Any) -> Tuple[str, ...]:
    return tuple(sorted({materialise.marked(origin).name for origin in _origin_nodes(node)
                         if hasattr(origin, "name")}))


def _laid_out(node: Any, field: str) -> Any:
    return getattr(getattr(getattr(node, "node", None), "layout", None), field, None)


def _layout(node: Any) -> str:
    parts = [_laid_out(node, field) for field in ("device", "dtype", "size", "stride")]
    device = getattr(parts[0], "type", parts[0])
    return " ".join(str(part) for part in (device, *parts[1:]))


def _label(node: Any) -> Tuple[object, ...]:
    ir_node = getattr(node, "node", None)
    data = getattr(ir_node, "data", None)
    kernel = getattr(ir_node, "python_kernel_name", None) or getattr(ir_node, "op_overload", "")
    return (type(node).__name__, type(ir_node).__name__, type(data).__name__,
            getattr(data, "reduction_type", ""), getattr(data, "ranges", ""),
            getattr(data, "reduction_ranges", ""), kernel, _layout(node), *_origins(node))


def _form(node: Any) -> str:
    if node.is_template():
        return fusion_table.TEMPLATE
    if node.is_reduction():
        return fusion_table.REDUCTION
    data = getattr(getattr(node, "node", None), "data", None)
    return fusion_table.POINTWISE if type(data).__name__ == "Pointwise" else fusion_table.OTHER


def _reduced(node: Any) -> int:
    data = getattr(getattr(node, "node", None), "data", None)
    return _product(getattr(data, "reduction_ranges", None) or ()) if node.is_reduction() else 0


def _text(node: Any) -> str:
    words = [origin.replace("aten.", "").replace(".default", "").replace("prims.", "")
             for origin in _origins(node)]
    shape = "x".join(str(extent) for extent in _laid_out(node, "size") or []) or "scalar"
    return f"{'+'.join(words[:3]) or type(node).__name__} {shape}"


def _bytes(node: Any) -> int:
    size, dtype = _laid_out(node, "size"), _laid_out(node, "dtype")
    return 0 if size is None or dtype is None else _product(size) * int(dtype.itemsize)  # None: not one result


def _product(extents: Iterable[Any]) -> int:
    try:
        count = 1
        for extent in extents:
            count *= int(extent)
        return count
    except (TypeError, ValueError):
        return 0  # symbolic
