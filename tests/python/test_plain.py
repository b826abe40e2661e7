"""What needs the standard library alone: rows, presets, batches, schedule, curriculum, bootstrap, curves."""

import json
import math
import pathlib
import random
import tempfile
import unittest
import xml.etree.ElementTree

from support import PYTHON, run_main, toy_preset, write_rows

from regraph_training.batches import make_batches, padded
from regraph_training.bootstrap import bootstrap, paired_differences, quantile
from regraph_training.curriculum import Curriculum, CurriculumSampler
from regraph_training.errors import BadInput
from regraph_training.evaluation import closed_share, compare, gain, summary_of
from regraph_training.journal import Journal
from regraph_training.preset import check_trl_settings, read_preset
from regraph_training.records import read_rows, split_pair, training_rows
from regraph_training.schedule import Schedule, warmup_for
from regraph_training.svg_chart import Line, Panel, chart, smoothed, thinned, ticks


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class Rows(WithFolder):
    def test_both_forms(self):
        messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
        self.assertEqual(split_pair({"messages": messages}, "x"), (messages[:1], "b"))
        self.assertEqual(split_pair({"prompt": messages[:1], "completion": messages[1:]}, "x"), (messages[:1], "b"))
        self.assertEqual(split_pair({"prompt": "a", "completion": "b"}, "x"), (messages[:1], "b"))

    def test_what_is_wrong_is_named(self):
        for row, said in (({"text": "a"}, "columns: text"), ({"messages": []}, "`messages`"),
                          ({"messages": [{"role": "user", "content": "a"}]}, "no answer"),
                          ({"messages": [{"role": "robot", "content": "a"}]}, "robot")):
            with self.assertRaisesRegex(BadInput, said):
                split_pair(row, "file")

    def test_a_data_sets_folder(self):
        (self.folder / "data" / "rl").mkdir(parents=True)
        write_rows(self.folder / "data" / "rl" / "train-00000.jsonl", [{"a": 1}])
        write_rows(self.folder / "data" / "rl" / "train-00001.jsonl", [{"a": 2}])
        write_rows(self.folder / "states.jsonl", [{"a": 3}])
        self.assertEqual(training_rows(self.folder, ("rl",)), [{"a": 1}, {"a": 2}])
        self.assertEqual(read_rows(self.folder, "test", ("rl",)), [])
        with self.assertRaisesRegex(BadInput, "sft/"):
            training_rows(self.folder, ("sft",))
        with self.assertRaisesRegex(BadInput, "no such file"):
            training_rows(self.folder / "no", ("sft",))

    def test_bad_lines_are_named(self):
        (self.folder / "a.jsonl").write_text('{"a": 1}\nno json\n')
        with self.assertRaisesRegex(BadInput, r"a\.jsonl:2"):
            training_rows(self.folder / "a.jsonl", ("sft",))


class Presets(WithFolder):
    def test_all_shipped_ones_are_read(self):
        for file in (PYTHON / "presets").glob("*.json"):
            self.assertTrue(read_preset(file.stem).notes, file)

    def test_unknown_settings_are_named(self):
        with self.assertRaisesRegex(BadInput, "sft: unknown setting 'learning_rat'"):
            read_preset(toy_preset(self.folder / "p.json", sft={"learning_rat": 1}))
        with self.assertRaisesRegex(BadInput, "unknown setting 'grop'"):
            read_preset(toy_preset(self.folder / "p.json", grop={"a": 1}))
        with self.assertRaisesRegex(BadInput, "tokens: expected int"):
            read_preset(toy_preset(self.folder / "p.json", sft={"tokens": "many"}))
        with self.assertRaisesRegex(BadInput, "shipped: .*scratch-25m"):
            read_preset("nothing")

    def test_settings_that_trl_lacks_are_named(self):
        import dataclasses
        kind = dataclasses.make_dataclass("Config", ["beta"])
        with self.assertRaisesRegex(BadInput, "max_prompt_length"):
            check_trl_settings(kind, {"max_prompt_length": 512}, "p")


class Batches(unittest.TestCase):
    def test_every_example_once_within_the_budget(self):
        draw = random.Random(1)
        lengths = [draw.randrange(1, 900) for _ in range(3000)] + [5000]
        batches = make_batches(lengths, 4096, 3)
        self.assertEqual(sorted(index for batch in batches for index in batch), list(range(len(lengths))))
        for batch in batches:
            self.assertTrue(len(batch) == 1 or len(batch) * padded(max(lengths[index] for index in batch)) <= 4096)
        used = sum(len(batch) * padded(max(lengths[index] for index in batch)) for batch in batches)
        self.assertLess(used, 1.25 * sum(lengths))
        self.assertEqual(batches, make_batches(lengths, 4096, 3))
        self.assertNotEqual(batches, make_batches(lengths, 4096, 4))


class Schedules(unittest.TestCase):
    def test_rates(self):
        schedule = Schedule(1000, 0, 1e-3, 1e-4, 10, 0.4)
        self.assertAlmostEqual(schedule.learning_rate(0, 0), 1e-4)
        self.assertAlmostEqual(schedule.learning_rate(50, 0.5), 5.5e-4)
        self.assertAlmostEqual(schedule.learning_rate(50, schedule.progress(5000, 0)), 1e-4)
        self.assertFalse(schedule.answers_only(0.39))
        self.assertTrue(schedule.answers_only(0.4))

    def test_time_counts_where_it_is_further_along(self):
        schedule = Schedule(1000, 100, 1, 0, 1, 0.4)
        self.assertEqual(schedule.progress(200, 10), 0.2)
        self.assertEqual(schedule.progress(200, 50), 0.5)
        self.assertEqual([warmup_for(steps, 200) for steps in (4600, 100, 3)], [200, 10, 1])


class Curricula(unittest.TestCase):
    def make(self, stages, **changes):
        settings = {"acceptance": 0.8, "batches": 8, "earlier_share": 0.25, "skip_tied": True, **changes}
        return Curriculum(stages, 1, **settings)

    def test_a_stage_ends_when_it_is_learnt_or_has_had_its_batches(self):
        curriculum = self.make([1] * 8 + [2] * 8)
        self.assertTrue(all(row < 8 for row in curriculum.draw(4)))
        curriculum.record([(0, [0.1, 0.2], [True, False])])
        self.assertEqual(curriculum.stage, 1)
        curriculum.record([(0, [0.1, 0.2], [True, True])])
        self.assertEqual(curriculum.stage, 2)
        drawn = curriculum.draw(8)
        self.assertEqual(sum(row < 8 for row in drawn), 2)
        curriculum = self.make([1, 2], batches=3)
        for _ in range(3):
            curriculum.record([(0, [0.1, 0.2], [False, False])])
        self.assertEqual(curriculum.stage, 2)

    def test_groups_without_variance_wait(self):
        curriculum = self.make([1] * 8)
        curriculum.draw(4)
        curriculum.record([(row, [0.5, 0.5], [False, False]) for row in range(6)])
        self.assertEqual(sorted(curriculum.draw(2)), [6, 7])
        curriculum.record([(6, [None, 0.5], [False, False]), (7, [0.1, 0.5], [False, False])])
        self.assertNotIn(6, curriculum.waits)

    def test_it_goes_on_from_its_state(self):
        first, second = self.make([1] * 20 + [2] * 20), self.make([1] * 20 + [2] * 20)
        first.draw(4)
        first.record([(0, [0.5, 0.5], [True, True])])
        second.restore(json.loads(json.dumps(first.state())))
        self.assertEqual(first.draw(6), second.draw(6))

    def test_the_order_is_that_of_trl(self):
        sampler = CurriculumSampler(self.make([1] * 8), prompts=2, generations=3, repeats=2, batches=2)
        rows = list(sampler)
        self.assertEqual(len(rows), len(sampler))
        self.assertEqual(rows[:6], rows[6:12])
        self.assertEqual(rows[0], rows[2])
        self.assertNotEqual(rows[0], rows[3])


class Comparison(WithFolder):
    def rows(self, better):
        draw = random.Random(3)
        rows = []
        for kernel in range(60):
            level = draw.gauss(0, 0.5)
            for sample in range(-1, 8):
                rows.append({"kernel": f"k{kernel}", "state": f"s{kernel}", "sample": sample, "greedy": sample < 0,
                             "reward": level + better + draw.gauss(0, 0.1), "accepted": sample % 2 == 0,
                             "speedup": 1.5, "outcome": "correct", "step": "unroll", "prompt": kernel,
                             "same_as_rewriter": None, "cut_off": False})
        return rows

    def test_an_improvement_is_found_and_nothing_is_not(self):
        found = compare(self.rows(0.0), self.rows(0.1), resamples=1000)
        self.assertAlmostEqual(found["reward"].mean, 0.1, places=6)
        self.assertGreater(found["reward"].low, 0.05)
        self.assertEqual(found["reward"].kernels, 60)
        self.assertEqual(found["acceptance"].mean, 0.0)
        nothing = bootstrap([(-1) ** number * 0.3 for number in range(60)], 2000)
        self.assertLess(nothing.low, 0)
        self.assertGreater(nothing.high, 0)
        self.assertEqual(nothing, bootstrap([(-1) ** number * 0.3 for number in range(60)], 2000))

    def test_the_interval_is_the_normal_one(self):
        draw = random.Random(5)
        values = [draw.gauss(0.2, 0.15) for _ in range(60)]
        found = bootstrap(values, 10_000)
        mean = sum(values) / 60
        deviation = (sum((value - mean) ** 2 for value in values) / 60) ** 0.5 / 60 ** 0.5
        self.assertAlmostEqual(found.low, mean - 1.96 * deviation, delta=0.15 * deviation)
        self.assertAlmostEqual(found.high, mean + 1.96 * deviation, delta=0.15 * deviation)

    def test_parts(self):
        self.assertIsNone(bootstrap([]))
        self.assertEqual(paired_differences({"a": 1, "b": 2}, {"b": 5, "c": 1}), {"b": 3})
        self.assertEqual(quantile([0, 10, 20], 0.25), 5)
        with self.assertRaisesRegex(BadInput, "other prompts"):
            compare(self.rows(0)[:-9], self.rows(0))
        summary = summary_of(self.rows(0))
        self.assertEqual((summary["kernels"], summary["greedy"]["answers"], summary["sampled"]["answers"]), (60, 60, 480))
        self.assertEqual(summary["sampled"]["outcomes"], {"correct": 480})

    def test_what_a_user_gets(self):
        def row(state, speedup, accepted=True, reward=0.0):
            return {"state": state, "speedup": speedup, "accepted": accepted, "reward": reward}

        self.assertAlmostEqual(gain(row("a", math.e)), 1.0)
        self.assertEqual(gain(row("a", 4.0, accepted=False)), 0.0)  # the kernel stays as it is
        self.assertEqual(gain(row("a", None, accepted=False)), 0.0)
        self.assertIsNone(gain(row("a", 4.0, reward=None)))         # nothing is known
        first = [row("a", 1.0), row("b", math.exp(-1.0)), row("b", 9.0, accepted=False)]  # 0 and -0.5: -0.25
        second = [row("a", math.e), row("b", 1.0)]                                        # 1 and 0: 0.5
        other = [row("a", math.exp(3.0)), row("b", math.exp(-2.0))]                       # best: 3 and 0: 1.5
        self.assertAlmostEqual(closed_share(first, second, [first, second, other]), 0.75 / 1.75)
        self.assertAlmostEqual(closed_share(first, first, [first, second]), 0.0)
        self.assertIsNone(closed_share(second, first, [second]))

    def test_the_command(self):
        for name, better in (("a", 0), ("b", 0.1)):
            (self.folder / name).mkdir()
            write_rows(self.folder / name / "rows.jsonl", self.rows(better))
        code, said = run_main("regraph_evaluate", "compare", self.folder / "a", self.folder / "b", "--resamples", 200)
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r"reward +\+0\.1000  \[\+0\.\d+, \+0\.\d+\]  60 kernels")


class Curves(WithFolder):
    def test_a_picture(self):
        journal = Journal(self.folder / "run")
        for step in range(100):
            journal.line("step", step=step, loss=1 / (step + 1), reward=step / 100, accepted=0.5, tokens=step * 1000)
        journal.line("evaluation", step=100, exact=0.5, loss=float("nan"))
        with open(self.folder / "run" / "training.jsonl", "a") as file:
            file.write('{"kind": "st')  # killed here
        for over in ("seconds", "step", "tokens"):
            code, said = run_main("regraph_curves", self.folder / "run", self.folder / "run", "--svg",
                                  self.folder / "c.svg", "--over", over)
            self.assertEqual(code, 0, said)
            text = (self.folder / "c.svg").read_text()
            xml.etree.ElementTree.fromstring(text)
            for word in ("reward", "loss", "accepted answers"):
                self.assertIn(word, text)
            self.assertNotIn("nan", text)

    def test_nothing_to_draw(self):
        code, said = run_main("regraph_curves", self.folder / "no", "--svg", self.folder / "c.svg")
        self.assertEqual((code, "cannot be read" in said), (2, True))
        xml.etree.ElementTree.fromstring(chart("a < b", [Panel("x", [Line("l", [])])], "y"))

    def test_parts(self):
        self.assertEqual(ticks(0, 1), [0, 0.5, 1.0])
        self.assertEqual(ticks(-3, 17), [0, 5, 10, 15])
        self.assertEqual(smoothed([(0, 1), (1, 3), (2, 5)], 2), [(0, 1), (1, 2), (2, 4)])
        self.assertEqual(thinned([(x, x) for x in range(4)], 2), [(0.5, 0.5), (2.5, 2.5)])


if __name__ == "__main__":
    unittest.main()
