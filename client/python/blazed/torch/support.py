"""What blazed can tune here, and one sentence where it cannot."""
import dataclasses
import os
import pathlib
import sys
from typing import Any, Callable, Sequence

from ..enums import Contract
from ..modes import Mode
from ..options import Options
from . import ranks, surroundings
from .direction import BACKWARD
from .graph import Graph

_COLLECTIVES = ("_c10d_functional", "c10d")


def is_off(options: Options) -> bool:
    """Whether the session of a job with these would be off from its start, by order."""
    return options.mode is Mode.OFF or os.environ.get("BLAZED_MODE") == "off"


def why_not(graphs: Sequence[Graph]) -> str:
    """Why these graphs are not tuned; empty where they are."""
    import torch

    backward = [d for graph in graphs for d in [graph.default.directions.get(BACKWARD)] if d is not None]
    if torch._dynamo.compiled_autograd.compiled_autograd_enabled or (backward and all(d.ran is None for d in backward)):
        return ("the backward pass does not run as it was captured with the forward pass; compiled autograd captures it "
                "anew, which blazed does not follow")
    for graph in graphs:
        if _has_symbols(graph):
            return "a graph has symbolic shapes; torch.compile(..., dynamic=False) makes them fixed"
        if any(_is_collective(node) for d in graph.default.directions.values()
               for node in d.source.module.graph.nodes):
            return "a graph holds collectives, which all ranks would have to run alike"
    return ""


def why_no_graph() -> str:
    """Where the backend was never called."""
    from torch._dynamo.utils import counters

    if any("DistributedDataParallel" in why for why in counters["graph_break"]):
        return ("the compiler captured no graph below DistributedDataParallel, as for a model whose own class is PyTorch's, "
                "such as nn.Sequential; compile the model before it is wrapped, or give it a class of its own")
    return ("the compiler has given blazed no graph: nothing that was compiled for it has run, or none of it could be "
            "captured, which TORCH_LOGS=graph_breaks shows")


def _has_symbols(graph: Graph) -> bool:
    """Whether its shapes are symbolic: a variant that comes later could ask for no further guards."""
    import torch

    nodes = [node for d in graph.default.directions.values() for node in d.source.module.graph.nodes]
    values = [node.meta.get("val") for node in nodes]
    return any(isinstance(value, torch.SymInt) or
               any(isinstance(size, torch.SymInt) for size in getattr(value, "shape", ())) for value in values)


def why_only_observed(options: Options) -> str:
    """Why a job with these, filled, is described and timed and never changed; empty where it may be tuned."""
    import torch

    if _series(torch.__version__) not in [_series(release) for release in releases()]:
        return (f"PyTorch {torch.__version__} is none of the releases that blazed was tried with, "
                f"{' and '.join(releases())}; the job is only observed")
    if options.world_size > 1:
        return "a job of several ranks is only observed: plans would differ between ranks"
    if torch.are_deterministic_algorithms_enabled() and options.contract != Contract.BITWISE:
        return ("deterministic algorithms are asked for, and a plan may round otherwise: the job is only observed; with "
                "the contract bitwise it is tuned")
    return ""


def releases() -> Sequence[str]:
    """Of PyTorch, that the tests run with."""
    return pathlib.Path(__file__).with_name("releases.txt").read_text(encoding="utf-8").split()


def _series(release: str) -> str:
    return ".".join(release.split(".")[:2])


_PROBE_BYTES = 1 << 30  # the session's own limit


def filled(options: Options, device: str, told: int = 0, spare: int = 0) -> Options:
    """With this process's rank, what a measurement here is valid for, room for the `told` bytes that a probe gives and
    the `spare` bytes that a plan may need more than the default, beside what the caller named. Only observing where why_only_observed says so."""
    rank, world_size = ranks.of_this_process()
    if options.world_size > 1:
        rank, world_size = options.rank, options.world_size
    environment = {**surroundings.of(device), **options.environment}
    room = options.probe_memory_bytes or max(_PROBE_BYTES, 2 * told)
    given = dataclasses.replace(options, environment=environment, rank=rank, world_size=world_size,
                                probe_memory_bytes=room, extra_memory_bytes=options.extra_memory_bytes or spare,
                                device=options.device or surroundings.device_name(device))
    return dataclasses.replace(given, mode=Mode.OBSERVE) if why_only_observed(given) else given


def profiler_question() -> Callable[[], bool]:
    """What says whether a profiler is active; it is asked in every step."""
    import torch

    return torch.autograd._profiler_enabled


def explains_kernels(options: Options, device: str) -> bool:
    """On a GPU where the job says so alone: the profiler's start in a job whose steps are replayed was not yet seen there."""
    return options.explain_kernels if options.explain_kernels is not None else device != "cuda"


def workload_name() -> str:
    """The script's name: people know their job by it."""
    name = os.path.basename(sys.argv[0]) if sys.argv and sys.argv[0] else "python"
    return name[:90] or "python"


def _is_collective(node: Any) -> bool:
    return any(part in str(node.target) for part in _COLLECTIVES)
