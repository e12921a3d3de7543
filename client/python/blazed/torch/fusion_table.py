"""What the compiler merged: the operations of one graph and which of them share a kernel.

Read from the scheduler of the default compile, before and after it fuses. The table holds plain
data alone, so that it can be kept beside the compiler's cache and read again in a process that
compiles nothing.
"""

import dataclasses
import json
from typing import Any, Dict, List, Tuple

from . import identity


@dataclasses.dataclass(frozen=True)
class Operation:
    """One operation before fusion. `name` is good within one compile alone; `kind` is stable."""

    name: str
    kind: bytes  # class of the node, 16 bytes
    text: str  # for people: what it computes
    reads: Tuple[str, ...]  # operations whose results it reads, in order of its reads
    bytes_written: int  # 0: not known


@dataclasses.dataclass(frozen=True)
class FusionTable:
    operations: Tuple[Operation, ...]
    kernels: Tuple[Tuple[str, ...], ...]  # operations that run as one kernel, by name

    def kernel_of(self) -> Dict[str, int]:
        return {name: index for index, kernel in enumerate(self.kernels) for name in kernel}

    def together(self, a: str, b: str) -> bool:
        """Whether both run in one kernel."""
        kernels = self.kernel_of()
        return a in kernels and kernels[a] == kernels.get(b)

    def to_json(self) -> str:
        return json.dumps({
            "operations": [[o.name, o.kind.hex(), o.text, list(o.reads), o.bytes_written]
                           for o in self.operations],
            "kernels": [list(kernel) for kernel in self.kernels],
        })

    @staticmethod
    def from_json(text: str) -> "FusionTable":
        """Raises ValueError, KeyError or TypeError where the text is not of a table."""
        data = json.loads(text)
        operations = tuple(Operation(str(name), bytes.fromhex(kind), str(words), tuple(reads), int(size))
                           for name, kind, words, reads, size in data["operations"])
        return FusionTable(operations, tuple(tuple(kernel) for kernel in data["kernels"]))


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
    return tuple(Operation(n.get_name(), classes[n.get_name()], _text(n), reads[n.get_name()], _bytes(n))
                 for n in nodes)


def kernels_of(scheduler: Any) -> Tuple[Tuple[str, ...], ...]:
    """Which operations share a kernel; call it after fusion."""
    return tuple(tuple(inner.get_name() for inner in node.get_nodes()) for node in scheduler.nodes)


def _reads(node: Any, owner: Dict[str, str]) -> List[Tuple[str, int]]:
    # A set in the compiler: its order is that of insertion, which the program gives.
    names = [dependency.name for dependency in node.read_writes.reads]
    seen: Dict[str, int] = {}
    for slot, name in enumerate(names):
        if name in owner:
            seen.setdefault(owner[name], slot)
    return list(seen.items())


def _origins(node: Any) -> List[str]:
    ir_node = getattr(node, "node", None)
    origins = getattr(ir_node, "origins", None) or ()
    return sorted(str(getattr(origin, "target", origin)) for origin in origins
                  if getattr(origin, "op", "call_function") == "call_function")


def _layout(node: Any) -> str:
    ir_node = getattr(node, "node", None)
    layout = getattr(ir_node, "layout", None)
    parts = [getattr(layout, field, None) for field in ("device", "dtype", "size", "stride")]
    device = getattr(parts[0], "type", parts[0])
    return " ".join(str(part) for part in (device, *parts[1:]))


def _label(node: Any) -> Tuple[object, ...]:
    ir_node = getattr(node, "node", None)
    data = getattr(ir_node, "data", None)
    kernel = getattr(ir_node, "python_kernel_name", None) or getattr(ir_node, "op_overload", "")
    return (type(node).__name__, type(ir_node).__name__, type(data).__name__,
            getattr(data, "reduction_type", ""), getattr(data, "ranges", ""),
            getattr(data, "reduction_ranges", ""), kernel, _layout(node), *_origins(node))


def _text(node: Any) -> str:
    words = [origin.replace("aten.", "").replace(".default", "").replace("prims.", "")
             for origin in _origins(node)]
    ir_node = getattr(node, "node", None)
    size = getattr(getattr(ir_node, "layout", None), "size", None) or []
    shape = "x".join(str(extent) for extent in size) or "scalar"
    return f"{'+'.join(words[:3]) or type(node).__name__} {shape}"


def _bytes(node: Any) -> int:
    layout = getattr(getattr(node, "node", None), "layout", None)
    try:
        count = 1
        for extent in layout.size:
            count *= int(extent)
        return count * layout.dtype.itemsize
    except (AttributeError, TypeError, ValueError):
        return 0  # symbolic, or an operation without one result
