"""Tables of KernelBench's problems: which times are claimed, what counts for fast_p, and both files."""

import json
import pathlib
import tempfile
import unittest

import support  # noqa: F401  (the path of python/)

from regraph_torch import tables


def row(name, stage="searched", method="measured", seconds=1e-3, eager=None, **more):
    return {"problem": name, "stage": stage, "sizes": {"n": 4}, "searched_sizes": {"n": 4}, "check": {"cases": 2, "worst": 0.0, "trouble": ""},
            "search": {"status": "improved", "method": method, "speedup": 2.0, "seconds": seconds, "naive_seconds": 2 * seconds, "steps": ["window"]},
            **({"pytorch": {"eager": {"seconds": eager}}} if eager else {})} | more


class Tables(unittest.TestCase):
    def test_fast_p_counts_problems_without_an_answer(self):
        self.assertEqual(tables.fast_p([2.5, 1.0, None, 0.6], 1.0), 0.25)
        self.assertEqual(tables.fast_p([2.5, 1.0, None, 0.6], 0.0), 0.75)
        self.assertEqual(tables.fast_p([], 1.0), 0.0)
        rows = [row("a", eager=2.5e-3), row("b", eager=0.5e-3), {"problem": "c", "stage": "loaded", "reason": "two operators: a, then b"}]
        found = tables.summary(rows)
        self.assertAlmostEqual(found["fast_p"]["eager"]["1.0"], 1 / 3)
        self.assertEqual(found["fast_p"]["compiled"]["0.0"], 0.0)
        self.assertIn("| PyTorch eager | 66.7 % | 33.3 % | 33.3 % | 33.3 % | 33.3 % | 33.3 % |", tables.markdown(rows))

    def test_predictions_are_called_so_and_give_no_fast_p(self):
        text = tables.markdown([row("a", method="predicted", eager=1.0)])
        self.assertNotIn("fast_p", text)
        self.assertIn("Predicted gain over the naive kernel, which is no comparison with PyTorch: 2x", text)

    def test_what_was_measured_afterwards_counts(self):
        later = {"method": "measured", "seconds": 1e-3, "naive_seconds": 4e-3, "speedup": 4.0, "steps": ["convolution"]}
        rows = [row("a", method="predicted", eager=1.6e-3, measured=later, searched_sizes={"n": 2}),
                row("b", method="predicted", eager=9.0, measured={"trouble": "no time"})]
        self.assertEqual(tables.measured_speedups(rows, "eager"), [1.6, None])
        text = tables.markdown(rows)
        self.assertIn("| a | n 4 | 4 ms | 1 ms | 4x | measured | convolution | 1.6 ms | - |", text)
        self.assertIn("| b | searched | no time |", text)
        self.assertEqual(tables.measured_line(rows[0]), "a: 4 ms to 1 ms measured, PyTorch eager 1.6 ms")
        self.assertEqual(tables.measured_line(rows[1]), "b: no time")

    def test_a_wrong_answer_is_no_answer(self):
        rows = [row("a", stage="wrong", eager=1.0, reason="the answer: element 0 is 1, expected 2")]
        self.assertNotIn("fast_p", tables.summary(rows))
        self.assertIn("the answer is wrong", tables.markdown(rows))

    def test_both_files_are_written(self):
        with tempfile.TemporaryDirectory() as folder:
            tables.write([row("a", method="predicted")], pathlib.Path(folder), {})
            found = json.loads(pathlib.Path(folder, "results.json").read_text())
            self.assertEqual((found["schema"], found["summary"]["searched"]), ("regraph-kernelbench/1", 1))


if __name__ == "__main__":
    unittest.main()
