"""`python -m blazed`: what a session would find on this machine."""
import argparse
import ctypes
import json
import os
from typing import Any, Dict, Optional, Tuple

from . import abi, sockets
from .library import Unavailable, load
from .options import Options

DONE, FAILED, UNREACHABLE, DENIED = 0, 1, 3, 5
# Nobody can listen on a device: the shim says what it makes of BLAZED_MODE before it looks for a daemon in vain.
_NO_SOCKET = "/dev/null"


def _named(value: str) -> str:
    """A value that is given but empty is most often a shell variable that was never set."""
    if not value:
        raise argparse.ArgumentTypeError("the value is empty; leave the flag out or name one")
    return value


def add_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--socket", type=_named, default=argparse.SUPPRESS,
                        help="a path or a unix: URI instead of the usual places")
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="one JSON object")


def _mode() -> Tuple[str, str]:
    """What BLAZED_MODE says, and the shim's complaint about it."""
    library, pointer = load(), ctypes.c_void_p()
    library.attach(Options(socket=_NO_SOCKET).to_c(abi.Log()), None, ctypes.byref(pointer))
    sentence = (library.reason(pointer) or b"").decode("utf-8", "replace")
    library.close(pointer)
    return os.environ.get("BLAZED_MODE", ""), "" if _NO_SOCKET in sentence else sentence


def daemon(option: Optional[str]) -> Tuple[Optional[str], str, int]:
    """The socket that a session would take, one sentence where no daemon answers on it, and the exit code."""
    places = sockets.places(option)
    if places.error:
        return None, places.error, UNREACHABLE
    path = sockets.first(option)
    if path is not None:
        sentence = sockets.why_no_answer(path)
        return path, sentence, UNREACHABLE if sentence else DONE
    tried = [(path, sockets.why_no_answer(path)) for path in places.paths]
    path, sentence = next(((p, s) for p, s in tried if os.path.exists(p)), tried[0])
    if len(tried) > 1 and not os.path.exists(path):
        sentence = f"nobody listens on {' or '.join(places.paths)}; start blazed"
    denied = "another user" in sentence or "this user" in sentence
    return None, sentence, DENIED if denied else UNREACHABLE


def look(option: Optional[str]) -> Tuple[Dict[str, Any], int]:
    found: Dict[str, Any] = {"schema": 1, "library": None, "version": None}
    try:
        library = load()
    except Unavailable as why:
        found["why_not"] = str(why)
        return found, FAILED
    found.update(library=library.path, version=library.version)
    found["mode"], mode_error = _mode()
    found["socket"], found["why_no_daemon"], code = daemon(option)
    found["why_not"] = mode_error or found["why_no_daemon"]
    if mode_error and found["mode"] != "off" and code == DONE:
        code = FAILED
    return found, code


def _print(found: Dict[str, Any]) -> None:
    rows = [("library", f"{found['library']} ({found['version']})" if found["library"] else "none")]
    if found["library"]:
        rows.append(("mode", found["mode"] or "tune (BLAZED_MODE is not set)"))
        rows.append(("socket", found["socket"] or "none"))
        rows.append(("daemon", "answers" if not found["why_no_daemon"] else "does not answer"))
    rows.append(("a job here", "attaches" if not found["why_not"] else f"is not tuned: {found['why_not']}"))
    for name, value in rows:
        print(f"{name:<11} {''.join(c if c.isprintable() else '?' for c in value)}")


def run(arguments: argparse.Namespace) -> int:
    found, code = look(getattr(arguments, "socket", None))
    if getattr(arguments, "json", False):
        print(json.dumps(found))
    else:
        _print(found)
    return code
