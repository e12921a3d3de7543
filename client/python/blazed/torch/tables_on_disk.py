"""Fusion tables beside the compiler's cache.

A result that comes from the compiler's cache was scheduled in another process, so the table of what
was fused has to come from there too. A file that is missing, damaged or of another format is no
table: the graph is then compiled once without the cache.
"""

import os
import tempfile
from typing import Optional

from .fusion_table import FusionTable

_FORMAT = "v3"


def _path(key: str) -> str:
    from torch._inductor.runtime.cache_dir_utils import cache_dir

    return os.path.join(cache_dir(), "blazed", _FORMAT, key + ".json")


def read(key: str) -> Optional[FusionTable]:
    try:
        with open(_path(key), encoding="utf-8") as file:
            return FusionTable.from_json(file.read())
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write(key: str, table: FusionTable) -> None:
    """Atomically, and without a word where it cannot be written: the next process compiles then."""
    path = _path(key)
    temporary = ""
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path))
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(table.to_json())
        os.replace(temporary, path)
    except OSError:
        if temporary:
            _remove(temporary)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
