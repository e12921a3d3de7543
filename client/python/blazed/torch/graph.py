"""One captured graph and the programs that can run it."""

from typing import Any, Dict, FrozenSet, List, Sequence

from . import fx_nodes, identity
from .program import Program, Way, compiled, eager


class Graph:
    """What the framework captured, untouched, and the program that the coming steps run.

    `number`: in order of capture, from 0, good in this process alone. `inputs`: their shapes, without numbers.
    """

    def __init__(self, number: int, module: Any, inputs: Sequence[Any], context: Any) -> None:
        self.number = number
        self.module = module
        self.inputs = _shapes_of(inputs, context)
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

    def keep_only(self, wanted: Sequence[Program]) -> None:
        """Forgets programs that no plan names any more; never the default."""
        kept = {id(program) for program in (self.default, self.current, *wanted)}
        self.programs = {way: program for way, program in self.programs.items() if id(program) in kept}

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


def _shapes_of(inputs: Sequence[Any], context: Any) -> List[Any]:
    """As the capture saw them. Programs that are compiled later start from these: the tensors themselves would live as
    long as the graph does, and a compile that is given them outside the capture takes their sizes for symbols."""
    import torch
    from torch._subclasses import FakeTensor

    mode = context.fake_mode if context is not None else None
    if mode is None:
        return list(inputs)
    return [mode.from_tensor(value, static_shapes=True)
            if isinstance(value, torch.Tensor) and not isinstance(value, FakeTensor) else value for value in inputs]


def _described(module: Any) -> List[object]:
    return [(*fx_nodes.described(node), [n.name for n in node.all_input_nodes]) for node in module.graph.nodes]
