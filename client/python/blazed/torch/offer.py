"""One place of one direction where the compiler could be asked for something else."""

import dataclasses
from typing import Tuple

from .ask import Ask

BOUNDARY, ALONE, WRITTEN, PRODUCT, SETTING, PART = "cut", "isolate", "written", "product", "setting", "part"
# Bytes that a device moves in the time of so many floating-point operations, roughly and on the low
# side, so that a large product comes before a small boundary: weights only order what is offered.
FLOPS_PER_BYTE = 64


@dataclasses.dataclass(frozen=True)
class Offer:
    kind: str
    text: str  # for people, without the direction
    identity: Tuple[object, ...]  # the same in every process
    options: Tuple[str, ...]  # the framework's own first
    asks: Tuple[Ask, ...]  # of the options after the first
    sites: int
    weight: int  # bytes
    reorders_sums: bool  # some option may change bits
    anchors: Tuple[Tuple[str, ...], ...] = ()  # of each site, what it is about
