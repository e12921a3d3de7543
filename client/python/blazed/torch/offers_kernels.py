"""Places where the compiler merged operations: keep two apart, or one from all.

A cut asks for a boundary between a result and its reader. To run alone severs every boundary of an
operation at once, and before the compiler changes loops for a merge that is then refused; it is
offered where that is more than one cut, in kernels that mix sums with other work.
"""

from typing import Dict, List, Tuple

from .ask import Ask
from .direction import Direction
from .fusion_table import LOW_PRECISION, REDUCTION, TEMPLATE, FusionTable, Operation
from .offer import ALONE, BOUNDARY, Offer

_SUMS = ("sum", "mean", "var", "norm", "softmax")


def offers_of(direction: Direction) -> List[Offer]:
    table = direction.default.table
    if table is None:
        return []
    return _cuts(table) + _alone(table)


def _cuts(table: FusionTable) -> List[Offer]:
    sites: Dict[Tuple[bytes, bytes], List[Tuple[Operation, Operation]]] = {}
    for read, reader in _boundaries(table):
        sites.setdefault((read.kind, reader.kind), []).append((read, reader))
    offers = []
    for pair, places in sites.items():
        first, second = places[0]
        offers.append(Offer(BOUNDARY, f"{first.text} | {second.text}", pair, ("merged", "cut"),
                            (Ask(cuts=frozenset({pair})),), len(places), first.bytes_written * len(places),
                            _changes_bits(first, second),
                            tuple((a.anchor, b.anchor) for a, b in places)))
    return offers


def _changes_bits(first: Operation, second: Operation) -> bool:
    return first.dtype in LOW_PRECISION or any(word in first.text + second.text for word in _SUMS)


def _alone(table: FusionTable) -> List[Offer]:
    mixed = _in_mixed_kernels(table)
    touching: Dict[str, List[Operation]] = {}
    for read, reader in _boundaries(table):
        touching.setdefault(read.name, []).append(reader)
        touching.setdefault(reader.name, []).append(read)
    sites: Dict[bytes, List[Operation]] = {}
    for operation in table.operations:
        if operation.name in mixed and len(touching.get(operation.name, ())) > 1:
            sites.setdefault(operation.kind, []).append(operation)
    return [Offer(ALONE, places[0].text, (kind,), ("merged", "alone"), (Ask(alone=frozenset({kind})),), len(places),
                  sum(o.bytes_written + sum(t.bytes_written for t in touching[o.name]) for o in places), True,
                  tuple((o.anchor,) for o in places)) for kind, places in sites.items()]


def _boundaries(table: FusionTable) -> List[Tuple[Operation, Operation]]:
    kernel = table.kernel_of()
    by_name = {o.name: o for o in table.operations}
    return [(by_name[read], reader) for reader in table.operations for read in reader.reads
            if read in kernel and kernel[read] == kernel.get(reader.name)]


def _in_mixed_kernels(table: FusionTable) -> "frozenset[str]":
    """Operations in kernels that hold sums, or a product, and something else."""
    forms = {o.name: o.form for o in table.operations}
    held = [kernel for kernel in table.kernels
            if len({forms.get(name) for name in kernel}) > 1
            and any(forms.get(name) in (REDUCTION, TEMPLATE) for name in kernel)]
    return frozenset(name for kernel in held for name in kernel)
