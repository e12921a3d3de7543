"""Where a daemon's socket is looked for, and whether somebody answers there. The shim looks by itself; this is for
autostart and for people.

Thread: any. Errors: sentences, no exceptions.
"""
import os
import socket
import struct
import time
from typing import List, NamedTuple, Optional

SYSTEM = "/run/blazed/blazed.sock"
LONGEST = 107
# HTTP/2's opening and an empty SETTINGS frame, which a server answers with its own.
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5)


class Places(NamedTuple):
    paths: List[str]
    named: bool       # by an option or BLAZED_SOCKET: nothing else is looked at
    error: str = ""   # one sentence: the name is no good


def _named(address: str) -> Places:
    path = address
    if path.startswith("unix:"):
        path = path[len("unix:"):]
        path = path[2:] if path.startswith("//") else path
    if not path:
        return Places([], True, "the socket address names no path, give a path or unix:PATH")
    if len(os.fsencode(path)) > LONGEST:
        return Places([], True, f"the socket path is longer than {LONGEST} bytes, use a shorter one")
    return Places([path], True)


def places(option: Optional[str] = None) -> Places:
    """In the order in which the shim tries them."""
    given = option or os.environ.get("BLAZED_SOCKET")
    if given:
        return _named(given)
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    found = [SYSTEM]
    if runtime and len(os.fsencode(runtime)) + len("/blazed/blazed.sock") <= LONGEST:
        found.append(runtime + "/blazed/blazed.sock")
    return Places(found, False)


def _connected(path: str, patience_s: float) -> socket.socket:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        made.settimeout(patience_s)
        made.connect(path)
    except BaseException:
        made.close()
        raise
    return made


def listens(path: str) -> bool:
    """Somebody whom the shim would talk to takes connections there: root, or the user of this process. Waits no longer
    than a blink: a full backlog counts as nobody."""
    try:
        with _connected(path, 0.02) as made:
            return _trusted(made)
    except (OSError, ValueError):
        return False


def _trusted(made: socket.socket) -> bool:
    _pid, uid, _gid = struct.unpack("3i", made.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return uid in (0, os.geteuid())


def first(option: Optional[str] = None) -> Optional[str]:
    """The path that the shim takes, None where nobody listens."""
    return next((path for path in places(option).paths if listens(path)), None)


def why_no_answer(path: str, patience_s: float = 1.0) -> str:
    """"" where a daemon answers on HTTP/2 within the time, else one sentence. One that was stopped takes connections
    and does not answer."""
    deadline = time.monotonic() + patience_s
    try:
        with _connected(path, patience_s) as made:
            if not _trusted(made):
                return f"the server on {path} runs as another user, only root's or one's own is trusted"
            made.sendall(_PREFACE)
            head = b""
            while len(head) < 9:
                made.settimeout(max(deadline - time.monotonic(), 0.001))
                more = made.recv(9 - len(head))
                if not more:
                    return _hung_up(path)
                head += more
            return "" if head[3] == 4 else f"who listens on {path} speaks no HTTP/2; look at what runs there"
    except socket.timeout:
        return f"the daemon on {path} takes connections and stays silent; ask blazectl health"
    except FileNotFoundError:
        return f"nobody listens on {path}; start blazed"
    except ConnectionRefusedError:
        return f"nobody listens on {path}, which a daemon left behind; start blazed"
    except PermissionError:
        return f"this user may not connect to {path}; ask who runs the daemon"
    except ConnectionError:
        return _hung_up(path)
    except (OSError, ValueError) as error:
        return f"cannot use the socket {path}: {error}"


def _hung_up(path: str) -> str:
    return f"who listens on {path} hung up; look at what runs there"
