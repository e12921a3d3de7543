"""How a whole step is handed to the device: one decision for all graphs of a step.

`streams` hands over each kernel as the framework does. `graphs` runs each compiled graph through the compiler's own
CUDA graphs. `whole_step` replays forward, backward and optimiser as one recording; only a job that hands its step to
blazed.torch.train_step can have it, since a compiler never sees the optimiser. Under it the compiled graphs hold no
CUDA graphs of their own.
"""
from typing import Optional, Sequence

from . import identity, space

STREAMS, GRAPHS, WHOLE_STEP = "streams", "graphs", "whole_step"
RECORDING_NS = 500_000_000  # what a recording takes, a few steps that are waited for; nothing is compiled


def options(device: str, calls: int, whole_step: bool) -> Sequence[str]:
    """By which a step can be launched here, the framework's own first. `calls`: how many it makes of graphs of this
    backend; `whole_step`: train_step found that it may be replayed."""
    offered = [STREAMS]
    if whole_step:
        offered.append(WHOLE_STEP)  # before what takes longer to build and saves less
    if not why_no_graphs(device, calls):
        offered.append(GRAPHS)
    return offered


def why_no_graphs(device: str, calls: int) -> str:
    """One sentence; empty where the compiler's CUDA graphs are offered. Its recordings of all graphs share one memory, in
    an order that it learns from how they were called. A plan is tried graph by graph before a step runs it, and a step
    that then called two of them in turns was seen to get wrong gradients of the first (PyTorch 2.11)."""
    if device != "cuda":
        return "CUDA graphs need an NVIDIA GPU"
    if calls == 0:
        return "no graph of the step was compiled by this backend"
    if calls > 1:
        return (f"the step calls compiled graphs {calls} times, and the compiler's CUDA graphs may write over what one call "
                "keeps for its backward pass while another runs")
    return ""


def decision(offered: Sequence[str]) -> Optional[space.Decision]:
    """None where there is nothing to choose. Its identity holds the options: a job that could not be replayed is
    another one."""
    if len(offered) < 2:
        return None
    return space.Decision(identity.digest("launch", *offered), "the step is launched as", space.LAUNCH,
                          tuple(offered), space.WHOLE, 1, False, space.HEAVIEST)


def mark_step() -> None:
    """Tells the compiler's CUDA graphs that what an earlier step left may be overwritten. Once a step, not once a graph:
    a graph's backward pass may still be to come when the next graph is called."""
    import torch

    torch.compiler.cudagraph_mark_step_begin()
