#!/usr/bin/env python3
"""The simulator's page says what the results say, and hides no bar that is missed."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import doc_tables


def result(*findings):
    return {"rows": [{"arm": "bars missed", "findings": list(findings)}]}


def contest(method, regret, wall=19000.0, worse=0.0, regime="build 0 s", n=9):
    figures = {"regret": regret, "wall": wall, "worse": worse, "capture": 0.9}
    return [{"workload": "5", "regime": regime, "arm": f"{method}: {name}", "n": n, "median": value, "low": value - 5, "high": value + 5}
            for name, value in figures.items()]


class DocTables(unittest.TestCase):
    def test_the_page_is_current(self):
        self.assertEqual(doc_tables.renew(check=True), 0)

    def test_each_row_that_misses_has_a_line_and_the_others_share_one(self):
        bar = "rate at most 0.1 where delta0 is 0"
        lines = list(doc_tables.bars_table({"sim": result(
            f"within: aa, setting x, delta0 0: rate 0.01 (0 to 0.05, n 2000); bar: {bar}",
            f"within: aa, setting y, delta0 0: rate 0.09 (0.08 to 0.1, n 2000); bar: {bar}",
            f"missed: aa, setting z, delta0 0: rate 0.3 (0.2 to 0.4, n 2000); bar: {bar}",
            f"no data: aa, setting q, delta0 0: rate 0 (0 to 1, n 0); bar: {bar}",
            f"not run: aa; bar: {bar}")}))[2:]
        self.assertEqual(len(lines), 4)
        self.assertIn("setting z, delta0 0 | 0.3 (0.2 to 0.4, n 2,000) [simulated: results/sim.json] | **missed** |", lines[0])
        self.assertIn("setting q, delta0 0 | - | **no data** |", lines[1])
        self.assertIn("| all | - | **not run** |", lines[2])
        self.assertIn("setting y, delta0 0 (the nearest of 2 rows) | 0.09 (0.08 to 0.1, n 2,000)", lines[3])

    def test_a_bar_that_few_runs_reached_stands_before_those_that_are_shown(self):
        bar = "capture at least 0.8"
        lines = list(doc_tables.bars_table({"sim": result(
            f"within: search: capture 0.9 (0.85 to 0.95, n 40); bar: {bar}",
            f"reached, not shown: search, boundaries 5: capture 0.95 (0.7 to 1, n 4); bar: {bar}")}))[2:]
        self.assertEqual(len(lines), 1)
        self.assertIn("boundaries 5 (the nearest of 2 rows) | 0.95 (0.7 to 1, n 4) [simulated: results/sim.json] | reached, not shown |", lines[0])

    def test_what_is_no_finding_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "no finding"):
            list(doc_tables.bars_table({"sim": result("within: everything")}))

    def test_losses_are_said_with_their_error_and_on_equal_workloads_only(self):
        rows = [*contest("ours", 100.0, wall=21000.0), *contest("halving", 50.0, worse=0.25), *contest("greedy", 96.0),
                *contest("random", 300.0), *contest("tpe", 1.0, n=2)]
        (line,) = list(doc_tables.comparison_table({"compare": {"rows": rows}}))[2:]
        self.assertIn("doing nothing: the job takes 21,000 (20,995 to 21,005, n 9); `halving`: 50 (45 to 55, n 9), slower than the default "
                      "in 0.25; `greedy`: 96 (91 to 101, n 9), slower than the default in 0; within the error [simulated", line)
        self.assertNotIn("random", line)
        self.assertNotIn("tpe", line)
        text = " ".join(doc_tables.losses_text({"compare": {"rows": rows}}))
        self.assertIn("longer than one that tries nothing in: 5 with builds of 0 s.", text)
        self.assertIn("beyond the error, in: 5 with builds of 0 s.", text)

    def test_who_took_part_in_fewer_workloads_is_compared_on_those(self):
        rows = [*contest("ours", 100.0, regime="build 0 s, 381 workloads", n=381), *contest("ours", 100.0, regime="build 0 s, the same 40"),
                *contest("greedy", 200.0, regime="build 0 s, 381 workloads", n=381), *contest("greedy", 2.0, regime="build 0 s, the same 40"),
                *contest("tpe", 1.0, regime="build 0 s, the same 40")]
        (line,) = list(doc_tables.comparison_table({"compare": {"rows": rows}}))[2:]
        self.assertIn("| 100 (95 to 105, n 381) [", line)
        self.assertNotIn("greedy", line)
        self.assertIn("`tpe`: 1 (-4 to 6, n 9), slower than the default in 0, on the same 40 [simulated", line)

    def test_nobody_is_said_where_nobody_is_better(self):
        rows = [*contest("ours", 100.0), *contest("random", 300.0)]
        self.assertIn("| nobody |", list(doc_tables.comparison_table({"compare": {"rows": rows}}))[2])
        self.assertEqual(list(doc_tables.losses_text({"compare": {"rows": rows}})), ["It loses nowhere."])

    def test_a_page_that_differs_is_found_and_renewed(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name in (doc_tables.PAGE, "docs/results/sim.json", "docs/results/compare.json"):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_bytes((doc_tables.ROOT / name).read_bytes())
            page = root / doc_tables.PAGE
            good = page.read_text(encoding="utf-8")
            page.write_text(good.replace("| within |", "| shown |"), encoding="utf-8")
            self.assertEqual(doc_tables.renew(root, check=True), 1)
            self.assertEqual(doc_tables.renew(root), 0)
            self.assertEqual(page.read_text(encoding="utf-8"), good)
            page.write_text(good.replace("<!-- bars: end -->", ""), encoding="utf-8")
            with self.assertRaisesRegex(ValueError, "lacks <!-- bars: end"):
                doc_tables.renew(root)


if __name__ == "__main__":
    unittest.main()
