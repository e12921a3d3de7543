#!/usr/bin/env python3
"""clang-tidy over every source of the tree that a build compiles; `./run lint tidy`."""
import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path, help="a build folder of the clang preset")
    parser.add_argument("-j", type=int, default=1)
    args = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parents[2]
    commands = json.loads((args.build / "compile_commands.json").read_text())
    ours = sorted({c["file"] for c in commands if str(args.build) not in c["file"] and c["file"].startswith(str(root))})

    def tidy(source):
        ran = subprocess.run(["clang-tidy", "--quiet", "-p", args.build, source], capture_output=True, text=True)
        return ran.returncode, ran.stdout

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(args.j) as pool:
        for code, out in pool.map(tidy, ours):
            if code:
                failed += 1
                print(out, end="")
    print(f"tidy: {len(ours)} sources, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
