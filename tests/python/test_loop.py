"""The loop's own decisions; the programs it calls have tests of their own."""

import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

import regraph_loop
from regraph_training.errors import BadInput, TrainingStopped


def comparison(reward_low: float, acceptance: float) -> dict:
    return {"reward": {"mean": reward_low + 0.01, "low": reward_low, "high": reward_low + 0.02},
            "acceptance": {"mean": acceptance, "low": acceptance - 0.1, "high": acceptance + 0.1}}


class Gate(unittest.TestCase):
    def test_better_beyond_noise(self):
        self.assertTrue(regraph_loop.is_better(comparison(0.001, 0.0)))
        self.assertTrue(regraph_loop.is_better(comparison(0.001, -0.005)))

    def test_not_better(self):
        self.assertFalse(regraph_loop.is_better(comparison(-0.001, 0.1)))
        self.assertFalse(regraph_loop.is_better(comparison(0.1, -0.02)))
        self.assertFalse(regraph_loop.is_better({"reward": None, "acceptance": None}))


class Mix(unittest.TestCase):
    def test_a_quarter_is_new(self):
        rows = regraph_loop.mixed_rows([f"new {n}" for n in range(10)], [f"old {n}" for n in range(100)], 3)
        self.assertEqual(len(rows), 40)
        self.assertEqual(sum(row.startswith("new") for row in rows), 10)
        self.assertEqual(rows, regraph_loop.mixed_rows([f"new {n}" for n in range(10)],
                                                       [f"old {n}" for n in range(100)], 3))

    def test_little_to_replay(self):
        self.assertEqual(sorted(regraph_loop.mixed_rows(["new"], ["old"], 1)), ["new", "old"])


class Record(unittest.TestCase):
    def test_what_is_done_is_not_done_again(self):
        with tempfile.TemporaryDirectory() as folder:
            output = pathlib.Path(folder) / "out"
            output.mkdir()
            (output / "loop.jsonl").write_text(json.dumps({"next": "better"}) + "\n")
            options = regraph_loop.read_options(["--programs", ".", "--model", "m", "--kernels", folder, "--held", "h",
                                                 "--replay", "r", "--output", str(output), "--iterations", "1"])
            regraph_loop.Loop(options).run()
            options.iterations = 2
            with self.assertRaises(BadInput):  # goes on with the second, which has no kernels
                regraph_loop.Loop(options).run()

    def test_a_command_that_fails_says_what_it_said(self):
        with self.assertRaisesRegex(TrainingStopped, "no such thing"):
            regraph_loop.run([sys.executable, "-c", "import sys; sys.exit('no such thing')"])

    def test_a_server_that_does_not_serve(self):
        with self.assertRaisesRegex(TrainingStopped, "did not begin"):
            with regraph_loop.serving([sys.executable, "-c", "print('hello')"]):
                pass


if __name__ == "__main__":
    unittest.main()
