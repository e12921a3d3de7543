"""Which of how many processes of a job this one is.

Ranks that chose plans alone would wait for each other at every collective, and would look like
several jobs that confirm one another; so a job of several ranks only observes.
"""
import os
from typing import Tuple


def of_this_process() -> Tuple[int, int]:
    """Rank and number of ranks: of torch.distributed where it is in use, else what a launcher left in
    the environment, else (0, 1)."""
    import torch.distributed as distributed

    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    rank, world_size = _number("RANK", 0), _number("WORLD_SIZE", 1)
    return (rank, world_size) if 0 <= rank < world_size else (0, max(1, world_size))


def _number(name: str, default: int) -> int:
    try:
        return int(os.environ.get(name, default))
    except ValueError:
        return default
