#!/usr/bin/env python3
"""Rows say what their samples say."""
import random
import unittest

from samples import KEPT, median, median_interval, row, summary_row


class Samples(unittest.TestCase):
    def test_median_of_odd_and_even_counts(self):
        self.assertEqual(median([3, 1, 2]), 2)
        self.assertEqual(median([4, 1, 2, 3]), 2.5)

    def test_few_samples_give_their_whole_range(self):
        self.assertEqual(median_interval([5, 1, 3]), (1, 5))
        self.assertEqual(median_interval([7]), (7, 7))

    def test_interval_ranks_are_those_of_the_binomial_table(self):
        self.assertEqual(median_interval(range(1, 10)), (2, 8))
        self.assertEqual(median_interval(range(1, 31)), (10, 21))

    def test_interval_covers_the_true_median_as_often_as_promised(self):
        seed = 20240117
        chance = random.Random(seed)
        covered = 0
        for _ in range(2000):
            low, high = median_interval([chance.expovariate(1.0) for _ in range(12)])
            covered += low <= 0.6931 <= high
        self.assertGreaterEqual(covered, 1900, f"seed {seed}")

    def test_row_keeps_small_sets_of_samples_only(self):
        self.assertEqual(row("w", "r", "a", "ns", [1, 2])["samples"], [1, 2])
        self.assertNotIn("samples", row("w", "r", "a", "ns", list(range(KEPT + 1))))

    def test_arm_that_measured_nothing_is_said_by_name(self):
        with self.assertRaisesRegex(ValueError, "exploring"):
            row("w", "r", "exploring", "ns", [])

    def test_summary_of_a_program_stands_where_it_is_sound(self):
        sound = {"arm": "rate", "unit": "share", "n": 9, "median": 0.1, "low": 0.0, "high": 0.3}
        self.assertEqual(summary_row(sound), {"workload": "none", "regime": "none", **sound})
        with self.assertRaisesRegex(ValueError, "rate.*interval"):
            summary_row({**sound, "low": 0.2})
        with self.assertRaisesRegex(ValueError, "rate.*lacks n"):
            summary_row({name: value for name, value in sound.items() if name != "n"})


if __name__ == "__main__":
    unittest.main()
