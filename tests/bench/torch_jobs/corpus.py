"""Real text as token ids: the files that the demo trains on, or those of a bundle.

Ids are those of bytes in ascending value, so that one text gives one vocabulary. A model with a larger vocabulary is
fed the same ids: what its step costs does not hang on which rows of its tables are read.
"""
import os
import pathlib
from typing import List

HERE = pathlib.Path(__file__).resolve().parent
DEMO_FOLDER = pathlib.Path("/usr/share/common-licenses")


def text_files() -> List[pathlib.Path]:
    """BLAZED_BENCH_TEXT names a file; a bundle brings one; else the demo's folder. Symbolic links are left out, as there."""
    named = os.environ.get("BLAZED_BENCH_TEXT")
    if named:
        return [pathlib.Path(named)]
    if (HERE / "text.txt").exists():
        return [HERE / "text.txt"]
    return sorted(path for path in DEMO_FOLDER.glob("*") if path.is_file() and not path.is_symlink())


def read() -> bytes:
    text = b"".join(path.read_bytes() for path in text_files())
    if len(text) < 1 << 16:
        raise RuntimeError("there is no text to train on; name a file in BLAZED_BENCH_TEXT")
    return text


def vocabulary(text: bytes) -> List[int]:
    return sorted(set(text))


def ids(text: bytes) -> List[int]:
    place = {byte: index for index, byte in enumerate(vocabulary(text))}
    return [place[byte] for byte in text]
