#!/usr/bin/env python3
"""Includes follow the data's way: a room sees only the rooms named here, and only the libraries that it may."""
import re

from _lint import Lint, line_of, without_comments_and_strings

# Room -> rooms it may include. The longest room that a path starts with counts.
ROOMS = {
    "kernels/graph": ["kernels/graph"],
    "kernels/fuse": ["kernels/fuse", "kernels/graph"],
    "kernels/equivalence": ["kernels/equivalence"],
    "kernels/cpu": ["kernels/cpu", "kernels/fuse", "kernels/graph", "kernels/equivalence"],
    "daemon/planner": ["daemon/planner"],
    "daemon/base": ["daemon/base", "daemon/planner/types.h"],
    "storage": ["storage", "daemon/planner", "daemon/base"],
    "daemon/session": ["daemon/session", "daemon/planner", "daemon/base", "storage", "proto/device_name.h"],
    "daemon/config": ["daemon/config", "daemon/base", "daemon/rpc/options.h", "daemon/session/options.h"],
    "daemon/machine": ["daemon/machine", "daemon/base"],
    "daemon/history": ["daemon/history", "daemon/rpc", "daemon/planner", "daemon/base", "storage"],
    "daemon/rpc": ["daemon/rpc", "daemon/session", "daemon/planner", "daemon/base", "storage"],
    "daemon": ["daemon", "storage"],
    "client/cpp": ["client/cpp", "kernels/equivalence", "kernels/graph/hash128.h", "proto/device_name.h", "blazed"],
    "client/flags": ["client/flags"],
    "client/blazectl": ["client/blazectl", "client/flags"],
    "client/examples": ["client/examples", "blazed"],
    "client/sim": ["client/sim", "daemon/planner"],
    "client/trainer": ["client/trainer", "client/flags", "client/cpp", "kernels", "blazed"],
}
PROTO = re.compile(r"\.pb\.h$|^grpc|^google/protobuf|^pb(_\w+)?\.h$")
GRPC = re.compile(r"^grpc|^google/protobuf|\.grpc\.pb\.h$")
# Room -> (libraries it must not see, why).
LIBRARIES = {
    "kernels": (PROTO, "kernels know no wire"),
    "kernels/graph": (re.compile(PROTO.pattern + r"|^openblas|^cblas"), "the graph knows no executor"),
    "client/sim": (PROTO, "a simulated host has no wire"),
    "storage": (PROTO, "proto types stop at daemon/rpc"),
    "daemon/session": (PROTO, "proto types stop at daemon/rpc"),
    "daemon/base": (PROTO, "proto types stop at daemon/rpc"),
    "client/cpp": (re.compile(GRPC.pattern + r"|^absl/|^boost/|^spdlog/|^fmt/"),
                   "libblazed carries no C++ library into the training process"),
    "client/cpp/include": (re.compile(PROTO.pattern + r"|^nghttp2|^absl/"), "public headers need only C and C++"),
    "client/trainer": (GRPC, "the host speaks through libblazed"),
    "client/examples": (re.compile(r"^(grpc|google|absl|client|kernels|daemon|storage)/"),
                        "an example needs only the installed library"),
}
# The planner: values and the standard library; no clock, thread, log, file or random device.
PLANNER_STD = set("""algorithm any array bit bitset cassert cctype cfloat charconv chrono climits cmath compare concepts
cstddef cstdint cstdio cstdlib cstring deque functional initializer_list iterator limits list map memory numbers numeric
optional queue ratio set span stdexcept string string_view tuple type_traits unordered_map unordered_set utility
variant vector""".split())
PLANNER_WORDS = re.compile(r"\b(steady_clock|system_clock|high_resolution_clock|random_device|fopen|printf|getenv|"
                           r"rand|time\s*\(\s*(?:nullptr|NULL|0))\b")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.M)


def room_of(path, table):
    fitting = [room for room in table if path == room or path.startswith(room + "/")]
    return max(fitting, key=len, default=None)


def check_include(lint, name, line, quoted, target):
    room = room_of(name, ROOMS)
    library_rooms = [r for r in LIBRARIES if name.startswith(r + "/")]
    for library_room in library_rooms:
        pattern, why = LIBRARIES[library_room]
        if pattern.search(target):
            lint.find(name, line, f"includes {target}: {why}")
            return
    if room == "daemon/planner":
        if not quoted and target not in PLANNER_STD:
            lint.find(name, line, f"includes <{target}>: the planner sees pure parts of the standard library only")
        elif quoted and not target.startswith("daemon/planner/"):
            lint.find(name, line, f"includes {target}: the planner sees only itself")
        return
    # Only paths from the root of the tree say which room is meant.
    top = target.split("/")[0]
    if room and quoted and top in ("kernels", "daemon", "storage", "client", "tests", "proto"):
        if not any(target == r or target.startswith(r + "/") for r in ROOMS[room]):
            lint.find(name, line, f"includes {target}: {room} may see only {', '.join(ROOMS[room])}")


def check_readme_order(lint):
    """daemon/README.md lists the daemon's rooms in the order in which CMake adds them."""
    if not (lint.root / "daemon/README.md").is_file() or not (lint.root / "daemon/CMakeLists.txt").is_file():
        return
    added = re.findall(r"add_subdirectory\((\w+)\)", re.sub(r"#.*", "", lint.read("daemon/CMakeLists.txt")))
    readme = lint.read("daemon/README.md")
    places = {room: re.search(rf"`(?:daemon/)?{room}/?`", readme) for room in added}
    for room in added:
        if not places[room]:
            lint.find("daemon/README.md", 0, f"does not name `{room}`, which CMake adds")
    named = [room for room in added if places[room]]
    if named != sorted(named, key=lambda room: places[room].start()):
        lint.find("daemon/README.md", 0, f"names the rooms in another order than CMake adds them: {', '.join(named)}")


def main():
    lint = Lint("include_direction")
    for name in lint.files(".h", ".cc", ".c"):
        if name.startswith("tests/"):
            continue
        text = lint.read(name)
        for match in _INCLUDE.finditer(text):
            check_include(lint, name, line_of(text, match.start()), match.group(1) == '"', match.group(2))
        if name.startswith("daemon/planner/"):
            for match in PLANNER_WORDS.finditer(without_comments_and_strings(text)):
                lint.find(name, line_of(text, match.start()), f"'{match.group(0)}': time and chance come in with events")
    check_readme_order(lint)
    lint.finish()


if __name__ == "__main__":
    main()
