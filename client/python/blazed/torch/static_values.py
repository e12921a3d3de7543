"""What goes into a recorded step and comes out of it: memory of fixed place."""
from typing import Any, List, Sequence, Tuple

from . import probe, reach


class StaticInputs:
    """Copies of the arguments that a recording reads; `copy_in` fills them anew. Raises ValueError, one sentence, where
    a recording cannot take such arguments."""

    def __init__(self, args: Tuple[Any, ...], kwargs: Any, device: str) -> None:
        import torch
        from torch.utils import _pytree

        leaves, self._tree = _pytree.tree_flatten((args, kwargs))
        for value in leaves:
            _look_at(value, device)
        self._tensors = [(i, probe.copy_of(v)) for i, v in enumerate(leaves) if isinstance(v, torch.Tensor)]
        self._plain = [(i, v) for i, v in enumerate(leaves) if not isinstance(v, torch.Tensor)]
        self._forms = [_form(v) for _, v in self._tensors]
        self._copies = [v for _, v in self._tensors]
        self._count = len(leaves)

    def arguments(self) -> Tuple[Tuple[Any, ...], Any]:
        """To record with: (args, kwargs)."""
        from torch.utils import _pytree

        leaves: List[Any] = [None] * self._count
        for index, value in (*self._tensors, *self._plain):
            leaves[index] = value
        return _pytree.tree_unflatten(leaves, self._tree)

    def copy_in(self, args: Tuple[Any, ...], kwargs: Any) -> bool:
        """False, and nothing is copied, where they are of another form than those that were recorded."""
        import torch
        from torch.utils import _pytree

        leaves, tree = _pytree.tree_flatten((args, kwargs))
        if tree != self._tree or any(not _equal(leaves[i], v) for i, v in self._plain):
            return False
        given = [leaves[i] for i, _ in self._tensors]
        if any(not isinstance(v, torch.Tensor) or _form(v) != form for v, form in zip(given, self._forms)):
            return False
        if given:
            torch._foreach_copy_(self._copies, [v.detach() for v in given], non_blocking=True)
        return True

    def size(self) -> int:
        return sum(v.numel() * v.element_size() for v in self._copies)


class StaticResults:
    """Of a recording: `copy_out` hands on what its latest replay left."""

    def __init__(self, results: Any) -> None:
        from torch.utils import _pytree

        self._leaves, self._tree = _pytree.tree_flatten(detached(results))

    def copy_out(self) -> Any:
        import torch
        from torch.utils import _pytree

        return _pytree.tree_unflatten([v.clone() if isinstance(v, torch.Tensor) else v for v in self._leaves],
                                      self._tree)


def detached(results: Any) -> Any:
    """A step's graph is used up when the step has ended; results that hold on to it would keep its memory."""
    import torch
    from torch.utils import _pytree

    if isinstance(results, torch.Tensor):
        return results.detach()
    return _pytree.tree_map(lambda v: v.detach() if isinstance(v, torch.Tensor) else v, results)


def form_of(args: Tuple[Any, ...], kwargs: Any) -> Tuple[Any, ...]:
    """Equal where one recording could serve both. For comparing; costs microseconds."""
    import torch
    from torch.utils import _pytree

    leaves, tree = _pytree.tree_flatten((args, kwargs))
    return (str(tree), *(_form(v) if isinstance(v, torch.Tensor) else v if reach.is_plain(v) else id(v)
                         for v in leaves))


def tensors_in(values: Any) -> List[Any]:
    import torch
    from torch.utils import _pytree

    return [v for v in _pytree.tree_leaves(values) if isinstance(v, torch.Tensor)]


def _look_at(value: Any, device: str) -> None:
    import torch

    if isinstance(value, torch.Tensor):
        if value.requires_grad:
            raise ValueError("an argument of the step needs a gradient, which would leave the recording")
        if value.device.type != device:
            raise ValueError(f"an argument of the step lies on {value.device.type}; move the batch to {device} before "
                             "the step")
        if value.layout is not torch.strided:
            raise ValueError("an argument of the step is no dense tensor")
    elif hasattr(type(value), "__next__"):
        raise ValueError("an argument of the step is an iterator; hand the batch itself to the step")


def _form(value: Any) -> Sequence[Any]:
    return (value.shape, value.dtype, value.device, value.stride(), value.requires_grad)


def _equal(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and reach.is_plain(a) and a == b)

