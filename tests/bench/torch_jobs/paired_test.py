#!/usr/bin/env python3
"""What is made of interleaved rounds is right on rounds whose truth is known."""
import math
import random
import unittest

import ablation
import paired


def rounds(seed, count, **effects):
    """A common drift and noise of each unit's own; `effects`: true factor of each arm."""
    chance = random.Random(seed)
    values = {name: [] for name in effects}
    level = 0.0
    for _ in range(count):
        level = 0.9 * level + chance.gauss(0, 0.05)
        for name, factor in effects.items():
            values[name].append(10 * factor * math.exp(level + chance.gauss(0, 0.01)))
    return values


class Order(unittest.TestCase):
    def test_every_round_has_every_arm_once_in_an_order_of_its_own(self):
        drawn = paired.orders(["a", "b", "c", "d"], 40, seed=3)
        self.assertEqual({tuple(sorted(order)) for order in drawn}, {("a", "b", "c", "d")})
        self.assertGreater(len({tuple(order) for order in drawn}), 12)

    def test_no_arm_has_a_place_of_its_own(self):
        drawn = paired.orders(["a", "b", "c", "d"], 400, seed=3)
        for place in range(4):
            for arm in "abcd":
                share = sum(order[place] == arm for order in drawn) / len(drawn)
                self.assertAlmostEqual(share, 0.25, delta=0.08)

    def test_a_seed_gives_the_same_orders_again(self):
        self.assertEqual(paired.orders("abc", 9, seed=1), paired.orders("abc", 9, seed=1))
        self.assertNotEqual(paired.orders("abc", 9, seed=1), paired.orders("abc", 9, seed=2))


class Ratio(unittest.TestCase):
    def test_interval_covers_the_true_ratio_as_often_as_promised(self):
        covered = 0
        for seed in range(200):
            values = rounds(seed, 40, base=1.0, arm=0.97)
            found = paired.ratio(values["arm"], values["base"])
            covered += found.low <= 0.97 <= found.high
        self.assertGreaterEqual(covered, 180)

    def test_drift_that_both_share_does_not_widen_it(self):
        values = rounds(5, 40, base=1.0, arm=0.97)
        found = paired.ratio(values["arm"], values["base"])
        self.assertLess(found.high - found.low, 0.02)
        self.assertLess(found.high, 1.0)
        spread = max(values["base"]) / min(values["base"])
        self.assertGreater(spread, 1.15, "the rounds drift by far more than the interval is wide")

    def test_arms_that_are_shifted_by_one_round_lose_the_pairing(self):
        values = rounds(5, 41, base=1.0, arm=0.97)
        pairs = paired.ratio(values["arm"][:-1], values["base"][:-1])
        broken = paired.ratio(values["arm"][1:], values["base"][:-1])
        self.assertGreater(broken.high - broken.low, 1.5 * (pairs.high - pairs.low))

    def test_one_arm_against_itself_is_one(self):
        self.assertEqual(paired.ratio([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])[:3], (1.0, 1.0, 1.0))

    def test_unequal_rounds_are_refused(self):
        with self.assertRaisesRegex(ValueError, "cannot be paired"):
            paired.ratio([1.0, 2.0], [1.0])
        with self.assertRaisesRegex(ValueError, "cannot be paired"):
            paired.ratio([], [])


class Best(unittest.TestCase):
    def test_rounds_that_named_the_best_arm_do_not_compare_with_it(self):
        values = {"lucky": [1.0] * 10 + [3.0] * 30, "steady": [2.0] * 40, "ours": [1.5] * 40}
        self.assertEqual(paired.best(values, ["lucky", "steady"]), "lucky")
        found = paired.against_best(values, ["lucky", "steady"], "ours")
        self.assertEqual((found.estimate, found.n), (0.5, 30))

    def test_the_best_of_many_equal_arms_does_not_look_better_than_it_is(self):
        inside = 0
        for seed in range(60):
            values = rounds(seed, 40, ours=1.0, **{f"arm{i}": 1.0 for i in range(12)})
            found = paired.against_best(values, [f"arm{i}" for i in range(12)], "ours")
            inside += found.low <= 1.0 <= found.high
        self.assertGreaterEqual(inside, 51)


class Ablation(unittest.TestCase):
    REPORT = {"plans": [
        {"plan": [], "verdict": "champion", "pairs": 4, "build_s": None},
        {"plan": ["graph 0 runs as=graphs"], "verdict": "won", "pairs": 40, "build_s": 3.0},
        {"plan": ["graph 0 runs as=padded"], "verdict": "lost", "pairs": 20, "build_s": 5.0},
        {"plan": ["graph 0 runs as=graphs", "forward a | b=cut"], "verdict": "lost", "pairs": 9, "build_s": 2.0}],
        "race_list": [
            {"champion": [], "challenger": ["graph 0 runs as=graphs"], "log_ratio": {"estimate": 0.2, "low": 0.1, "high": 0.3}},
            {"champion": [], "challenger": ["graph 0 runs as=padded"], "log_ratio": {"estimate": -0.1, "low": -0.2, "high": 0.0}},
            {"champion": ["graph 0 runs as=graphs"], "challenger": ["graph 0 runs as=graphs", "forward a | b=cut"],
             "log_ratio": {"estimate": 0.9, "low": 0.1, "high": 1.0}}]}

    def test_candidates_are_counted_by_the_kinds_that_they_change(self):
        found = {tuple(group["kinds"]): group for group in ablation.of_report(self.REPORT)}
        self.assertEqual(set(found), {(), ("graph 0 runs as",), ("cuts", "graph 0 runs as")})
        one = found["graph 0 runs as",]
        self.assertEqual((one["candidates"], one["verdicts"], one["pairs"], one["build_s"]), (2, {"won": 1, "lost": 1}, 60, 8.0))

    def test_only_races_against_the_default_tell_a_kinds_saving(self):
        found = {tuple(group["kinds"]): group["best_race"] for group in ablation.of_report(self.REPORT)}
        self.assertEqual(found["graph 0 runs as",]["estimate"], 0.2)
        self.assertIsNone(found["cuts", "graph 0 runs as"])


if __name__ == "__main__":
    unittest.main()
