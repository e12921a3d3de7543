"""A mark in a captured graph: the value before it is written to memory once and read from there.

The compiler computes a cheap value anew in each kernel that reads it, long before it asks what may
be fused. The mark is an operation of its own that the compiler lowers to that value itself, written
out; nothing is copied, and the other nodes of the graph stay as they were.
"""

from typing import Any, FrozenSet, Optional

_NAME = "blazed::materialise"
_library: Any = None  # its registration lives as long as this does


def operation() -> Optional[Any]:
    """The mark's operation, defined at first use; None where this PyTorch does not let it be."""
    global _library
    import torch

    if _library is None:
        try:
            _library = _defined()
        except (AttributeError, ImportError, RuntimeError, TypeError):
            _library = False
    return torch.ops.blazed.materialise.default if _library else None


def _defined() -> Any:
    import torch
    from torch._inductor.lowering import register_lowering

    library = torch.library.Library("blazed", "FRAGMENT")
    library.define("materialise(Tensor value) -> Tensor")
    library.impl("materialise", lambda value: value.clone(), "CompositeExplicitAutograd")

    @register_lowering(torch.ops.blazed.materialise.default, type_promotion_kind=None)
    def lowered(value: Any) -> Any:
        value.realize()
        return value

    return library


def mark(module: Any, names: FrozenSet[str]) -> None:
    """Marks these nodes of `module`, which is changed. Names that it does not hold are left out."""
    chosen = operation()
    if chosen is None or not names:
        return
    for node in list(module.graph.nodes):
        if node.name not in names:
            continue
        with module.graph.inserting_after(node):
            made = module.graph.call_function(chosen, (node,))
        made.meta = {key: node.meta[key] for key in ("val", "tensor_meta") if key in node.meta}
        node.replace_all_uses_with(made, delete_user_cb=lambda user, made=made: user is not made)
    module.recompile()


def is_mark(node: Any) -> bool:
    # By its name: a graph from the compiler's passes may be looked at before any mark was made.
    return getattr(node, "op", "") == "call_function" and str(node.target) == "blazed.materialise.default"


def marked(node: Any) -> Any:
    """The node whose value this is: itself, or what was marked."""
    while is_mark(node):
        node = node.args[0]
    return node
