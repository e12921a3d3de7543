#!/usr/bin/env python3
"""One job of the summing host, as a program: trains until settled, until a plan was built, or for so many seconds; prints
one JSON object."""
import argparse
import json
import sys
import time

import blazed
from summing_host import TERMS, SummingHost


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--until-settled", action="store_true")
    parser.add_argument("--until-built", action="store_true")
    parser.add_argument("--contract", default="rounding")
    arguments = parser.parse_args()
    host = SummingHost()
    options = blazed.Options(host_name="summing 1", job="summing", contract=blazed.Contract[arguments.contract.upper()])
    with blazed.Session(host, options) as session:
        host.describe(session)
        ends = time.monotonic() + arguments.seconds
        while time.monotonic() < ends:
            host.step(session)
            if arguments.until_settled and len(host.live) % 16 == 0 and session.status().settled:
                break
            if arguments.until_built and host.built and session.status().attached:
                break
        status = session.status()
        report = session.report()
    wrong = [plan for plan in host.built if any(choice.decision == TERMS for choice in plan)]
    wrong_handles = {i + 1 for i, plan in enumerate(host.built) if plan in wrong}
    json.dump({"status": status.as_dict(), "report": report, "steps": len(host.live), "built": len(host.built),
               "last_build_step": host.last_build_step, "dropped": len(host.dropped), "wrong_built": len(wrong),
               "wrong_live": sum(handle in wrong_handles for handle in host.live),
               "error": str(session.last_error or "")}, sys.stdout)


if __name__ == "__main__":
    main()
