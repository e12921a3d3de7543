"""Settings of the compiler for one direction, each offered only where the table of what was merged
shows something that it would change."""

import dataclasses
from typing import Any, Callable, List, Tuple

from .ask import Ask
from .choices import LONG_PERSISTENT
from .direction import Direction
from .fusion_table import COULD_MIX_ORDERS, MIXED_ORDERS, OTHER, REDUCTION, REORDERED, FusionTable
from .offer import SETTING, Offer

_KERNEL_SIZES = (16, 8, 4)  # operations, below the compiler's own limit
_SHORT, _LONG = 1024, 16 * 1024  # values of a reduction that the compiler keeps at once, and 16 times that
_FEW_KERNELS = 3  # with fewer there is nothing to run side by side

Option = Tuple[str, Ask]


@dataclasses.dataclass(frozen=True)
class Setting:
    """`options`: after the compiler's own, for what the table shows. `weight`: of the bytes that it moves."""

    text: str
    own: str
    options: Callable[[FusionTable], List[Option]]
    devices: Tuple[str, ...]
    weight: Callable[[FusionTable], int]
    of_sums: bool = False  # another one reorders them; else it does where there are some


def offers_of(direction: Direction) -> List[Offer]:
    table, device = direction.default.table, _device(direction)
    if table is None:
        return []
    offers = [_offer(setting, table) for setting in SETTINGS if device in setting.devices]
    return [offer for offer in offers if len(offer.options) > 1]


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


def _offer(setting: Setting, table: FusionTable) -> Offer:
    known = [(name, ask) for name, ask in setting.options(table) if all(_exists(key) for key, _ in ask.settings)]
    sums = setting.of_sums or any(o.form == REDUCTION for o in table.operations)
    return Offer(SETTING, setting.text, (setting.text,), (setting.own, *(name for name, _ in known)),
                 tuple(ask for _, ask in known), 1, setting.weight(table), sums)


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


SETTINGS = (
    Setting("largest kernel", "as merged", _kernel_sizes, ("cpu", "cuda"), _all_bytes),
    Setting("vector width", "widest", _vector_widths, ("cpu",), lambda table: _all_bytes(table) // 2),
    Setting("reductions of mixed orders", "as merged", _mixed_orders, ("cuda",), _summed_bytes, of_sums=True),
    Setting("reductions", "as chosen", _reductions, ("cuda",), _summed_bytes, of_sums=True),
    Setting("loop orders", "changed to merge", _loop_orders, ("cuda",), _all_bytes),
    Setting("independent kernels", "one by one", _side_by_side, ("cuda",), lambda table: _all_bytes(table) // 2),
    # Last: a kernel is timed under many settings when it first runs.
    Setting("block sizes", "as chosen", _launches, ("cuda",), lambda table: _all_bytes(table) // 4),
)
