"""Random values as the compiler's kernels make them, for code that runs operation by operation.

They follow from a seed and from each element's place in the result, whatever else a kernel computes. Seeds come from
the framework's generator; the values of one from a kernel that is compiled for them alone, once for each size.
"""

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from .variant import Source, entered

_SEEDS, _VALUES = "prims::inductor_seeds", ("prims::inductor_random", "prims::inductor_randint")


class Draws:
    """Lives as long as its host. Thread: the one that runs a graph."""

    def __init__(self) -> None:
        self._kernels: Dict[Tuple[str, ...], Callable[[List[Any]], Sequence[Any]]] = {}

    def drawn(self, source: Source, node: Any, values: Dict[Any, Any]) -> Optional[Any]:
        """What `node` draws; None where it draws nothing. Raises what the compiler raises."""
        name = node.target._schema.name
        if name == _SEEDS:
            return _seeds(*node.args)
        if name not in _VALUES:
            return None
        (seed,) = node.all_input_nodes
        key = (name, str([argument for argument in node.args if argument is not seed]), str(node.kwargs),
               str(seed.meta["val"].device))
        if key not in self._kernels:
            self._kernels[key] = _compiled_alone(source, node)
        return self._kernels[key]([values[seed]])[0]


def _seeds(count: int, device: Any) -> Any:
    """Drawn as the compiler's generated code draws them."""
    import torch

    limits = torch.iinfo(torch.int64)
    return torch.randint(limits.min, limits.max, [count], device=device, dtype=torch.int64)


def _compiled_alone(source: Source, node: Any) -> Callable[[List[Any]], Sequence[Any]]:
    import torch

    (seed,) = node.all_input_nodes

    def drawn(given: Any) -> Tuple[Any]:
        args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), lambda _: given)
        return (node.target(*args, **kwargs),)

    module = torch.fx.symbolic_trace(drawn)
    for made in module.graph.nodes:
        if made.op != "output":
            made.meta.update(node.meta if made.target is node.target else seed.meta)
    with entered(source.context):
        return source.compile(module, [seed.meta["val"]])
