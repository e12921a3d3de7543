"""One captured graph and the programs that can run it."""

from typing import Any, Dict, FrozenSet, List, Sequence

from . import fake_inputs, fx_nodes, identity
from .autocast import Autocast
from .program import Program, Way, compiled, eager


class Graph:
    """What the framework captured, untouched, and the program that the coming steps run. It lives as long as somebody
    can call it or a session may run it.

    `number`: in order of capture, from 0, good in this process alone.
    """

    def __init__(self, number: int, module: Any, inputs: Sequence[Any], context: Any) -> None:
        self.number = number
        self.module = module
        self.default = compiled(Way(), module, inputs)
        self._autocast = Autocast()
        self._capture = fake_inputs.Capture(inputs, context)
        self.current = self.default
        self.programs: Dict[Way, Program] = {Way(): self.default}
        self.latest: Sequence[Any] = ()  # inputs of a call, on which it is probed
        self.written: FrozenSet[int] = frozenset()  # inputs that it writes to; probe.look_at_default
        self.layouts: Sequence[Any] = ()  # of the default's outputs; the same
        self.repeats = False  # a call may be made again: it writes to nothing and draws nothing; the same

    def program(self, way: Way) -> Program:
        """Made where it is not there yet. Raises what the compiler raises."""
        way = way.plain()
        found = self.programs.get(way)
        if found is None:
            found = self.programs[way] = self._made(way)
        return found

    def _made(self, way: Way) -> Program:
        if way.eager:
            return eager(self.module, self._autocast)
        with self._autocast.entered():
            return compiled(way, self.module, self._capture.inputs, self._capture.mode)

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
        kinds = {v.device.type for v in self._capture.inputs if hasattr(v, "device")}
        return "cuda" if "cuda" in kinds else "cpu"

    def nodes(self) -> int:
        return sum(len(d.source.module.graph.nodes) for d in self.default.directions.values())


def _described(module: Any) -> List[object]:
    return [(*fx_nodes.described(node), [n.name for n in node.all_input_nodes]) for node in module.graph.nodes]
