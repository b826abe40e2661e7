"""What a predicted search found, judged again at the problem's own sizes: `regraph_bench.py measure`."""

import contextlib
import io
import json
import os
import pathlib
import tempfile
import unittest
from unittest import mock

import regraph_bench
import traces
from lowered import lowered
from regraph_torch import found, tools
from regraph_torch.errors import BadInput

PROGRAMS = pathlib.Path(os.environ.get("REGRAPH_PROGRAMS", "/nowhere"))
NO_PROGRAMS = "" if (PROGRAMS / "regraph-run").exists() else "REGRAPH_PROGRAMS does not say where regraph-run is"


@unittest.skipIf(NO_PROGRAMS, NO_PROGRAMS)
class Found(unittest.TestCase):
    """Candidates of a real search, judged again; predicted, since no GPU is needed for that."""

    def test_candidates_are_judged_at_the_problems_own_sizes(self):
        made = lowered(traces.softmax, {"rows": 4096, "columns": 1024}, {"rows": 37, "columns": 29})
        programs = tools.find_programs(PROGRAMS)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "kernel.cu").write_text(made.source)
            (folder / "kernel.regraph.yaml").write_text(made.manifest)
            options = ["--device", "h200", "--evaluator", "model", "--evaluations", "4", "--jobs", "2"]
            result, trouble = tools.search(programs, folder / "kernel.cu", folder / "search", {"columns": 128}, options, 300)
            self.assertIsNotNone(result, trouble)
            self.assertEqual(result["status"], "improved")
            judged = found.judge(programs, folder, found.Options(2, 300, ("--device", "h200", "--evaluator", "model")))
            self.assertEqual([one["verdict"] for one in judged["candidates"]], ["correct", "correct"])
            self.assertEqual(judged["candidates"][0]["file"], "search/best.cu")
            self.assertEqual(judged["seconds"], min(one["seconds"] for one in judged["candidates"]))
            # Eight times the columns of the search.
            self.assertGreater(judged["naive_seconds"], 2 * result["baseline"]["seconds"])
            (folder / "search" / "best.cu").write_text("__global__ void other() {}")
            spoilt = found.judge(programs, folder, found.Options(2, 300, ("--device", "h200", "--evaluator", "model")))
            self.assertNotEqual(spoilt["candidates"][0]["verdict"], "correct")
            self.assertEqual(spoilt["file"], "finalists/0.cu")
            # An answer that the search did not dare to give is measured all the same.
            (folder / "search" / "result.json").write_text(json.dumps({**result, "status": "no_improvement"}))
            unclaimed = found.candidates(folder, 2)
            self.assertEqual([file.name for file, _ in unclaimed], ["0.cu", "1.cu"])
            self.assertTrue(all(steps for _, steps in unclaimed))

    def test_no_problem_is_begun_too_late_and_the_next_run_goes_on(self):
        made = lowered(traces.softmax, {"rows": 64, "columns": 512}, {"rows": 7, "columns": 29})
        with tempfile.TemporaryDirectory() as name:
            output = pathlib.Path(name)
            rows = []
            for problem_name in ("1_first", "2_second"):
                folder = output / problem_name
                (folder / "search").mkdir(parents=True)
                (folder / "kernel.cu").write_text(made.source)
                (folder / "kernel.regraph.yaml").write_text(made.manifest)
                (folder / "search" / "result.json").write_text('{"status": "no_improvement"}')
                rows.append({"problem": problem_name, "stage": "searched", "file": "", "kernel": "", "search": {"speedup": 1.0, "seconds": 1e-6, "naive_seconds": 1e-6, "method": "predicted", "steps": []}, "sizes": {}, "searched_sizes": {}})
            (output / "results.json").write_text(json.dumps({"settings": {"mode": "eval"}, "problems": rows}))
            command = ["measure", name, "--programs", str(PROGRAMS), "--evaluator", "model", "--device", "h200"]
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                late = regraph_bench.measure_found(regraph_bench.arguments().parse_args([*command, "--stop-after", "1e-9"]), [])
            self.assertEqual(late, regraph_bench.NOT_EQUAL)
            self.assertIn("2 problems were not begun", said.getvalue())
            with contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(regraph_bench.measure_found(regraph_bench.arguments().parse_args(command), []), 0)
            measured = json.loads((output / "results.json").read_text())["problems"]
            self.assertTrue(all(one["measured"]["seconds"] > 0 for one in measured))

    def test_folders_of_no_benchmark_are_bad_input(self):
        with tempfile.TemporaryDirectory() as name, self.assertRaises(BadInput):
            regraph_bench.measure_found(mock.Mock(output=pathlib.Path(name)), [])


if __name__ == "__main__":
    unittest.main()
