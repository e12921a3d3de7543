"""`python -m blazed tune SCRIPT --for 10m`: runs a script in this interpreter until its step is tuned."""
import argparse
import os
import re
import runpy
import sys
import traceback
from typing import Any, List, NoReturn, Tuple

from . import autostart, cli_status, current, tune_run
from .library import Unavailable, load
from .options import Options

DESCRIPTION = """Runs SCRIPT as `python SCRIPT args` would, with BLAZED_MODE=tune_until, and ends it at the end of a
step where the time is over or nothing is left to explore: the script sees blazed.Tuned, a SystemExit, so its `finally`
blocks run. A script that asks blazed.tuned() ends by itself. What was found is served to the next job of the same
workload."""
_INTERRUPTED = 130
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}
# Flags that may stand behind SCRIPT too, with how many words each has.
_FLAGS = {"--for": 2, "--report": 2, "--full": 1, "--no-autostart": 1}


def _duration(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text)
    seconds = float(match[1]) * _UNITS[match[2]] if match else 0
    if not 1 <= seconds <= 10**9:
        raise argparse.ArgumentTypeError(f"'{text}' is no time; give 90s, 10m or 1.5h, one second at least")
    return seconds


def _add_own_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--for", dest="seconds", type=_duration, metavar="TIME",
                        help="longest time from the first attach, such as 90s, 10m or 1h (10m)")
    parser.add_argument("--full", action="store_true", help="go on to the end of the time also where all is settled")
    parser.add_argument("--report", metavar="FILE", help="write the daemon's report of the session, one JSON object")
    parser.add_argument("--no-autostart", action="store_true", help="start no private daemon where none answers")


def add_flags(parser: argparse.ArgumentParser) -> None:
    _add_own_flags(parser)
    parser.add_argument("-m", dest="module", action="store_true", help="SCRIPT is a module, as of `python -m`")
    parser.add_argument("script", metavar="SCRIPT")
    parser.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def _split(rest: List[str]) -> Tuple[List[str], List[str]]:
    """Flags of ours that stand right behind SCRIPT, and the script's own arguments."""
    at = 0
    while at < len(rest) and rest[at].split("=")[0] in _FLAGS:
        at += 1 if "=" in rest[at] else _FLAGS[rest[at]]
    own, others = rest[:at], rest[at:]
    return own, others[1:] if others[:1] == ["--"] else others


def run(parser: argparse.ArgumentParser, given: argparse.Namespace) -> int:
    own, arguments = _split(given.rest)
    behind = argparse.ArgumentParser(prog="python -m blazed tune", add_help=False)
    _add_own_flags(behind)
    behind.parse_args(own, given)
    if given.module is False and not os.path.isfile(given.script):
        _usage(parser, f"{given.script} is no file; name a script, or a module with -m")
    if os.environ.get("BLAZED_MODE") == "off":
        _usage(parser, "BLAZED_MODE is off, which always wins; unset it to tune")
    if given.report is not None:
        given.report = _report_file(parser, given.report)
    code, why = _ready(given)
    if why:
        print(f"blazed: {why}", file=sys.stderr)
        return code
    tune_run.run = tune_run.Run(given.seconds or 600.0, until_settled=not given.full)
    os.environ["BLAZED_MODE"] = f"tune_until:{max(1, round(tune_run.run.seconds))}s"
    process = os.getpid()
    code = _run_script(given, arguments)
    if os.getpid() != process:
        return code  # a child that the script forked: the run is its parent's to tell of
    return max(code, _tell(tune_run.run, given.report)) if code in (0, 1) else code


def _usage(parser: argparse.ArgumentParser, sentence: str) -> NoReturn:
    parser.exit(2, f"blazed: {sentence}\n")


def _report_file(parser: argparse.ArgumentParser, path: str) -> str:
    """Where the report goes, also when the script changes its folder. A place that takes none is said before a run."""
    if not path:
        _usage(parser, "--report: the value is empty; name a file or leave the flag out")
    path = os.path.abspath(path)
    if os.path.isdir(path):
        _usage(parser, f"--report: {path} is a folder; name a file")
    if not os.access(path if os.path.exists(path) else os.path.dirname(path), os.W_OK):
        _usage(parser, f"--report: {path} cannot be written; name a file in a folder that is there and is yours")
    return path


def _ready(given: argparse.Namespace) -> Tuple[int, str]:
    try:
        load()
    except Unavailable as why:
        return cli_status.FAILED, str(why)
    started = "" if given.no_autostart else autostart.ensure(Options(), patience_s=10.0)
    _path, sentence, code = cli_status.daemon(None)
    return code, started or sentence


def _run_script(given: argparse.Namespace, arguments: List[str]) -> int:
    sys.argv = [given.script, *arguments]
    try:
        if given.module:
            sys.path[0] = os.getcwd()
            runpy.run_module(given.script, run_name="__main__", alter_sys=True)
        else:
            sys.path[0] = os.path.dirname(os.path.abspath(given.script))
            runpy.run_path(given.script, run_name="__main__")
        return 0
    except tune_run.Tuned:
        return 0
    except SystemExit as end:
        if end.code is not None and not isinstance(end.code, int):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BaseException:
        traceback.print_exc()
        return cli_status.FAILED


def _say(sentence: str) -> None:
    """On standard error, which the script may have closed, as it may its standard output."""
    for stream, text in ((sys.stdout, ""), (sys.stderr, f"blazed: {sentence}\n")):
        try:
            stream.write(text)
            stream.flush()
        except (AttributeError, OSError, ValueError):
            pass


def _tell(run: Any, report_file: Any) -> int:
    """The summary, on standard error: standard output is the script's."""
    session = current.session()
    if session is not None:
        session.close()
    status = run.status
    if status is None or not status.workload:
        picture = status or current.last_picture()
        why = picture.why_not if picture is not None and picture.why_not else "the script opened no session"
        _say(f"nothing was tuned: {why}")
        return cli_status.FAILED
    found = {"none": "undecided", "in_job": "settled", "replicated": "settled (replicated)",
             "no_winner": "no winner, the default plan stays"}.get(status.settlement, status.settlement)
    text = f"{found} after {status.steps:,} steps"
    if status.plan:
        text += f": {status.champion}, saves {100 * status.gain:.1f} %"
    if run.sentence:
        text += f"; ended because {run.sentence}"
    if status.why_not:
        text += f"; {status.why_not}"
    _say(text)
    return _write(report_file, run.report) if report_file else 0


def _write(path: str, report: str) -> int:
    if not report:
        _say("the daemon gave no report")
        return cli_status.FAILED
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(report + "\n")
        return 0
    except OSError as error:
        _say(f"cannot write the report: {error}")
        return cli_status.FAILED
