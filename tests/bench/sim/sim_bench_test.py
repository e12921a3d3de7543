#!/usr/bin/env python3
"""Results of blaze-sim become rows that collect.py can keep, and what a bar says is kept beside them."""
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "compare")]

import compare_bench
import doc_tables
import sim_bench
import sim_program
from samples import median_interval, summary_row

PROGRAM = pathlib.Path(sys.argv.pop(1))


class SimBench(unittest.TestCase):
    def test_every_figure_becomes_a_sound_row(self):
        result = sim_program.run(PROGRAM.parents[1], "null", "--boundaries", "5", "--runs", "2", "--json", "--check")
        rows = [summary_row(series) for series in sim_bench.figures(result)]
        self.assertEqual({row["arm"]: row["n"] for row in rows},
                         {"settled_rate": 2, "steps": 2, "loss": 2, "settlements": 2, "search_accepts": 2})
        standing = summary_row(sim_program.standing(result))
        self.assertEqual(standing["n"], len(result["bars"]))
        self.assertEqual(len(standing["findings"]), standing["n"])

    def test_a_row_counts_what_its_figure_is_of(self):
        row = {"boundaries": 5, "rate": 0.0, "rate_low": 0, "rate_high": 0.1, "rate_n": 7, "none": 0.0, "none_low": 0, "none_high": 1,
               "none_n": 0, "median": None, "median_low": None, "median_high": None, "median_n": 0}
        rows = list(sim_bench.figures({"scenario": "search", "runs": 40, "rows": [row]}))
        self.assertEqual([(of["arm"], of["n"]) for of in rows], [("rate", 7)])

    def test_what_was_not_judged_is_not_met(self):
        bars = [{"standing": standing, "finding": f"{standing}: x; bar: y"}
                for standing in ("within", "reached, not shown", "within its error", "missed", "no data", "not run")]
        self.assertEqual(sim_program.standing({"scenario": "x", "bars": bars})["median"], 3)

    def test_the_page_can_read_what_blaze_sim_finds(self):
        result = sim_program.run(PROGRAM.parents[1], "search", "--boundaries", "5", "--runs", "2", "--json", "--check")
        found = list(doc_tables.findings_of({"rows": [sim_program.standing(result)]}))
        self.assertEqual([finding["standing"] for finding in found], [bar["standing"] for bar in result["bars"]])
        (hits,) = [finding for finding in found if finding["bar"].startswith("forecast_hits")]
        self.assertEqual((hits["scenario"], hits["row"]), ("search", "boundaries all sizes, method ours"))
        self.assertRegex(doc_tables.measured_of(hits), r"^\S+ \(\S+ to \S+, n 2\) \[simulated")
        self.assertIn("not run", [finding["standing"] for finding in found])

    def test_every_scenario_of_the_program_is_run_or_compared(self):
        shown = subprocess.run([PROGRAM, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
        for scenario in (*sim_bench.SCENARIOS, "compare", "ask"):
            self.assertIn(f"  {scenario}: ", shown)
        named = shown.split("Scenarios:\n")[1].split("blaze-sim SCENARIO")[0]
        self.assertEqual(len(sim_bench.SCENARIOS) + 2, named.count("\n"))

    def test_a_wrong_call_is_an_error(self):
        with self.assertRaisesRegex(RuntimeError, "nothing failed with 2"):
            sim_program.run(PROGRAM.parents[1], "nothing")


class CompareBench(unittest.TestCase):
    def test_figures_have_the_intervals_of_blaze_sim(self):
        share, low, high, n = compare_bench.rate(5, 100)
        self.assertEqual(n, 100)
        self.assertAlmostEqual(share, 0.05)
        self.assertAlmostEqual(low, 0.0215, 4)
        self.assertAlmostEqual(high, 0.1118, 4)
        self.assertEqual(compare_bench.rate(0, 0), (0.0, 0.0, 1.0, 0))
        values = [float(v) for v in range(1, 21)]
        self.assertEqual(compare_bench.median(values), (10.5, *median_interval(values), 20))
        value, low, high, n = compare_bench.ratio(values, [2.0] * 20)
        self.assertEqual(n, 20)
        self.assertEqual(compare_bench.ratio(values, [0.0] * 20)[3], 0)
        self.assertAlmostEqual(value, 5.25)
        self.assertLess(low, value)
        self.assertLess(value, high)

    def test_scores_of_one_method_become_the_figures_of_the_table(self):
        score = {"wall": 20000.0, "regret": 5.0, "got": 0.01, "best": 0.02, "worse": 0.0, "claims": 1.0, "false_claim": 0.0,
                 "builds": 3.0, "trial_steps": 90.0}
        figures = compare_bench.figures_of([score] * 6)
        self.assertEqual(set(figures), set(compare_bench.FIGURES))
        self.assertEqual(figures["capture"], (0.5, 0.5, 0.5, 6))
        self.assertEqual(figures["false_claims"][::3], (0.0, 6))

    def test_all_methods_stand_on_equally_many_workloads_in_one_table(self):
        result = sim_program.run(PROGRAM.parents[1], "compare", "--boundaries", "5", "--build-s", "0", "--runs", "2", "--json", "--check")
        rows = list(compare_bench.sim_rows(result))
        score = {"wall": 1.0, "regret": 1.0, "got": 0.0, "best": 0.0, "worse": 0.0, "claims": 0.0, "false_claim": 0.0, "builds": 3.0,
                 "trial_steps": 90.0}
        rows.append({"space": "5", "build_s": 0.0, "method": "optuna tpe, 64 plans", **compare_bench.figures_of([score] * 2)})
        series = [summary_row(of) for of in compare_bench.series_of(rows, "the same 2 for all")]
        self.assertEqual({of["n"] for of in series if of["arm"].endswith(": regret")}, {2})
        self.assertIn("optuna tpe, 64 plans: wall", {of["arm"] for of in series})
        # 0 of 0 claims and a capture of nothing are left out.
        self.assertNotIn("optuna tpe, 64 plans: capture", {of["arm"] for of in series})
        self.assertNotIn("optuna tpe, 64 plans: false_claims", {of["arm"] for of in series})
        self.assertIn("build 0 s, the same 2 for all", {of["regime"] for of in series})


if __name__ == "__main__":
    unittest.main()
