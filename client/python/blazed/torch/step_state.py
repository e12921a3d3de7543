"""All that a step reads and changes, as far as a step's function reaches: its tensors, and its values of Python.

Read anew at every use, since a job may load a checkpoint or add a parameter group between two steps.
"""
import itertools
from typing import Any, Dict, Iterator, List, Tuple

from . import reach

Named = Tuple[str, Any]


class StepState:
    """Of one step's function. `found` is what reach.of saw. Thread: the one that trains."""

    def __init__(self, found: reach.Reach) -> None:
        self.found = found

    def parts(self) -> List[Any]:
        """Every module, submodules too, each once."""
        return list({id(part): part for root in self.found.modules for part in root.modules()}.values())

    def trained(self) -> List[Any]:
        """Parameters, of the modules and of the optimisers, each once."""
        listed = itertools.chain((p for root in self.found.modules for p in root.parameters()),
                                 (p for optimiser in self.found.optimisers for group in optimiser.param_groups
                                  for p in group["params"]))
        return list({id(p): p for p in listed}.values())

    def tensors(self) -> List[Named]:
        """Each once by identity, gradients left out, in an order that two steps share."""
        seen: Dict[int, Named] = {}
        for name, tensor in self._all():
            seen.setdefault(id(tensor), (name, tensor))
        return list(seen.values())

    def _all(self) -> Iterator[Named]:
        import torch

        for index, p in enumerate(self.trained()):
            yield f"parameter {index}", p
        for root in self.found.modules:
            for name, buffer in root.named_buffers():
                yield f"buffer {name}", buffer
        for number, optimiser in enumerate(self.found.optimisers):
            for index, state in enumerate(optimiser.state.values()):
                for key, value in (state.items() if isinstance(state, dict) else ()):
                    if isinstance(value, torch.Tensor):
                        yield f"optimiser {number} {key} {index}", value
            for index, group in enumerate(optimiser.param_groups):
                for key, value in group.items():
                    for part in value if isinstance(value, (tuple, list)) and key != "params" else (value,):
                        if isinstance(part, torch.Tensor):
                            yield f"optimiser {number} {key}", part
        for place in self.found.places:
            value = place.read()
            if isinstance(value, torch.Tensor):
                yield place.name, value
        for name, container in self.found.containers():
            for value in container.values() if isinstance(container, dict) else container:
                if isinstance(value, torch.Tensor):
                    yield name, value

    def host_values(self) -> List[Tuple[str, Any]]:
        """Plain values by name, for comparing; containers as what they hold."""
        values: List[Tuple[str, Any]] = []
        for index, part in enumerate(self.parts()):
            fields = vars(part)
            values += [(f"{key} of module {index}", fields[key]) for key in reach.plain_fields(fields)]
        for optimiser in self.found.optimisers:
            fields = vars(optimiser)
            values += [(f"{key} of the optimiser", fields[key]) for key in reach.plain_fields(fields)]
            for group in optimiser.param_groups:
                values += [(key, group[key]) for key in reach.plain_fields(group)]
            for state in optimiser.state.values():
                values += [(key, state[key]) for key in reach.plain_fields(state)] if isinstance(state, dict) else []
        values += [(place.name, place.read()) for place in self.found.places if reach.is_plain(place.read())]
        values += [(name, contents(container)) for name, container in self.found.containers()]
        return values


def contents(container: Any) -> Tuple[Any, ...]:
    """What two looks at a container are compared by: plain elements by value, others by identity."""
    values = itertools.chain(container.keys(), container.values()) if isinstance(container, dict) else container
    if isinstance(container, (set, frozenset)):
        values = sorted(container, key=repr)
    return tuple(value if reach.is_plain(value) else id(value) for value in values)
