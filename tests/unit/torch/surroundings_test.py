"""What a session says of where it runs, and which rank of a job it is."""
import os
import unittest
import warnings
from unittest import mock

import support  # noqa: F401
import torch

import blazed
from blazed.torch import ranks
from blazed.torch import support as torch_support
from blazed.torch import surroundings


class SurroundingsTest(unittest.TestCase):
    def test_a_switch_that_changes_numbers_is_another_environment(self):
        before = surroundings.of("cpu")
        kept = torch.get_float32_matmul_precision()
        try:
            torch.set_float32_matmul_precision("high")
            self.assertNotEqual(before, surroundings.of("cpu"))
        finally:
            torch.set_float32_matmul_precision(kept)
        torch.use_deterministic_algorithms(True)
        try:
            self.assertNotEqual(before, surroundings.of("cpu"))
        finally:
            torch.use_deterministic_algorithms(False)
        self.assertEqual(before, surroundings.of("cpu"))

    def test_switches_that_are_set_one_by_one_are_asked_for_without_a_word(self):
        """Where they contradict each other PyTorch's older question raises; asking must not raise, warn, or change one."""
        before = surroundings.of("cpu")
        kept = torch.backends.mkldnn.matmul.fp32_precision
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                torch.backends.mkldnn.matmul.fp32_precision = "bf16"
                self.assertRaises(RuntimeError, torch.get_float32_matmul_precision)
                here = surroundings.of("cpu")
                self.assertEqual(torch.backends.mkldnn.matmul.fp32_precision, "bf16")
            finally:
                torch.backends.mkldnn.matmul.fp32_precision = kept
        self.assertNotEqual(before, here)
        self.assertEqual(before, surroundings.of("cpu"))

    def test_what_the_caller_names_stays(self):
        options = torch_support.filled(blazed.Options(environment={"torch": "mine", "room": "warm"}), "cpu")
        self.assertEqual(options.environment["torch"], "mine")
        self.assertEqual(options.environment["room"], "warm")
        self.assertLessEqual(len(options.environment), 32)


class RanksTest(unittest.TestCase):
    def of(self, **environment):
        with mock.patch.dict(os.environ, environment):
            for name in {"RANK", "WORLD_SIZE"} - set(environment):
                os.environ.pop(name, None)
            return ranks.of_this_process()

    def test_a_launcher_says_it_in_the_environment(self):
        self.assertEqual(self.of(), (0, 1))
        self.assertEqual(self.of(RANK="1", WORLD_SIZE="4"), (1, 4))
        self.assertEqual(self.of(WORLD_SIZE="4"), (0, 4))

    def test_nonsense_hides_no_rank(self):
        self.assertEqual(self.of(RANK="x", WORLD_SIZE="2"), (0, 2))
        self.assertEqual(self.of(RANK="7", WORLD_SIZE="2"), (0, 2))
        self.assertEqual(self.of(RANK="0", WORLD_SIZE="-3"), (0, 1))

    def test_a_process_group_says_it_itself(self):
        torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
        try:
            self.assertEqual(self.of(RANK="3", WORLD_SIZE="4"), (0, 1))
        finally:
            torch.distributed.destroy_process_group()

    def test_a_job_of_several_ranks_says_so_to_the_session(self):
        with mock.patch.dict(os.environ, RANK="1", WORLD_SIZE="2"):
            options = torch_support.filled(blazed.Options(), "cpu")
        self.assertEqual((options.rank, options.world_size), (1, 2))


if __name__ == "__main__":
    unittest.main()
