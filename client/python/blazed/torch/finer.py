"""The default's own graphs run in f32 where they compute in bf16, f16 or the like: a reference.

What the compiler was given for each direction is run operation by operation. There, below autocast and the backward
pass, types are arguments of operations, so that to compute in f32 is to read each half type as f32. Results have the
types that the default gives them; what forward keeps for backward stays in f32. Random values are the default's own.
"""

import contextlib
import dataclasses
import operator
from typing import Any, Dict, Iterator, List, Sequence, Tuple

from .direction import BACKWARD, FORWARD
from .draws import Draws
from .graph import Graph
from .variant import Source

_TANGENTS = "tangents"  # what the names of those inputs of backward begin with that forward does not keep for it
_NO_INPUTS = ("call_function", "get_attr", "output")  # what nodes of such a graph are beside its inputs
Values = Dict[Any, Any]  # of nodes


class Unsupported(Exception):
    """This graph cannot be run so; the text is one sentence."""


@contextlib.contextmanager
def in_place_of_default(graph: Graph, draws: Draws) -> Iterator[None]:
    """In this context the graph's default program computes in f32. Session's thread, between steps."""
    directions = graph.default.directions
    before = {name: (direction.current, direction.ran) for name, direction in directions.items()}
    try:
        for name, direction in directions.items():
            kept = _kept_for_backward(graph) if name == FORWARD else 0
            direction.current = dataclasses.replace(direction.default,
                                                    call=_Evaluator(direction.source, draws, kept))
        yield
    finally:
        for name, (current, ran) in before.items():
            directions[name].current, directions[name].ran = current, ran


def _kept_for_backward(graph: Graph) -> int:
    backward = graph.default.directions.get(BACKWARD)
    if backward is None:
        return 0
    return sum(node.op not in _NO_INPUTS and not node.name.startswith(_TANGENTS)
               for node in backward.source.module.graph.nodes)


class _Evaluator:
    """One direction; empties the list that it is given. `kept`: how many of its last results are for backward."""

    def __init__(self, source: Source, draws: Draws, kept: int) -> None:
        self._source = source
        self._draws = draws
        self._kept = kept
        self._last_uses = _last_uses(source.module.graph)

    def __call__(self, inputs: List[Any]) -> Sequence[Any]:
        import torch

        given = iter(list(inputs))
        inputs.clear()
        values: Values = {}
        originals: Values = {}
        with torch.no_grad(), torch._C._DisableAutocast():
            for node in self._source.module.graph.nodes:
                if node.op == "output":
                    return self._results(node.args[0], values, originals)
                if node.op == "call_function":
                    values[node] = self._called(node, values, originals)
                elif node.op == "get_attr":
                    values[node] = _wide(operator.attrgetter(node.target)(self._source.module))
                else:
                    originals[node] = next(given)
                    values[node] = _wide(originals[node])
                for done in self._last_uses.get(node, ()):
                    values.pop(done)
                    originals.pop(done, None)
        raise Unsupported("a graph has no results")

    def _results(self, nodes: Sequence[Any], values: Values, originals: Values) -> Tuple[Any, ...]:
        def result(index: int, node: Any) -> Any:
            if node not in values:
                return node  # none, or a number
            if node in originals:
                return originals[node]
            return values[node] if index >= len(nodes) - self._kept else _narrow(node, values)

        return tuple(result(index, node) for index, node in enumerate(nodes))

    def _called(self, node: Any, values: Values, originals: Values) -> Any:
        import torch

        aten = torch.ops.aten
        target = node.target
        if target is operator.getitem:
            return values[node.args[0]][node.args[1]]
        if not isinstance(target, torch._ops.OpOverload):
            return _as_default(node, values)
        drawn = self._draws.drawn(self._source, node, values)
        if drawn is not None:
            return drawn
        if target._schema.is_mutable:
            return _written(node, values, originals)
        # Bits read as another type, and what draws by itself: as many draws as the default's types take.
        if target is aten.view.dtype or _may_draw(node):
            return _as_default(node, values)
        if target is aten.as_strided.default:
            _look_at_layout(node.args[0], values)
        try:
            # What was computed in f32 may lie otherwise in memory than a view expects.
            is_view = target in (aten.view.default, aten._unsafe_view.default)
            return _run(aten.reshape.default if is_view else target, node, values)
        except torch.OutOfMemoryError:
            raise
        except RuntimeError:
            return _as_default(node, values)  # there for half types alone, such as fused attention


def _run(target: Any, node: Any, values: Values) -> Any:
    from torch.fx.node import map_aggregate

    def argument(value: Any) -> Any:
        return values[value] if value in values else _wide_type(value)

    return _wide(target(*map_aggregate(node.args, argument), **map_aggregate(node.kwargs, argument)))


def _as_default(node: Any, values: Values) -> Any:
    """In the default's own types."""
    import torch

    narrow = {source: _narrow(source, values) for source in node.all_input_nodes}
    args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), narrow.__getitem__)
    return _wide(node.target(*args, **kwargs))


def _may_draw(node: Any) -> bool:
    """Fused attention draws for its dropout alone."""
    import torch

    arguments = node.target._schema.arguments
    values = {argument.name: argument.default_value for argument in arguments}
    values.update(zip((argument.name for argument in arguments), node.args))
    values.update(node.kwargs)
    if "dropout_p" in values:
        return bool(values["dropout_p"])
    return torch.Tag.nondeterministic_seeded in node.target.tags


def _written(node: Any, values: Values, originals: Values) -> Any:
    """An operation that writes to its arguments: to what the graph was given, and not to a wide copy of it alone."""
    import torch

    for described, argument in zip(node.target._schema.arguments, node.args):
        if described.alias_info is None or not described.alias_info.is_write:
            continue
        for written in argument if isinstance(argument, (tuple, list)) else (argument,):
            if written not in originals or originals[written] is values[written]:
                continue
            if node.target is not torch.ops.aten.copy_.default:
                raise Unsupported(f"{node.target} writes to an input of a half type")
            originals[written].copy_(values[node.args[1]])
    return _run(node.target, node, values)


def _look_at_layout(node: Any, values: Values) -> None:
    if values[node].stride() != node.meta["val"].stride():
        raise Unsupported("a result lies otherwise in memory in f32, which as_strided does not allow for")


def _narrow(node: Any, values: Values) -> Any:
    """A node's value in the type that it has in the default."""
    import torch

    value, described = values[node], node.meta.get("val")
    if isinstance(value, torch.Tensor) and isinstance(described, torch.Tensor) and value.dtype != described.dtype:
        return value.to(described.dtype)
    return value


def _wide(value: Any) -> Any:
    import torch

    if isinstance(value, (tuple, list)):
        return type(value)(map(_wide, value)) if type(value) in (tuple, list) else [_wide(part) for part in value]
    if isinstance(value, torch.Tensor) and _wide_type(value.dtype) is not value.dtype:
        return value.to(torch.float32)
    return value


def _wide_type(value: Any) -> Any:
    import torch

    return torch.float32 if value in (torch.float16, torch.bfloat16) else value


def _last_uses(graph: Any) -> Dict[Any, List[Any]]:
    """node -> what nobody needs behind it."""
    seen = set()
    uses: Dict[Any, List[Any]] = {}
    for node in reversed(graph.nodes):
        for source in node.all_input_nodes:
            if source not in seen:
                seen.add(source)
                uses.setdefault(node, []).append(source)
    return uses
