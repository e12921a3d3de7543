"""What a measurement in this process is valid for: releases, the device, and every switch of the
framework by which the same program gets other kernels or other numbers.

A plan that was settled under one set is a first guess under another.
"""
import re
from typing import Any, Dict, Optional

from . import arithmetic

_DRIVER = "/proc/driver/nvidia/version"


def of(device: str) -> Dict[str, str]:
    """`device`: its type, cpu or cuda. At most 24 labels. Raises nothing: what this release of the
    framework does not have is left out."""
    import torch

    found: Dict[str, Any] = {
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        # It raises where the switches that follow are not all as one word says.
        "matmul_precision": _asked(torch.get_float32_matmul_precision),
        "f32_products": _asked(lambda: arithmetic.products_of_f32(device)),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
    }
    if device == "cuda":
        found.update(_of_cuda())
    return {name: str(value) for name, value in found.items() if value is not None}


def device_name(device: str) -> Optional[str]:
    """The name by which the daemon knows it; None: the CPU."""
    if device != "cuda":
        return None
    import torch

    return f"GPU-{torch.cuda.get_device_properties(torch.cuda.current_device()).uuid}"


def _of_cuda() -> Dict[str, Any]:
    import torch

    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    cudnn, matmul, cuda = torch.backends.cudnn, torch.backends.cuda.matmul, torch.backends.cuda
    return {
        "gpu": properties.name,
        "gpu_memory": properties.total_memory,
        "driver": _driver(),
        "cuda": torch.version.cuda,
        "triton": _triton(),
        "cudnn": cudnn.version(),
        "cudnn_benchmark": cudnn.benchmark,
        "cudnn_deterministic": cudnn.deterministic,
        "cudnn_tf32": _asked(lambda: cudnn.allow_tf32),
        "f16_reductions": _asked(lambda: matmul.allow_fp16_reduced_precision_reduction),
        "bf16_reductions": _asked(lambda: matmul.allow_bf16_reduced_precision_reduction),
        "attention": _asked(lambda: "+".join(name for name, on in (
            ("flash", cuda.flash_sdp_enabled()), ("efficient", cuda.mem_efficient_sdp_enabled()),
            ("math", cuda.math_sdp_enabled()), ("cudnn", cuda.cudnn_sdp_enabled())) if on)),
    }


def _asked(question: Any) -> Any:
    try:
        return question()
    except (AttributeError, RuntimeError):
        return None


def _driver() -> Optional[str]:
    """The kernel module's version, or what the driver says it can do where that cannot be read."""
    import torch

    try:
        with open(_DRIVER, encoding="utf-8") as file:
            found = re.search(r"\b(\d+\.\d+(?:\.\d+)?)\b", file.readline())
        if found:
            return found.group(1)
    except OSError:
        pass
    version = _asked(lambda: torch._C._cuda_getDriverVersion())
    return None if version is None else f"cuda {version}"


def _triton() -> Optional[str]:
    try:
        import triton
    except ImportError:
        return None
    return str(getattr(triton, "__version__", "unknown"))
