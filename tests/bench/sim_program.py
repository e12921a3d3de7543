"""Calls of blaze-sim, and how its figures stand to their bars."""
import json
import subprocess
import sys

UNMET = ("missed", "no data", "not run")  # at full counts a bar without a row or data is a fault as well


def run(build, *arguments):
    ran = subprocess.run([build / "bin/blaze-sim", *arguments], stdout=subprocess.PIPE, text=True)
    # With --check, 1 says that a bar was missed; the rows are there all the same.
    if ran.returncode not in (0, 1) or not ran.stdout:
        raise RuntimeError(f"blaze-sim {' '.join(arguments)} failed with {ran.returncode}")
    return json.loads(ran.stdout)


def standing(result):
    """The row that keeps what --check found."""
    findings = result.get("bars", [])
    unmet = sum(finding["standing"] in UNMET for finding in findings)
    for finding in findings:
        print(finding["finding"], file=sys.stderr, flush=True)
    return {"workload": result["scenario"], "regime": "all", "arm": "bars missed", "unit": "count", "n": len(findings),
            "median": unmet, "low": unmet, "high": unmet, "findings": [finding["finding"] for finding in findings]}
