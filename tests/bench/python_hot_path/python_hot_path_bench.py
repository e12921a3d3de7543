#!/usr/bin/env python3
"""What a step costs in Python: Session.step_begin and step_end together, in blocks of the arms in drawn order."""
import argparse
import json
import os
import pathlib
import random
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests/bench"), str(ROOT / "client/python"), str(ROOT / "tests/system/python")]
from private_daemon import daemon  # noqa: E402

BLOCKS = 30
STEPS = 20_000
SETTLE_S = 60
TRIES = 6  # where noise hides a win, the next job goes on with the search
SEED = 1


def block(session):
    """Nanoseconds of processor time a step, the loop's own taken off: other programs do not stretch them."""
    empty = time.thread_time_ns()
    for _ in range(STEPS):
        pass
    began = time.thread_time_ns()
    for _ in range(STEPS):
        session.step_begin()
        session.step_end()
    return ((time.thread_time_ns() - began) - (began - empty)) / STEPS


def job(blazed, host, mode):
    session = blazed.Session(host, blazed.Options(host_name="summing 1", mode=mode)).attach()
    host.describe(session)
    deadline = time.monotonic() + SETTLE_S
    while not (session.status().settled and session.status().plan):
        host.step(session)
        if time.monotonic() > deadline or session.status().phase == "standing":
            session.close()
            return None
    return session


def settled(blazed, host):
    """A job finds a plan, and a pinned one is served it: that one explores nothing, not even for drift."""
    found = next(filter(None, (job(blazed, host(), "tune") for _ in range(TRIES))), None)
    if found is not None:
        found.close()
    served = job(blazed, host(), "pinned") if found is not None else None
    if served is None:
        sys.exit("no job settled; stop other work and start again")
    return served


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    args = parser.parse_args()
    os.environ["BLAZED_LIBRARY"] = str(args.build / "lib/libblazed.so.0")
    import blazed
    from summing_host import SummingHost
    with daemon(args.build) as (_, path):
        os.environ["BLAZED_SOCKET"] = str(path)
        off = blazed.Session(None, blazed.Options(mode="off")).attach()
        arms = {"settled": settled(blazed, SummingHost), "off": off}
        values = {arm: [] for arm in arms}
        order = list(arms) * BLOCKS
        random.Random(SEED).shuffle(order)
        for arm in order:
            values[arm].append(block(arms[arm]))
        arms["settled"].close()
    json.dump({"what": f"step_begin and step_end of a session together, Python {sys.version.split()[0]}, processor "
                       f"time, means of {STEPS:,} steps that do nothing else, {BLOCKS} blocks an arm in drawn order",
               "series": [{"arm": arm, "unit": "ns a step", "values": values[arm]} for arm in values]}, sys.stdout)


if __name__ == "__main__":
    main()
