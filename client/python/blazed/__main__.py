"""python -m blazed: what a session would find here, and running a script to have it tuned."""
import argparse
import sys
from typing import List, Optional

from . import cli_status, cli_tune

_CODES = """exit codes: 0 done; 1 failed (no libblazed, BLAZED_MODE is no mode, nothing was tuned, the script failed);
2 wrong usage; 3 no daemon, or a silent one; 5 the socket refused this user, or its server runs as another one; tune
ends with the script's own code where it has one
"""


def _parser() -> argparse.ArgumentParser:
    formatted = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="python -m blazed", epilog=_CODES, formatter_class=formatted,
        description="Without a verb: which libblazed, which socket, whether a daemon answers, which mode a job has.")
    verbs = parser.add_subparsers(dest="verb", metavar="{status,tune}")
    status = verbs.add_parser("status", help="what a session would find on this machine", epilog=_CODES,
                              formatter_class=formatted)
    for where in (parser, status):
        cli_status.add_flags(where)
    tune = verbs.add_parser("tune", help="run a script until its step is tuned", epilog=_CODES,
                            formatter_class=formatted, usage="python -m blazed tune [flags] SCRIPT [flags] [--] [args]",
                            description=cli_tune.DESCRIPTION)
    cli_tune.add_flags(tune)
    return parser


def main(arguments: Optional[List[str]] = None) -> int:
    parser = _parser()
    given = parser.parse_args(arguments)
    return cli_tune.run(parser, given) if given.verb == "tune" else cli_status.run(given)


if __name__ == "__main__":
    sys.exit(main())
