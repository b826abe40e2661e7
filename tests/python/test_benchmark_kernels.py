"""The scripts of bench/kernels, as far as they run no program."""
import argparse
import importlib.machinery
import importlib.util
import json
import pathlib
import sqlite3
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent.parent.parent / "bench/kernels"
sys.path.insert(0, str(FOLDER))

import kernels  # noqa: E402  (the path)

LOADER = importlib.machinery.SourceFileLoader("benchmark_run", str(FOLDER / "run"))
run = importlib.util.module_from_spec(importlib.util.spec_from_loader(LOADER.name, LOADER))
LOADER.exec_module(run)

MANIFEST = """sizes: {m: 8, n: 16}
launch: {block: 32, grid: "cdiv(n, bx)"}
bench:
  - {m: 4, n: 8}
  - {m: 8, n: 16}
  - {m: 5, n: 7}
counters: {bytes: 8*n}
"""

LOG = """note: something
not proposed for the original
  loop_unroll(factor=full, loop=1) and 3 more   no innermost loop is short
  smem_pad                                      no shared array
[    0.4 s]    0 0 -> baseline: 69.1 us (1.00x)
[    1.6 s]    1 0 -> smem_tile: 18.9 us (3.66x)
[    2.7 s]    2 1 -> loop_unroll(factor=2): 18.7 us (3.69x)
"""


def row(gain=1.0, steps=(), **more):
    return {"kernel": "map/student", "style": "student", "gain": gain, "steps": list(steps), "middle": "n=4", "root_proposals": 3, "failed": {},
            "evaluations": 6, "best_seen": gain, "refusals": [], "opaque": None, "sizes": {"n=4": {"naive": 8.0, "found": 2.0, "hand": 1.0}}} | more


class Manifests(unittest.TestCase):
    def test_sizes_are_read_and_put_in(self):
        self.assertEqual(kernels.bench_sizes(MANIFEST), [{"m": 4, "n": 8}, {"m": 8, "n": 16}, {"m": 5, "n": 7}])
        one = kernels.at_size(MANIFEST, {"m": 5, "n": 7})
        self.assertEqual(kernels.bench_sizes(one), [{"m": 5, "n": 7}])
        self.assertTrue(one.startswith("sizes: {m: 5, n: 7}\nlaunch:"))
        self.assertTrue(one.endswith("counters: {bytes: 8*n}\n"))

    def test_kernels_are_chosen_by_family_style_and_name(self):
        self.assertEqual([one.name for one in kernels.kernels(["sgemm/student"])], ["sgemm/student"])
        self.assertEqual({one.family for one in kernels.kernels(["copy"])}, {"copy"})
        self.assertEqual({one.style for one in kernels.kernels([":library"])}, {"library"})
        with self.assertRaises(SystemExit):
            kernels.kernels(["no_such_family"])

    def test_every_floor_is_of_a_kernel(self):
        for name, noted in json.loads(run.FLOORS.read_text(encoding="utf-8")).items():
            self.assertEqual(len(kernels.kernels([name])), 1)
            self.assertGreater(noted["gain"], 1.1)


class Rows(unittest.TestCase):
    def test_what_verbose_says(self):
        self.assertEqual(run.refusals_of(LOG), [["loop_unroll", "no innermost loop is short"], ["smem_pad", "no shared array"]])
        self.assertEqual(run.refusals_of("[    0.4 s]    0 0 -> baseline: 69.1 us (1.00x)\n"), [])
        self.assertEqual(run.seconds_at(LOG, 2), 2.7)
        self.assertEqual(run.seconds_at(LOG, 0), 0.4)
        self.assertIsNone(run.seconds_at("", 0))

    def test_the_way_to_the_end(self):
        with tempfile.TemporaryDirectory() as folder:
            database = sqlite3.connect(pathlib.Path(folder) / "run.db")
            database.execute("CREATE TABLE baseline(proposals TEXT, median_seconds REAL)")
            database.execute("CREATE TABLE measurement(node INTEGER, step TEXT, verdict TEXT, median_seconds REAL)")
            database.execute("INSERT INTO baseline VALUES('[1, 2]', 8.0)")
            rows = [(1, "a", "correct", 4.0), (2, "b", "wrong_result", 1.0), (3, "c", "correct", 2.01), (4, "d", "correct", 2.0)]
            database.executemany("INSERT INTO measurement VALUES(?, ?, ?, ?)", rows)
            database.commit()
            self.assertEqual(run.way_to_the_end(pathlib.Path(folder)),
                             {"evaluations": 4, "evaluations_to_end": 3, "failed": {"b: wrong_result": 1}, "best_seen": 4.0, "root_proposals": 2})

    def test_times_are_compared(self):
        found = run.compared(row(4.0, ["smem_tile"]), {"map n=4": 0.5})
        self.assertEqual((found["gain"], found["hand_share"], found["hand_gain"], found["library"]), (4.0, 0.5, 8.0, 0.5))
        nothing = run.compared(row(), {})
        self.assertEqual((nothing["found"], nothing["gain"], nothing["library"]), (8.0, 1.0, None))
        failed = run.compared(row(4.0, ["x"], sizes={"n=4": {"naive": 8.0, "found": "wrong_result: y", "hand": 1.0}}), {})
        self.assertEqual((failed["found"], failed["gain"], failed["hand_share"]), (None, None, None))

    def test_why_nothing_was_gained(self):
        self.assertEqual(run.why_not(row(opaque="a\n goto")), "opaque: a goto")
        self.assertEqual(run.why_not(row(root_proposals=0)), "no step was proposed")
        self.assertEqual(run.why_not(row(best_seen=1.2)), "best of 6 is 1.20x, within the uncertainty")
        shared = [["a", "no loop"], ["b", "no loop"], ["c", "no loop"], ["d", "else"]]
        self.assertEqual(run.why_not(row(refusals=shared, failed={"a: crash": 2})), "best of 6 is 1.00x; no loop (3 steps); 2 failed: a: crash")

    def test_a_row_is_not_made_twice(self):
        with tempfile.TemporaryDirectory() as folder:
            options = argparse.Namespace(out=pathlib.Path(folder), jobs=1, seconds=None)
            made = []
            kept, before = {"rows": {"copy/student": {"gain": 1.0}}}, run.row_of
            run.row_of = lambda _, kernel: made.append(kernel.name) or {"kernel": kernel.name, "trouble": "none"}
            try:
                self.assertTrue(run.search_all(options, kernels.kernels(["copy/student", "copy/library"]), kept))
            finally:
                run.row_of = before
            self.assertEqual(made, ["copy/library"])
            self.assertEqual(set(json.loads((options.out / "rows.json").read_text(encoding="utf-8"))["rows"]), {"copy/student", "copy/library"})


if __name__ == "__main__":
    unittest.main()
