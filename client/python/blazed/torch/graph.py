"""One captured graph and the programs that can run it."""

from typing import Any, Dict, FrozenSet, List, Optional, Sequence

from . import identity
from .program import Program, Way, compiled, eager


class Graph:
    """What the framework captured, untouched, and the program that the coming steps run.

    `number`: in order of capture, from 0, good in this process alone.
    """

    def __init__(self, number: int, module: Any, inputs: Sequence[Any], context: Any) -> None:
        self.number = number
        self.module = module
        self.inputs = list(inputs)
        self.context = context
        self.default = compiled(Way(), module, inputs)
        self.current = self.default
        self.programs: Dict[Way, Program] = {Way(): self.default}
        self.written: FrozenSet[int] = frozenset()  # inputs that it writes to; probe.find_written

    def program(self, way: Way) -> Program:
        """Made where it is not there yet. Raises what the compiler raises."""
        way = way.plain()
        found = self.programs.get(way)
        if found is None:
            found = eager(self.module) if way.eager else compiled(way, self.module, self.inputs, self.context)
            self.programs[way] = found
        return found

    @property
    def training(self) -> bool:
        return "backward" in self.default.directions

    def fingerprint(self) -> bytes:
        """16 bytes: what the graph computes and on what, equal in every process."""
        parts: List[object] = []
        for name in sorted(self.default.directions):
            parts += [name, *_described(self.default.directions[name].source.module)]
        return identity.digest(*parts)

    def device(self) -> str:
        """Its type: cpu or cuda."""
        kinds = {v.device.type for v in self.inputs if hasattr(v, "device")}
        return "cuda" if "cuda" in kinds else "cpu"

    def nodes(self) -> int:
        return sum(len(d.source.module.graph.nodes) for d in self.default.directions.values())


def _described(module: Any) -> List[object]:
    parts: List[object] = []
    for node in module.graph.nodes:
        value = node.meta.get("val")
        shape = [_shape(v) for v in value] if isinstance(value, (tuple, list)) else _shape(value)
        target = str(node.target) if node.op == "call_function" else ""
        parts.append((node.op, target, [n.name for n in node.all_input_nodes], shape, _constants(node)))
    return parts


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
