"""The largest products of matrices: by the library, or by a template with tiles that are pinned."""

from typing import Dict, List

from . import products
from .ask import Ask
from .direction import Direction
from .fusion_table import Product
from .offer import FLOPS_PER_BYTE, PRODUCT, Offer

_MOST = 12  # such decisions of one direction


def offers_of(direction: Direction) -> List[Offer]:
    table = direction.default.table
    sites: Dict[bytes, List[Product]] = {}
    for product in table.products if table is not None else ():
        sites.setdefault(product.kind, []).append(product)
    processors = _processors()
    offers = []
    for kind, places in sites.items():
        options = products.options_for(places[0], processors)
        if len(options) < 2 or not kind:
            continue
        batch, *sizes = places[0].sizes
        shape = (f"{batch} of " if batch > 1 else "") + "x".join(map(str, sizes))
        offers.append(Offer(PRODUCT, f"{places[0].name} {shape}", (kind,), options,
                            tuple(Ask(templates=frozenset({(kind, option)})) for option in options[1:]),
                            len(places), sum(p.flops() for p in places) // FLOPS_PER_BYTE, True,
                            tuple((p.anchor,) for p in places)))
    offers.sort(key=lambda offer: (-offer.weight, offer.identity))
    return offers[:_MOST]


def _processors() -> int:
    import torch

    if not torch.cuda.is_available():
        return 1
    return int(torch.cuda.get_device_properties(torch.cuda.current_device()).multi_processor_count)
