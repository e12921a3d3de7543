"""What the compiler merged: the operations of one graph and which of them share a kernel.

The table holds plain data alone, so that it can be kept beside the compiler's cache and read again
in a process that compiles nothing. scheduled.py reads it from a compile.
"""

import dataclasses
import json
from typing import Any, Dict, List, Tuple

from .kernel_traffic import Traffic

LOW_PRECISION = ("torch.float16", "torch.bfloat16")  # a merged kernel keeps more bits between operations
POINTWISE, REDUCTION, TEMPLATE, OTHER = "pointwise", "reduction", "template", "other"
# What a graph as a whole shows, beside its kernels.
MIXED_ORDERS, COULD_MIX_ORDERS, REORDERED = "mixed orders", "could mix orders", "reordered"


def node_of(anchor: str) -> str:
    """The node of the captured graph that an anchor is made of."""
    return anchor.lstrip("~").split("#")[0]


@dataclasses.dataclass(frozen=True)
class Operation:
    """One operation before fusion. `name` is good within one compile alone; `anchor` in every
    compile of the same graph in one process: the node of the captured graph whose value it writes;
    `kind` is the same in every process."""

    name: str
    kind: bytes  # class of the operation, 16 bytes
    text: str  # for people: what it computes
    reads: Tuple[str, ...]  # operations whose results it reads, in order of its reads
    bytes_written: int  # 0: not known
    anchor: str = ""
    form: str = OTHER
    origins: Tuple[str, ...] = ()  # nodes that it computes, by name
    reduced: int = 0  # how many values each result of a reduction sums up
    dtype: str = ""


@dataclasses.dataclass(frozen=True)
class Product:
    """A product of matrices that the compiler asked how to compute."""

    anchor: str
    kind: bytes  # class of its node in the graph that the compiler lowered
    name: str  # mm, addmm, bmm, baddbmm
    sizes: Tuple[int, int, int, int]  # batch, rows, columns, length of each sum
    device: str
    dtype: str
    done_by: str  # products.LIBRARY, or which template
    row_by_row: bool = True  # the first matrix lies in memory as it is written down

    def flops(self) -> int:
        batch, rows, columns, length = self.sizes
        return 2 * batch * rows * columns * length


@dataclasses.dataclass(frozen=True)
class FusionTable:
    operations: Tuple[Operation, ...]
    kernels: Tuple[Tuple[str, ...], ...]  # operations that run as one kernel, by name
    products: Tuple[Product, ...] = ()
    traits: Tuple[str, ...] = ()
    traffic: Tuple[Traffic, ...] = ()

    def kernel_of(self) -> Dict[str, int]:
        return {name: index for index, kernel in enumerate(self.kernels) for name in kernel}

    def together(self, a: str, b: str) -> bool:
        """Whether both run in one kernel."""
        kernels = self.kernel_of()
        return a in kernels and kernels[a] == kernels.get(b)

    def to_json(self) -> str:
        def plain(value: Any) -> Any:
            return value.hex() if isinstance(value, bytes) else value

        return json.dumps({
            "operations": [[plain(v) for v in dataclasses.astuple(o)] for o in self.operations],
            "kernels": [list(kernel) for kernel in self.kernels],
            "products": [[plain(v) for v in dataclasses.astuple(p)] for p in self.products],
            "traits": list(self.traits),
            "traffic": [list(dataclasses.astuple(t)) for t in self.traffic],
        })

    @staticmethod
    def from_json(text: str) -> "FusionTable":
        """Raises ValueError, KeyError or TypeError where the text is not of a table."""
        data = json.loads(text)
        return FusionTable(tuple(_operation(row) for row in data["operations"]),
                           tuple(_strings(kernel) for kernel in data["kernels"]),
                           tuple(_product(row) for row in data["products"]), _strings(data["traits"]),
                           tuple(_traffic(row) for row in data["traffic"]))


def _operation(row: List[Any]) -> Operation:
    name, kind, text, reads, written, anchor, form, origins, reduced, dtype = row
    return Operation(str(name), bytes.fromhex(kind), str(text), _strings(reads), int(written), str(anchor), str(form),
                     _strings(origins), int(reduced), str(dtype))


def _product(row: List[Any]) -> Product:
    anchor, kind, name, sizes, device, dtype, done_by, row_by_row = row
    batch, rows, columns, length = map(int, sizes)
    return Product(str(anchor), bytes.fromhex(kind), str(name), (batch, rows, columns, length), str(device),
                   str(dtype), str(done_by), bool(row_by_row))


def _traffic(row: List[Any]) -> Traffic:
    kernel, places, read, written = row
    return Traffic(str(kernel), int(places), int(read), int(written))


def _strings(values: List[Any]) -> Tuple[str, ...]:
    if not isinstance(values, list):
        raise TypeError("a list was expected")
    return tuple(map(str, values))
