#!/usr/bin/env python3
"""Results of blaze-sim become rows that collect.py can keep, and what a bar says is kept beside them."""
import pathlib
import subprocess
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).parents[1]), str(pathlib.Path(__file__).parents[1] / "compare")]

import compare_bench
import sim_bench
from samples import median_interval, summary_row

PROGRAM = pathlib.Path(sys.argv.pop(1))


class SimBench(unittest.TestCase):
    def test_every_figure_becomes_a_sound_row(self):
        result = sim_bench.run(PROGRAM.parents[1], "tails", "--runs", "2", "--json", "--check")
        rows = [summary_row(series) for series in sim_bench.figures(result)]
        self.assertEqual({row["arm"] for row in rows}, {"settled_rate", "demoted_rate"})
        self.assertEqual(len(rows), 2 * len(result["rows"]))
        standing = summary_row(sim_bench.standing(result))
        self.assertEqual(standing["n"], len(result["bars"]))
        self.assertEqual(len(standing["findings"]), standing["n"])

    def test_every_scenario_of_the_program_is_run_or_compared(self):
        shown = subprocess.run([PROGRAM, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
        for scenario in (*sim_bench.SCENARIOS, "compare", "ask"):
            self.assertIn(f"  {scenario}: ", shown)
        named = shown.split("Scenarios:\n")[1].split("blaze-sim SCENARIO")[0]
        self.assertEqual(len(sim_bench.SCENARIOS) + 2, named.count("\n"))

    def test_a_wrong_call_is_an_error(self):
        with self.assertRaisesRegex(RuntimeError, "nothing failed with 2"):
            sim_bench.run(PROGRAM.parents[1], "nothing")


class CompareBench(unittest.TestCase):
    def test_figures_have_the_intervals_of_blaze_sim(self):
        share, low, high = compare_bench.rate(5, 100)
        self.assertAlmostEqual(share, 0.05)
        self.assertAlmostEqual(low, 0.0215, 4)
        self.assertAlmostEqual(high, 0.1118, 4)
        self.assertEqual(compare_bench.rate(0, 0), (0.0, 0.0, 1.0))
        values = [float(v) for v in range(1, 21)]
        self.assertEqual(compare_bench.median(values), (10.5, *median_interval(values)))
        value, low, high = compare_bench.ratio(values, [2.0] * 20)
        self.assertAlmostEqual(value, 5.25)
        self.assertLess(low, value)
        self.assertLess(value, high)

    def test_scores_of_one_method_become_the_figures_of_the_table(self):
        score = {"wall": 20000.0, "regret": 5.0, "got": 0.01, "best": 0.02, "worse": 0.0, "claims": 1.0, "false_claim": 0.0,
                 "builds": 3.0, "trial_steps": 90.0}
        figures = compare_bench.figures_of([score] * 6)
        self.assertEqual(set(figures), set(compare_bench.FIGURES))
        self.assertEqual(figures["capture"], (0.5, 0.5, 0.5))
        self.assertEqual(figures["false_claims"][0], 0.0)


if __name__ == "__main__":
    unittest.main()
