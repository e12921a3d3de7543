"""Finds and loads libblazed.

    try:
        library = load()
    except Unavailable as why:
        print(why)           # one sentence with the next move

Looked for, in this order: `_lib/libblazed.so.0` in this package (a wheel brings it), the file that BLAZED_LIBRARY
names, and `libblazed.so.0` on the loader's path.

Thread: any. Owner: the process; a library is never unloaded, as its thread may be inside it.
"""
import ctypes
import os
import platform
import re
from typing import Optional

from . import abi

NAME = "libblazed.so.0"
# Of the libraries whose structures abi.py has.
SPEAKS = (0, 1)
_MACHINES = {3: "i386", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64", 21: "ppc64", 22: "s390x"}


class Unavailable(Exception):
    """There is no libblazed for this process; the text is one sentence that ends with the next move."""


class Library:
    """The functions of blazed.h by their names without `blz_`, and where they came from."""

    def __init__(self, path: str):
        # A second handle of the same library, whose calls keep the interpreter's lock.
        waiting, short = ctypes.CDLL(path), ctypes.PyDLL(path)
        for table, handle in ((abi.WAITING, waiting), (abi.SHORT, short)):
            for name, (result, arguments) in table.items():
                function = getattr(handle, name)
                function.restype, function.argtypes = result, arguments
                setattr(self, name[len("blz_"):], function)
        for name, result in abi.HOT.items():
            function = getattr(short, name)
            function.restype = result
            setattr(self, name[len("blz_"):], function)
        self.path = path
        self.version: str = self.version().decode()


def _wanted() -> str:
    inside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_lib", NAME)
    if os.path.exists(inside):
        return inside
    return os.environ.get("BLAZED_LIBRARY") or NAME


def _machine_of(path: str) -> Optional[str]:
    """The machine that a shared object is for; None where the file is none or cannot be read."""
    try:
        with open(path, "rb") as file:
            head = file.read(20)
    except OSError:
        return None
    if len(head) < 20 or head[:4] != b"\x7fELF":
        return None
    number = int.from_bytes(head[18:20], "little" if head[5] == 1 else "big")
    return _MACHINES.get(number, f"machine {number}")


def _newest_glibc(path: str, complaint: "re.Match[str]") -> str:
    """The version that a shared object needs; the loader complains of the first one that it does not find."""
    versions = [(int(complaint.group(1)), int(complaint.group(2)))]
    try:
        with open(path, "rb") as file:
            found = re.findall(rb"\0GLIBC_(\d+)\.(\d+)", file.read())
    except OSError:
        found = []  # one on the loader's path
    versions += [(int(major), int(minor)) for major, minor in found]
    return "{}.{}".format(*max(versions))


def _why_not_loaded(path: str, error: OSError) -> str:
    if os.sep not in path:
        if "cannot open shared object file" in str(error) and str(error).startswith(path):
            return (f"libblazed is not installed: no {NAME} in the package or on the loader's path; install the wheel "
                    "of this machine, or name the file in BLAZED_LIBRARY")
    elif not os.path.exists(path):
        return f"BLAZED_LIBRARY names {path}, which is not there; name libblazed.so.0, or unset it"
    else:
        machine = _machine_of(path)
        if machine is None:
            return f"{path} is no shared library; name libblazed.so.0 in BLAZED_LIBRARY"
        if machine != platform.machine():
            return f"{path} is built for {machine} and this is {platform.machine()}; install the one of this machine"
    complaint = re.search(r"version `GLIBC_(\d+)\.(\d+)[^']*' not found", str(error))
    if complaint:
        return (f"{path} needs glibc {_newest_glibc(path, complaint)} and this machine has "
                f"{os.confstr('CS_GNU_LIBC_VERSION')}; train on Ubuntu 22.04, Debian 12, an Enterprise Linux 9, or what "
                "is later")
    if "libnghttp2" in str(error):
        return f"{path} needs libnghttp2.so.14, which is not installed; install it (Debian: libnghttp2-14)"
    return f"{path} cannot be loaded: {error}; install libblazed again"


def _open(path: str) -> Library:
    try:
        library = Library(path)
    except OSError as error:
        raise Unavailable(_why_not_loaded(path, error)) from None
    except AttributeError as error:
        raise Unavailable(f"{path} is not the libblazed of this package ({error}); install the two from one "
                          "release") from None
    if tuple(library.version.split(".")[:2]) != tuple(map(str, SPEAKS)):
        raise Unavailable(f"{path} is version {library.version} and this package speaks {SPEAKS[0]}.{SPEAKS[1]}; "
                          "install the two from one release")
    return library


_loaded: Optional[Library] = None


def load() -> Library:
    """The library, the same one every time. Raises Unavailable; asked again, it looks again."""
    global _loaded
    if _loaded is None:
        _loaded = _open(_wanted())
    return _loaded
