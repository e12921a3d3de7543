"""What a graph was captured on, without the memory: a batch or a parameter that a graph kept would outlive the job's own."""
from typing import Any, List, Sequence


class Capture:
    """`inputs`: fake tensors in the place of the capture's, of the mode `mode` that later compiles have to use."""

    def __init__(self, inputs: Sequence[Any], context: Any) -> None:
        from torch._subclasses.fake_tensor import FakeTensorMode

        # Of the capture's own mode, which has met these tensors: it answers with what the graph was traced on.
        self.mode = context.fake_mode if context is not None and context.fake_mode is not None else FakeTensorMode()
        self.inputs: List[Any] = [_fake(value, self.mode) for value in inputs]


def _fake(value: Any, mode: Any) -> Any:
    import torch
    from torch._subclasses.fake_tensor import FakeTensor

    if not isinstance(value, torch.Tensor) or isinstance(value, FakeTensor):
        return value
    # One that it has not met gets no symbols: later compiles have no guards to add.
    return mode.from_tensor(value, static_shapes=True)
