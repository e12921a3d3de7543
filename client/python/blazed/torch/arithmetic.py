"""In what arithmetic a graph computes, which may be coarser than the types of its results, and how to ask the
framework for none that is."""

import contextlib
from typing import Any, Iterator, Optional, Tuple

from .graph import Graph

_TYPES = {"torch.float16": 2.0**-11, "torch.bfloat16": 2.0**-8}  # unit roundoffs
_EIGHT_BITS = 2.0**-8  # coarser than a session takes
_PRECISIONS = {"tf32": 2.0**-11, "bf16": 2.0**-8}  # of products of f32, by the framework's words
_SWITCHES = (("cuda", "matmul"), ("cuda", "conv"), ("cuda", "rnn"), ("mkldnn", "matmul"), ("mkldnn", "conv"),
             ("mkldnn", "rnn"))
_PRODUCTS = frozenset(("mm", "addmm", "bmm", "baddbmm", "mv", "addmv", "dot", "linear"))


def unit_roundoff(graph: Graph) -> float:
    """Of the coarsest arithmetic of the graph's default; 0 where all is computed in the types that it is stored in."""
    nodes = [node for d in graph.default.directions.values() for node in d.source.module.graph.nodes]
    coarsest = max((_of_types(node.meta.get("val")) for node in nodes), default=0.0)
    names = {_operation(node) for node in nodes}
    backend = _backend(graph.device())
    for kind, found in (("matmul", any(name in _PRODUCTS or "attention" in name for name in names)),
                        ("conv", any("convolution" in name for name in names))):
        if found:
            coarsest = max(coarsest, _PRECISIONS.get(_precision(backend, kind), 0.0))
    return coarsest


def products_of_f32(device: str) -> str:
    """How products of f32 are computed on this type of device, by the switches that are asked one by one."""
    asked = {operation: _precision(backend, operation) for backend, operation in _SWITCHES
             if backend == _backend(device)}
    # What says nothing of its own computes in f32.
    return " ".join(f"{operation}={word if word in _PRECISIONS else 'ieee'}" for operation, word in asked.items())


def switches() -> Tuple[str, ...]:
    """All that say how products of f32 are computed, asked one by one: that never fails. For comparing."""
    from torch import _C

    return tuple(_C._get_fp32_precision_getter(backend, operation) for backend, operation in _SWITCHES)


@contextlib.contextmanager
def finest() -> Iterator[None]:
    """Products of f32 in f32 for the whole process, and everything back as it was. The framework has two sets of
    switches and fails where they contradict each other, so that both are turned."""
    from torch import _C

    before = {switch: _precision(*switch) for switch in _SWITCHES}
    matmul, cudnn = _answer(_C._get_float32_matmul_precision), _answer(_C._get_cudnn_allow_tf32)
    try:
        if matmul is not None:
            _C._set_float32_matmul_precision("highest")
        if cudnn is not None:
            _C._set_cudnn_allow_tf32(False)
        for switch in _SWITCHES:
            if _precision(*switch) in _PRECISIONS:
                _C._set_fp32_precision_setter(*switch, "ieee")
        yield
    finally:
        if matmul is not None:
            _C._set_float32_matmul_precision(matmul)
        if cudnn is not None:
            _C._set_cudnn_allow_tf32(cudnn)
        for switch, precision in before.items():
            if _precision(*switch) != precision:
                _C._set_fp32_precision_setter(*switch, precision)


def _of_types(value: Any) -> float:
    if isinstance(value, (tuple, list)):
        return max(map(_of_types, value), default=0.0)
    name = str(getattr(value, "dtype", ""))
    return _EIGHT_BITS if name.startswith("torch.float8") else _TYPES.get(name, 0.0)


def _operation(node: Any) -> str:
    packet = getattr(node.target, "overloadpacket", None)
    return str(getattr(packet, "__name__", node.target))


def _backend(device: str) -> str:
    return "cuda" if device == "cuda" else "mkldnn"


def _precision(backend: str, operation: str) -> str:
    from torch import _C

    return str(_C._get_fp32_precision_getter(backend, operation))


def _answer(asked: Any) -> Optional[Any]:
    """None where the two sets of switches contradict each other, so that this one is not in use."""
    try:
        return asked()
    except RuntimeError:
        return None
