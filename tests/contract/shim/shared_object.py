#!/usr/bin/env python3
"""What libblazed.so shows to a host: exports, needs, C library versions, load-time effects.

Usage: shared_object.py [--bundle] LIBBLAZED.SO

--bundle: the one for packages, with nghttp2 inside.
"""
import argparse
import re
import subprocess
import sys

NGHTTP2 = "libnghttp2.so.14"
C_LIBRARY = {"libc.so.6", "libm.so.6"}
NEWEST_GLIBC = (2, 34)
EXPORTS = {
    "blz_attach", "blz_close", "blz_describe_graph", "blz_describe_workload", "blz_give_kernels", "blz_pass_steps",
    "blz_probe_tensor", "blz_quiet_steps", "blz_reason", "blz_report_json", "blz_status", "blz_step_begin",
    "blz_step_end", "blz_version",
}


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def problems(path, bundle):
    dynamic = run("readelf", "-dW", path)
    needed = set(re.findall(r"\(NEEDED\).*\[(.*?)\]", dynamic))
    allowed = C_LIBRARY if bundle else C_LIBRARY | {NGHTTP2}
    if needed - allowed:
        yield f"needs {sorted(needed - allowed)}"
    if not bundle and NGHTTP2 not in needed:
        yield "does not need libnghttp2: is this the shim?"
    if bundle and "nghttp2_" in run("nm", "-D", path):
        yield "asks the process for functions of nghttp2"
    if "RPATH" in dynamic or "RUNPATH" in dynamic:
        yield "says where its libraries are"
    if "NODELETE" not in dynamic:
        yield "can be unloaded while its thread runs"
    if "TEXTREL" in dynamic:
        yield "has text relocations"

    symbols = run("nm", "-D", "--defined-only", path).split("\n")
    defined = {line.split()[2].split("@")[0] for line in symbols if len(line.split()) == 3}
    defined.discard("BLAZED_0")
    if defined != EXPORTS:
        yield f"exports too much {sorted(defined - EXPORTS)} or too little {sorted(EXPORTS - defined)}"

    versions = re.findall(r"GLIBC_(\d+)\.(\d+)", run("objdump", "-T", path))
    newest = max((int(major), int(minor)) for major, minor in versions)
    if newest > NEWEST_GLIBC:
        yield f"needs glibc {newest}, newer than {NEWEST_GLIBC}"

    # One entry: the compiler's own frame_dummy. A second one is a static constructor.
    sections = run("readelf", "-SW", path)
    size = re.search(r"\.init_array\s+INIT_ARRAY\s+\S+\s+\S+\s+(\S+)", sections)
    if size and int(size.group(1), 16) > 8:
        yield "runs static constructors at load"
    if "GNU_UNIQUE" in run("readelf", "-sW", "--dyn-syms", path) or "UNIQUE" in run(
        "readelf", "-W", "--dyn-syms", path
    ):
        yield "has unique symbols, which ignore RTLD_LOCAL"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bundle", action="store_true")
    parser.add_argument("library")
    given = parser.parse_args()
    found = list(problems(given.library, given.bundle))
    for problem in found:
        print(f"{given.library}: {problem}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
