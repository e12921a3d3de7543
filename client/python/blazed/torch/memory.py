"""The device's memory as plans use it: what a run needs, what a plan holds, and whether the allocator had to start over.

Only a device's own allocator knows. Of the CPU's memory nothing is known, and no plan is judged by it there.
"""
from typing import Any, Callable, Optional, Protocol

_SHARE = 8  # of the device: what plans may need beside the default, where the job says nothing


class Meter(Protocol):
    def needed(self, run: Callable[[], Any]) -> int:
        """Calls `run`; bytes that were in use in its middle beside those before it."""

    def held(self) -> int:
        """Bytes that recordings keep to themselves, in use or not."""

    def spare(self) -> int:
        """Bytes that plans may need beside the default without getting in the job's way."""

    def retries(self) -> int:
        """How often the allocator found nothing, gave back what it had kept and began anew, which waits for the device."""


class CudaMeter:
    """Of PyTorch's current GPU. Its statistics of peaks begin anew in each `needed`: the framework has no others. Thread:
    the one that trains."""

    def needed(self, run: Callable[[], Any]) -> int:
        import torch

        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        run()
        return max(0, int(torch.cuda.max_memory_allocated() - before))

    def held(self) -> int:
        import torch

        try:
            segments = torch.cuda.memory_snapshot()
        except RuntimeError:  # of another allocator than PyTorch's own
            return 0
        return sum(s["total_size"] for s in segments if any(s.get("segment_pool_id", ())))

    def spare(self) -> int:
        import torch

        free, total = torch.cuda.mem_get_info()
        free += torch.cuda.memory_reserved() - torch.cuda.memory_allocated()
        return int(min(total // _SHARE, free // 2))

    def retries(self) -> int:
        import torch

        # memory_stats() would make a flat copy of it all, and this is asked in steps.
        return int(torch.cuda.memory_stats_as_nested_dict()["num_alloc_retries"])


def for_device(device: str) -> Optional[Meter]:
    """None where nothing can be known."""
    return CudaMeter() if device == "cuda" else None
