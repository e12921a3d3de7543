"""Starts a private `blazed` of this user where no socket answers.

The program: BLAZED_DAEMON, else `blazed` on PATH, else beside the Python that runs. The socket: the one that an option
or BLAZED_SOCKET names, else the daemon's own place (root: /run/blazed, others: $XDG_RUNTIME_DIR/blazed). The store:
$XDG_STATE_HOME/blazed where that is set, else the daemon's own place (root: /var/lib/blazed, others:
~/.local/state/blazed). Its log lies there as `blazed.log`.

The daemon is nobody's child and stays when the job ends, for the next one. Two jobs that start one at a time end with
one daemon: the second finds the socket taken and goes away.

Thread: any. Errors: sentences, no exceptions.
"""
import os
import shutil
import subprocess
import sys
import time
from typing import Dict, List, Optional

from . import sockets
from .modes import Mode
from .options import Options

PATIENCE_S = 1.0
_BETWEEN_LOOKS_S = 0.01
_LARGEST_LOG = 1 << 20
_LONGEST_WORDS = 400
# What speaks to this process by its service manager, or changes what it loads, is not meant for the daemon.
_NOT_INHERITED = ("NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES",
                  "LD_PRELOAD")
# The shell ends at once, so that the daemon is init's child: this process has nothing to wait for.
_DETACH = 'log=$1; shift; "$@" </dev/null >>"$log" 2>&1 &'


def daemon_program() -> Optional[str]:
    named = os.environ.get("BLAZED_DAEMON")
    if named:
        found = shutil.which(named)
    else:
        found = shutil.which("blazed") or shutil.which("blazed", path=os.path.dirname(sys.executable or "/"))
    return os.path.abspath(found) if found else None


def state_folder() -> Optional[str]:
    """Of the private daemon; None where there is no place."""
    state, home = os.environ.get("XDG_STATE_HOME", ""), os.environ.get("HOME", "")
    if state.startswith("/"):
        return state + "/blazed"
    if os.geteuid() == 0:
        return "/var/lib/blazed"
    return home + "/.local/state/blazed" if home.startswith("/") else None


def ensure(options: Optional[Options] = None, patience_s: float = PATIENCE_S) -> str:
    """"" where somebody listens, if need be after a start; else one sentence that says why not. Waits `patience_s`."""
    options = options or Options()
    if options.mode is Mode.OFF or os.environ.get("BLAZED_MODE") == "off":
        return ""
    if sockets.first(options.socket) is not None:
        return ""
    places = sockets.places(options.socket)
    if places.error:
        return places.error
    if not places.named and os.geteuid() != 0 and len(places.paths) < 2:
        return "XDG_RUNTIME_DIR is not set, so there is no place for a private daemon's socket; set it or BLAZED_SOCKET"
    program = daemon_program()
    if program is None:
        return ("no blazed program was found to start, and the Python package brings none; install blazed on this "
                "machine, put it on PATH, or name it in BLAZED_DAEMON")
    return _start(program, places.paths[0] if places.named else None, options, patience_s)


def _start(program: str, socket: Optional[str], options: Options, patience_s: float) -> str:
    folder = state_folder()
    if folder is None:
        return "neither XDG_STATE_HOME nor HOME is set, so there is no place for a private daemon's store; set one"
    log = folder + "/blazed.log"
    command = [program, "--state", folder] + (["--socket", os.path.abspath(socket)] if socket else [])
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if os.path.exists(log) and os.path.getsize(log) > _LARGEST_LOG:
            os.replace(log, log + ".1")
        told = os.path.getsize(log) if os.path.exists(log) else 0
        _detach(command, log)
    except (OSError, subprocess.SubprocessError) as error:
        return f"{program} could not be started: {error}"
    deadline = time.monotonic() + patience_s
    while sockets.first(options.socket) is None:
        if time.monotonic() >= deadline:
            said = _last_words(log, told)
            return f"the private daemon did not open its socket within {patience_s:g} s{said}; its log is {log}"
        time.sleep(_BETWEEN_LOOKS_S)
    return ""


def _last_words(log: str, told: int) -> str:
    """": " and what the program said for people behind byte `told` of its log, where it did."""
    try:
        with open(log, "rb") as file:
            file.seek(max(told, os.path.getsize(log) - _LONGEST_WORDS))
            lines = file.read(_LONGEST_WORDS).decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    words = [line for line in lines if line.strip() and not line.startswith("ts=")]
    return ": " + "".join(c if c.isprintable() else "?" for c in words[-1])[:_LONGEST_WORDS] if words else ""


def _detach(command: List[str], log: str) -> None:
    environment: Dict[str, str] = {k: v for k, v in os.environ.items() if k not in _NOT_INHERITED}
    subprocess.run(["/bin/sh", "-c", _DETACH, "sh", log, *command], stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, cwd="/",
                   env=environment, check=True, timeout=5)
