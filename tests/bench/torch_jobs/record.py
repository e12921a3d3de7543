"""What a result says of the machine and the versions it was measured with. A bundle names its commit in COMMIT."""
import datetime
import json
import pathlib
import platform
import shlex
import subprocess
import sys
from typing import Any, Dict, Optional

import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import collect  # noqa: E402


def commit() -> str:
    named = HERE / "COMMIT"
    return named.read_text(encoding="ascii").strip() if named.exists() else collect.commit()


def _asked_of_gpu(fields: str) -> str:
    try:
        ran = subprocess.run(["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader", "-i", "0"],
                             capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return ""
    return ran.stdout.strip() if ran.returncode == 0 else ""


def gpu(device: str) -> Optional[Dict[str, Any]]:
    if torch.device(device).type != "cuda":
        return None
    properties = torch.cuda.get_device_properties(device)
    return {"name": properties.name, "memory_gib": round(properties.total_memory / 2**30, 1),
            "driver": _asked_of_gpu("driver_version")}


def gpu_state() -> str:
    """Clocks, temperature, power and load, as the driver tells them; empty without a GPU."""
    return _asked_of_gpu("clocks.sm,clocks.mem,temperature.gpu,power.draw,utilization.gpu")


def versions() -> Dict[str, str]:
    found = {"python": platform.python_version(), "torch": torch.__version__, "cuda": str(torch.version.cuda),
             "cudnn": str(torch.backends.cudnn.version())}
    try:
        import triton

        found["triton"] = triton.__version__
    except ImportError:
        pass
    return found


def head(what: str, device: str) -> Dict[str, Any]:
    """Of a result in the form of docs/results, without its rows."""
    now = datetime.datetime.now(datetime.timezone.utc)
    return {"schema": 1, "what": what, "kind": "measured", "date": now.strftime("%Y-%m-%dT%H:%M:%SZ"), "commit": commit(),
            "machine": collect.machine(), "gpu": gpu(device), "versions": versions(),
            "command": shlex.join(["device.sh", pathlib.Path(sys.argv[0]).stem, *sys.argv[1:]])}


def write(path: pathlib.Path, result: Any) -> None:
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(result) + "\n", encoding="utf-8")
    partial.replace(path)
