"""Settings of the compiler for one direction, each offered only where the table of what was merged
shows something that it would change."""

from typing import Any, List, Sequence, Tuple

from .ask import Ask
from .choices import LONG_PERSISTENT
from .direction import Direction
from .fusion_table import COULD_MIX_ORDERS, MIXED_ORDERS, OTHER, REDUCTION, REORDERED, FusionTable
from .offer import SETTING, Offer

_KERNEL_SIZES = (16, 8, 4)  # operations, below the compiler's own limit
_SHORT, _LONG = 1024, 16 * 1024  # values of a reduction that the compiler keeps at once, and 16 times that
_FEW_KERNELS = 3  # with fewer there is nothing to run side by side

Option = Tuple[str, Ask]


def offers_of(direction: Direction) -> List[Offer]:
    table = direction.default.table
    if table is None:
        return []
    everything, sums = _all_bytes(table), any(o.form == REDUCTION for o in table.operations)
    offers = [_offer("largest kernel", "as merged", _kernel_sizes(table), everything, sums)]
    if _device(direction) == "cuda":
        offers += _of_cuda(table, everything, sums)
    else:
        offers.append(_offer("vector width", "widest", _vector_widths(table), everything // 2, sums))
    return [offer for offer in offers if len(offer.options) > 1]


def _of_cuda(table: FusionTable, everything: int, sums: bool) -> List[Offer]:
    summed = _summed_bytes(table)
    return [
        _offer("reductions of mixed orders", "as merged", _mixed_orders(table), summed, True),
        _offer("reductions", "as chosen", _reductions(table), summed, True),
        _offer("loop orders", "changed to merge", _loop_orders(table), everything, sums),
        _offer("independent kernels", "one by one", _side_by_side(table), everything // 2, sums),
        # Last: a kernel is timed under many settings when it first runs.
        _offer("block sizes", "as chosen", _launches(table), everything // 4, sums),
    ]


def _kernel_sizes(table: FusionTable) -> List[Option]:
    largest = max((len(kernel) for kernel in table.kernels), default=0)
    return [(f"at most {size}", _set(max_fusion_size=size)) for size in _KERNEL_SIZES if size < largest]


def _vector_widths(table: FusionTable) -> List[Option]:
    import torch

    if torch.backends.cpu.get_cpu_capability() != "AVX512" or not _generated(table):
        return []
    return [("256 bits", _set(**{"cpp.simdlen": 256}))]


def _mixed_orders(table: FusionTable) -> List[Option]:
    if MIXED_ORDERS in table.traits:
        return [("never", _set(**{"triton.mix_order_reduction": False}))]
    if COULD_MIX_ORDERS in table.traits:
        return [("at any size", _set(**{"triton.mix_order_reduction": True,
                                        "triton.mix_order_reduction_non_strict_mode": True}))]
    return []


def _reductions(table: FusionTable) -> List[Option]:
    lengths = [o.reduced for o in table.operations if o.form == REDUCTION]
    options = []
    if any(0 < length <= _SHORT for length in lengths):
        options.append(("looped", _set(**{"triton.persistent_reductions": False})))
    if any(_SHORT < length <= _LONG for length in lengths):
        options.append(("rows kept at once", Ask(hooks=frozenset({LONG_PERSISTENT}))))
    if _is_split(table):
        options += [("not split", _set(split_reductions=False)),
                    ("blocks together", _set(**{"triton.cooperative_reductions": True}))]
    return options


def _is_split(table: FusionTable) -> bool:
    """Whether a sum is made of partial sums: one that reads another of the very same nodes."""
    sums = {o.name: o for o in table.operations if o.form == REDUCTION}
    return any(read in sums and sums[read].origins == o.origins for o in sums.values() for read in o.reads)


def _loop_orders(table: FusionTable) -> List[Option]:
    return [("kept", _set(loop_ordering_after_fusion=False))] if REORDERED in table.traits else []


def _side_by_side(table: FusionTable) -> List[Option]:
    if len(_generated(table)) < _FEW_KERNELS:
        return []
    return [("side by side", _set(combo_kernels=True, benchmark_combo_kernel=False))]


def _launches(table: FusionTable) -> List[Option]:
    if not _generated(table):
        return []
    return [("of more candidates", _set(max_autotune_pointwise=True)),
            ("searched", _set(coordinate_descent_tuning=True))]


def _offer(text: str, own: str, options: Sequence[Option], weight: int, sums: bool) -> Offer:
    known = [(name, ask) for name, ask in options if all(_exists(key) for key, _ in ask.settings)]
    return Offer(SETTING, text, (text,), (own, *(name for name, _ in known)), tuple(ask for _, ask in known), 1,
                 weight, sums)


def _set(**settings: Any) -> Ask:
    return Ask(settings=tuple(sorted(settings.items())))


def _exists(key: str) -> bool:
    from torch._inductor import config

    place: Any = config
    *path, last = key.split(".")
    for part in path:
        place = getattr(place, part, None)
    return hasattr(place, last)


def _generated(table: FusionTable) -> List[Tuple[str, ...]]:
    """Kernels that the compiler wrote, without calls of libraries."""
    forms = {o.name: o.form for o in table.operations}
    return [kernel for kernel in table.kernels if any(forms.get(name, OTHER) != OTHER for name in kernel)]


def _all_bytes(table: FusionTable) -> int:
    return sum(o.bytes_written for o in table.operations)


def _summed_bytes(table: FusionTable) -> int:
    return sum(o.bytes_written * max(1, o.reduced) for o in table.operations if o.form == REDUCTION)


def _device(direction: Direction) -> str:
    kinds = {value.device.type for value in direction.source.inputs if hasattr(value, "device")}
    return "cuda" if "cuda" in kinds else "cpu"


