"""Sizes of tests are such that an interpreter is soon done."""
import unittest

import support  # noqa: F401  (finds python/)
from regraph_torch.kernels import Kernel
from regraph_torch.short_tests import LEAST, MOST_STEPS, soon_done, steps
from regraph_torch.sizes import Size
from regraph_torch.values import Buffer

TEXT = """
  for (int channel = 0; channel < 3; ++channel) {
    for (int kh = 0; kh < 11; ++kh) {
"""


def convolution():
    out = Buffer("out", "float16", (Size("n", (1,)), Size("96", (96,)), Size("(d - 7) / 4 + 1", (1,))))
    return [Kernel("k", [out], ["n", "d"], TEXT, [32], ["1"])]


class ShortTests(unittest.TestCase):
    def test_counts_steps(self):
        self.assertEqual(steps(convolution(), {"n": 1, "d": 35}), 96 * 8 * 3 * 11)

    def test_leaves_what_is_short(self):
        self.assertEqual(soon_done(convolution(), {"n": 1, "d": 35}), {"n": 1, "d": 35})

    def test_halves_the_largest(self):
        found = soon_done(convolution(), {"n": 37, "d": 1001})
        self.assertLessEqual(steps(convolution(), found), MOST_STEPS)
        self.assertGreater(2 * 2 * steps(convolution(), found), MOST_STEPS)
        self.assertEqual(found["d"] % 2, 1)

    def test_stops_where_nothing_can_shrink(self):
        large = [Kernel("k", [Buffer("out", "float32", (Size("n", (1,)),))], ["n"], "for (int i = 0; i < 9000000; ++i) {", [32], ["1"])]
        self.assertEqual(soon_done(large, {"n": 64}), {"n": LEAST})

    def test_keeps_extents_positive(self):
        window = [Kernel("k", [Buffer("out", "float32", (Size("n - 40", (1,)),))], ["n"], "for (int i = 0; i < 9000000; ++i) {", [32], ["1"])]
        self.assertEqual(soon_done(window, {"n": 64}), {"n": 64})


if __name__ == "__main__":
    unittest.main()
