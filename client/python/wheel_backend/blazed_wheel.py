#!/usr/bin/env python3
"""Builds the wheel of `blazed`: the package, the shim inside it, and the licences of what the shim contains.

    blazed_wheel.py --shim build/release/bundle/libblazed.so.0 --out out

prints the wheel's path. The shim is the one that brings nghttp2 along (CMake's target `blazed_shim_bundle`). pip, by
pyproject.toml, comes in through `build_wheel`, with `--config-settings shim=PATH`.

Equal inputs give equal bytes: members are sorted and carry the time that SOURCE_DATE_EPOCH says, else that of the first
day of the format, and fixed modes. Needs Python 3.11 and nothing else.

Errors: `Refused`, one sentence that ends with the next move.
"""
import argparse
import base64
import ctypes
import hashlib
import os
import pathlib
import re
import sys
import time
import tomllib
import zipfile

PROJECT = pathlib.Path(__file__).resolve().parents[1]
PACKAGE = PROJECT / "blazed"
INSIDE = "blazed/_lib/libblazed.so.0"  # where blazed/library.py looks first
GLIBC = (2, 34)  # the oldest C library that the wheel is for
SUFFIXES = (".py", ".txt", ".typed")
# What is linked into the shim, and the Debian package that it is from. The two small parts of GCC's C++ library need no
# text: the runtime library exception of its licence.
LINKED = {"nghttp2": "libnghttp2-dev", "nanopb": "libnanopb-dev", "xxhash": "libxxhash-dev"}
_MACHINES = {62: "x86_64", 183: "aarch64"}
_FIRST_DAY = 315532800  # 1980-01-01, where the time of zip archives begins


class Refused(Exception):
    """The wheel cannot be built; the text is one sentence that ends with the next move."""


def _version():
    return re.search(r'^VERSION = "([\d.]+)"$', (PACKAGE / "version.py").read_text(encoding="utf-8"), re.M).group(1)


def _shim(path, version):
    """Its bytes and the machine that it is for, once it is known to be of this version."""
    try:
        text = pathlib.Path(path).read_bytes()
    except OSError as error:
        raise Refused(f"{path} cannot be read ({error.strerror}); ./run package builds the shim first") from None
    machine = _MACHINES.get(int.from_bytes(text[18:20], "little")) if text[:4] == b"\x7fELF" else None
    if machine is None:
        raise Refused(f"{path} is no shared library that a wheel is made for; name libblazed.so.0")
    try:
        function = ctypes.CDLL(os.path.abspath(path)).blz_version
    except (OSError, AttributeError) as error:
        raise Refused(f"{path} is not libblazed ({error}); name libblazed.so.0") from None
    function.restype = ctypes.c_char_p
    newest = max((tuple(map(int, found)) for found in re.findall(rb"\0GLIBC_(\d+)\.(\d+)", text)), default=GLIBC)
    if newest > GLIBC:
        raise Refused(f"{path} needs glibc {newest[0]}.{newest[1]} and the wheel is for {GLIBC[0]}.{GLIBC[1]}; build the "
                      "shim on Debian 12")
    if function().decode() != version:
        raise Refused(f"{path} is version {function().decode()} and the package {version}; build both from one tree")
    return text, machine


def _licences(folder):
    for name, package in LINKED.items():
        path = pathlib.Path("/usr/share/doc", package, "copyright")
        try:
            yield f"{folder}/licenses/{name}.txt", path.read_bytes()
        except OSError as error:
            raise Refused(f"the licence of {name} cannot be read from {path} ({error.strerror}); "
                          f"install {package} with its documentation") from None


def _metadata(project, version):
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {version}",
             f"Summary: {project['description']}", f"Requires-Python: {project['requires-python']}"]
    lines += [f"Classifier: {classifier}" for classifier in project["classifiers"]]
    return "\n".join(lines) + "\n"


def _entry_points(project):
    lines = []
    for group, entries in sorted(project["entry-points"].items()):
        lines += [f"[{group}]", *(f"{name} = {target}" for name, target in sorted(entries.items())), ""]
    return "\n".join(lines)


def _record(members, folder):
    lines = []
    for name, content in members:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}")
    return "\n".join([*lines, f"{folder}/RECORD,,"]) + "\n"


def _members(shim, version, machine):
    """(wheel's tag, [(name, bytes)]), the record last, as the format asks."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    tag, folder = f"py3-none-manylinux_{GLIBC[0]}_{GLIBC[1]}_{machine}", f"blazed-{version}.dist-info"
    members = [(path.relative_to(PROJECT).as_posix(), path.read_bytes())
               for path in PACKAGE.rglob("*") if path.suffix in SUFFIXES]
    members.append((INSIDE, shim))
    members.sort()
    inside = [*_licences(folder),
              (f"{folder}/METADATA", _metadata(project, version).encode()),
              (f"{folder}/WHEEL", f"Wheel-Version: 1.0\nGenerator: blazed {version}\nRoot-Is-Purelib: false\n"
                                  f"Tag: {tag}\n".encode()),
              (f"{folder}/entry_points.txt", _entry_points(project).encode())]
    members += sorted(inside)
    members.append((f"{folder}/RECORD", _record(members, folder).encode()))
    return tag, members


def _write(path, members):
    moment = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", _FIRST_DAY)), _FIRST_DAY))[:6]
    scratch = path.with_suffix(".part")
    with zipfile.ZipFile(scratch, "w") as archive:
        for name, content in members:
            member = zipfile.ZipInfo(name, moment)
            member.create_system, member.compress_type = 3, zipfile.ZIP_DEFLATED  # of Unix: modes hold
            member.external_attr = (0o100755 if name == INSIDE else 0o100644) << 16
            archive.writestr(member, content, compresslevel=9)
    os.replace(scratch, path)


def build(shim, out):
    """The path of the wheel. Raises Refused."""
    version = _version()
    content, machine = _shim(shim, version)
    tag, members = _members(content, version, machine)
    path = pathlib.Path(out) / f"blazed-{version}-{tag}.whl"
    path.parent.mkdir(parents=True, exist_ok=True)
    _write(path, members)
    return path


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """For pip and other builders (PEP 517)."""
    shim = (config_settings or {}).get("shim")
    if not shim:
        raise Refused("a wheel needs the shim; use ./run package, or give pip --config-settings shim=PATH")
    return build(shim, wheel_directory).name


def main():
    parser = argparse.ArgumentParser(description="Builds the wheel of blazed.")
    parser.add_argument("--shim", required=True, help="libblazed.so.0, the one with nghttp2 inside")
    parser.add_argument("--out", required=True, help="folder of the wheel")
    given = parser.parse_args()
    try:
        print(build(given.shim, given.out))
    except Refused as why:
        sys.exit(f"blazed_wheel: {why}")


if __name__ == "__main__":
    main()
