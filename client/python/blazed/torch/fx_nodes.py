"""What the nodes of a captured graph compute, said in the same words by every process.

A node's name and the names of those that it reads are positions; its class is what stays: what it
computes, on what shapes, and what lies around it.
"""

from typing import Any, Dict, List, Optional

from . import identity, materialise


def classes_of(graph: Any) -> Dict[str, bytes]:
    """The class of each node by its name, 16 bytes. Marks of materialise.py do not count, so that a
    graph has the classes that it had before it was marked."""
    nodes = [node for node in graph.nodes if not materialise.is_mark(node)]
    labels = {node.name: identity.digest(*described(node)) for node in nodes}
    edges: List[identity.Edge] = []
    for node in nodes:
        for slot, read in enumerate(node.all_input_nodes):
            edges.append((materialise.marked(read).name, node.name, slot))
    return identity.refine(labels, edges)


def described(node: Any) -> List[object]:
    """What it computes, without what it reads."""
    value = node.meta.get("val")
    shape = [_shape(v) for v in value] if isinstance(value, (tuple, list)) else _shape(value)
    return [node.op, target(node), shape, _constants(node)]


def target(node: Any) -> str:
    """The operation's name; empty for what is no call of one."""
    if node.op != "call_function":
        return ""
    import torch

    if isinstance(node.target, torch._ops.OpOverload):
        return str(node.target)
    return str(getattr(node.target, "__qualname__", None) or type(node.target).__name__)


def bytes_of(value: Any) -> int:
    """0: no tensor, or of a size that is not known."""
    try:
        count = 1
        for extent in value.shape:
            count *= int(extent)
        return count * int(value.dtype.itemsize)
    except (AttributeError, TypeError, ValueError):
        return 0


def _shape(value: Any) -> Optional[object]:
    if not hasattr(value, "shape"):
        return None
    return (str(value.dtype), tuple(map(str, value.shape)), value.device.type)


def _constants(node: Any) -> str:
    import torch

    def plain(value: Any) -> Any:
        if isinstance(value, torch.fx.Node):
            return "node"
        if isinstance(value, torch.device):
            return value.type  # another GPU of the same kind runs the same program
        if isinstance(value, (list, tuple)):
            return [plain(v) for v in value]
        return str(value)

    return str([plain(a) for a in node.args] + sorted((k, plain(v)) for k, v in node.kwargs.items()))
