"""Values of Python that a step may read, in rows that are fetched in one call each."""
import functools
import operator
from typing import Any, Callable, List, Sequence, Tuple

from . import reach
from .step_state import StepState, contents

_MOST_ELEMENTS = 256  # of a container whose elements are compared; longer ones by their length


class Row:
    """Values of one holder. `fetch()` gives one value, or a tuple where there are several names."""

    def __init__(self, names: Sequence[str], get: Callable[[Any], Any], holder: Any) -> None:
        self.names = names
        self.get = get
        self.holder = holder

    def fetch(self) -> Any:
        return self.get(self.holder)

    def differing(self, value: Any) -> str:
        """The name of what differs from `value`, which fetch() gave earlier."""
        if len(self.names) == 1:
            return self.names[0]
        return next((name for name, a, b in zip(self.names, self.fetch(), value) if a is not b and a != b),
                    self.names[0])


def rows_of(state: StepState) -> List[Row]:
    rows = [_of_fields(vars(part), " of " + type(part).__name__) for part in state.parts()]
    for optimiser in state.found.optimisers:
        rows.append(_of_fields(vars(optimiser), " of " + type(optimiser).__name__))
        rows += [_of_fields(group, "") for group in optimiser.param_groups]
    for place in state.found.places:
        if reach.is_plain(place.read()):
            rows.append(Row((place.name,), *place.getter()))
    for place in state.found.held:
        if isinstance(place.read(), reach.CONTAINERS):
            look = contents if len(place.read()) <= _MOST_ELEMENTS else len
            rows.append(Row((place.name,), functools.partial(_at, look), place))
    rows += [Row((name,), contents if len(container) <= _MOST_ELEMENTS else len, container)
             for name, container in state.found.loose]
    return [row for row in rows if row.names]


def _at(look: Callable[[Any], Any], place: reach.Place) -> Any:
    return look(place.read())


def _of_fields(fields: Any, owner: str) -> Row:
    keys = reach.plain_fields(fields)
    return Row([key + owner for key in keys], operator.itemgetter(*keys) if keys else len, fields)


def differences(before: List[Tuple[str, Any]], after: List[Tuple[str, Any]]) -> int:
    """How many of the values that StepState.host_values gave are others; those that came or went count too."""
    return abs(len(before) - len(after)) + sum(a is not b and a != b for (_, a), (_, b) in zip(before, after))
