#!/usr/bin/env python3
"""What a daemon costs that has nothing to do: resident memory and share of one core over windows of time."""
import argparse
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from private_daemon import daemon  # noqa: E402

SETTLE_S = 3    # start-up work is not idling
WINDOWS = 6
WINDOW_S = 5


def cpu_seconds(pid):
    """From the scheduler, in ns; the ticks of /proc/PID/stat are too coarse for an idle process."""
    return sum(int((task / "schedstat").read_text().split()[0]) for task in pathlib.Path(f"/proc/{pid}/task").iterdir()) / 1e9


def resident_mib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("no VmRSS; the daemon is gone")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    args = parser.parse_args()
    share, resident = [], []
    with daemon(args.build) as (process, _):
        time.sleep(SETTLE_S)
        for _ in range(WINDOWS):
            began, used = time.monotonic(), cpu_seconds(process.pid)
            time.sleep(WINDOW_S)
            share.append(100 * (cpu_seconds(process.pid) - used) / (time.monotonic() - began))
            resident.append(resident_mib(process.pid))
    json.dump({"what": "an idle daemon with no session attached, six windows of five seconds",
               "series": [{"arm": "resident memory", "unit": "MiB", "values": resident},
                          {"arm": "share of one core", "unit": "percent", "values": share}]}, sys.stdout)


if __name__ == "__main__":
    main()
