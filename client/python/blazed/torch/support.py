"""What blazed can tune here, and one sentence where it cannot."""
import os
import sys
from typing import Any, Sequence, Tuple

from .graph import Graph

TESTED = ((2, 11), (2, 15))  # releases of PyTorch that the tests run on
_COLLECTIVES = ("_c10d_functional", "c10d")


def why_not(graphs: Sequence[Graph]) -> str:
    """Why these graphs are not tuned; empty where they are."""
    import torch

    if torch._dynamo.compiled_autograd.compiled_autograd_enabled:
        return "compiled autograd captures the backward pass anew, which blazed does not follow"
    for graph in graphs:
        if any(isinstance(value, torch.SymInt) for value in graph.inputs):
            return "a graph has symbolic shapes; torch.compile(..., dynamic=False) makes them fixed"
        if any(_is_collective(node) for d in graph.default.directions.values()
               for node in d.source.module.graph.nodes):
            return "a graph holds collectives, which all ranks would have to run alike"
    return ""


def version() -> Tuple[int, int]:
    import torch

    major, minor = torch.__version__.split(".")[:2]
    return int(major), int(minor)


def profiling() -> bool:
    import torch

    return bool(torch.autograd._profiler_enabled())


def workload_name() -> str:
    """The script's name: people know their job by it."""
    name = os.path.basename(sys.argv[0]) if sys.argv and sys.argv[0] else "python"
    return name[:90] or "python"


def _is_collective(node: Any) -> bool:
    return any(part in str(node.target) for part in _COLLECTIVES)
