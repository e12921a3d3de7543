"""What a step's function uses: modules, optimisers, tensors, and the values of Python that a replayed step would not
read again.

Looked at are the function's closure, the globals that it names, what it is bound to, and the attributes of those whose
names stand in its code; functions of the script that it calls are looked at likewise. A value is held by its place, so
that it can be read and written again later.
"""
import collections
import enum
import functools
import itertools
import operator
import sys
import types
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Set, Tuple

_MOST = 4000  # objects that are looked at
_DEEPEST = 4  # attributes and elements in a row
_LIBRARIES = {"torch", "numpy", "blazed", "triton", "builtins", *getattr(sys, "stdlib_module_names", ())} - {"__main__"}
_SPEAKING = {"print", "input"}
CONTAINERS = (list, dict, set, collections.deque)
_PLAIN = (type(None), bool, int, float, complex, str, bytes, enum.Enum)


class Place:
    """Where a value stands: an entry of a dictionary or a cell of a closure. `of_library`: in an object that is not
    the script's own."""

    def __init__(self, name: str, holder: Any, key: Any = None, of_library: bool = False) -> None:
        self.name, self.holder, self.key, self.of_library = name, holder, key, of_library

    def getter(self) -> Tuple[Callable[[Any], Any], Any]:
        """What fetches the value from what, in C; raises where there is nothing any more."""
        if isinstance(self.holder, dict):
            return operator.itemgetter(self.key), self.holder
        return operator.attrgetter("cell_contents"), self.holder

    def read(self) -> Any:
        """None where there is nothing any more."""
        if isinstance(self.holder, dict):
            return self.holder.get(self.key)
        try:
            return self.holder.cell_contents
        except ValueError:
            return None

    def write(self, value: Any) -> None:
        if isinstance(self.holder, dict):
            self.holder[self.key] = value
        else:
            self.holder.cell_contents = value


class Reach:
    """`modules` and `optimisers` are roots, each once. `places` hold plain values and tensors, `held` whatever
    else; `loose` are containers inside others, by name. `streams`: files, iterators and printing, by name, which
    cannot be set back.
    `aside`: what the function does not name and might change all the same; it is put back, not watched."""

    def __init__(self) -> None:
        self.modules: List[Any] = []
        self.optimisers: List[Any] = []
        self.places: List[Place] = []
        self.held: List[Place] = []
        self.loose: List[Tuple[str, Any]] = []
        self.generators: List[Any] = []
        self.streams: List[str] = []
        self.aside: Optional["Reach"] = None

    def containers(self) -> List[Tuple[str, Any]]:
        """Lists, dictionaries, sets and deques by name: those that lie in their places at this moment."""
        placed = [(place.name, place.read()) for place in self.held]
        return [(name, value) for name, value in placed if isinstance(value, CONTAINERS)] + self.loose


def is_plain(value: Any) -> bool:
    """Whether it is compared by value and copied by reference."""
    import torch

    if isinstance(value, tuple):
        return all(is_plain(part) for part in value)
    if isinstance(value, (*_PLAIN, torch.dtype, torch.device)):
        return True
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.generic)


def of(function: Any, modules: Sequence[Any] = (), optimisers: Sequence[Any] = ()) -> Reach:
    """Given modules and optimisers stand in place of those that would be found."""
    walk = _Walk(bool(modules), bool(optimisers))
    for module in modules:
        walk.found.modules.append(_unwrapped(module))
    walk.found.optimisers += optimisers
    walk.function("", function)
    walk.settle()
    return walk.found


def beside(found: Reach, roots: Sequence[Any]) -> Reach:
    """What these hold, for Reach.aside."""
    walk = _Walk(True, True)
    for part in (*found.modules, *found.optimisers):
        walk.know(part)
    for root in roots:
        walk.value(type(root).__name__, root)
    walk.settle()
    return walk.found


class _Walk:
    def __init__(self, modules_given: bool, optimisers_given: bool) -> None:
        self.found = Reach()
        self._given = modules_given, optimisers_given
        self._names: Set[str] = set()  # that stand in the code
        self._seen: Set[int] = set()
        self._kept: List[Any] = []  # an id is good as long as its object lives
        self._objects: List[Tuple[str, Any, int]] = []  # whose attributes are looked up by those names
        self._done: Set[Tuple[int, str]] = set()

    # ---- code ----

    def function(self, name: str, function: Any, depth: int = 0) -> None:
        if depth > _DEEPEST:
            return
        function = getattr(function, "_torchdynamo_orig_callable", function)
        if isinstance(function, functools.partial):
            self._elements(name, [function.func, *function.args, *function.keywords.values()], depth)
            return
        if isinstance(function, types.MethodType):
            self._value("self" if not name else name, function.__self__, depth)
            function = function.__func__
        if not isinstance(function, types.FunctionType):
            if not isinstance(function, (types.BuiltinFunctionType, type)):
                self._value(name, function, depth)  # an object that can be called
            return
        if not self._first(function) or (name and _of_a_library(function.__module__)):
            return
        names = _names_of(function.__code__)
        self._names |= names
        self.found.streams += sorted(names & _SPEAKING - function.__globals__.keys())
        for cell_name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            self._place(Place(cell_name, cell), depth)
        for global_name in sorted(names & function.__globals__.keys()):
            self._place(Place(global_name, function.__globals__, global_name), depth)
        self._elements(name, [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()], depth)

    def settle(self) -> None:
        """Attributes by name, until following a method brings no further names."""
        for _ in range(_DEEPEST):
            before = len(self._names), len(self._seen)
            for name, value, depth in list(self._objects):
                self._attributes(name, value, depth)
            if (len(self._names), len(self._seen)) == before:
                return

    def value(self, name: str, value: Any) -> None:
        self._value(name, value, 0)

    def know(self, value: Any) -> None:
        """Is not looked at."""
        self._first(value)

    # ---- values ----

    def _place(self, place: Place, depth: int) -> None:
        import torch

        value = place.read()
        if is_plain(value) or isinstance(value, torch.Tensor):
            self.found.places.append(place)
        else:
            self.found.held.append(place)
            self._value(place.name, value, depth, placed=True)

    def _value(self, name: str, value: Any, depth: int, placed: bool = False) -> None:
        import torch

        if isinstance(value, (types.FunctionType, types.MethodType, functools.partial)):
            self.function(name, value, depth)
            return
        if is_plain(value) or isinstance(value, torch.Tensor) or depth > _DEEPEST or not self._first(value):
            return
        if isinstance(value, torch.nn.Module):
            self._module(name, value, depth)
        elif isinstance(value, torch.optim.Optimizer):
            if not self._given[1]:
                self.found.optimisers.append(value)
            if not _of_a_library(type(value).__module__):
                self._objects.append((name, value, depth))
        elif isinstance(value, torch.Generator):
            self.found.generators.append(value)
        elif isinstance(value, CONTAINERS):
            if not placed:
                self.found.loose.append((name, value))
            self._elements(name, value.values() if isinstance(value, dict) else value, depth)
        elif isinstance(value, tuple):
            self._elements(name, value, depth)
        elif isinstance(value, torch.utils.data.DataLoader) or hasattr(type(value), "__next__"):
            self.found.streams.append(name)
        elif not isinstance(value, (type, types.BuiltinFunctionType)):
            self._object(name, value, depth)

    def _module(self, name: str, module: Any, depth: int) -> None:
        module = _unwrapped(module)
        if not self._given[0] and not any(module is other for other in self.found.modules):
            self.found.modules.append(module)
        self._objects.append((name, module, depth))
        for kind in dict.fromkeys(type(part) for part in module.modules()):
            if not _of_a_library(kind.__module__):
                self.function(f"{name}.forward", kind.forward, depth)

    def _object(self, name: str, value: Any, depth: int) -> None:
        if isinstance(value, types.ModuleType):
            if not _of_a_library(value.__name__):
                self._objects.append((name, value, depth))
        elif isinstance(getattr(value, "__dict__", None), dict):
            if type(value).__module__.split(".")[0] == "blazed":
                return  # such as the very step, which an object of the script may hold
            if _of_a_library(type(value).__module__):
                # What a library does with its own is not followed: all of it may be used.
                for key in list(vars(value)):
                    self._place(Place(f"{name}.{key}", vars(value), key, of_library=True), depth + 1)
            else:
                self._objects.append((name, value, depth))

    def _elements(self, name: str, values: Iterable[Any], depth: int) -> None:
        for value in list(itertools.islice(values, _MOST)):
            self._value(name, value, depth + 1)

    def _attributes(self, name: str, value: Any, depth: int) -> None:
        import torch

        fields, whole = vars(value), (torch.nn.Module, torch.optim.Optimizer)
        for key in sorted(self._names):
            if (id(value), key) in self._done:
                continue
            self._done.add((id(value), key))
            if key in fields:
                # Plain ones of modules and optimisers are state of these, named or not.
                if not (isinstance(value, whole) and is_plain(fields[key])):
                    self._place(Place(f"{name}.{key}", fields, key), depth + 1)
                continue
            for kind in type(value).__mro__:  # of super() too
                method = vars(kind).get(key)
                if isinstance(method, (staticmethod, classmethod)):
                    method = method.__func__
                if isinstance(method, property):
                    method = method.fget
                if isinstance(method, types.FunctionType) and not _of_a_library(method.__module__):
                    self.function(f"{name}.{key}", method, depth + 1)

    def _first(self, value: Any) -> bool:
        if id(value) in self._seen or len(self._seen) > _MOST:
            return False
        self._seen.add(id(value))
        self._kept.append(value)
        return True


def _unwrapped(module: Any) -> Any:
    """What torch.compile wrapped."""
    return getattr(module, "_orig_mod", module)


def _of_a_library(module_name: Any) -> bool:
    return str(module_name).split(".")[0] in _LIBRARIES


@functools.lru_cache(maxsize=None)
def _names_of(code: Any) -> Set[str]:
    """Globals and attributes that it and the functions inside it name."""
    names: Set[str] = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names_of(constant)
    return names


def plain_fields(fields: Dict[str, Any]) -> Tuple[str, ...]:
    """Of an object's dictionary those that hold plain values."""
    return tuple(key for key, value in fields.items() if is_plain(value))
