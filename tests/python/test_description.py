"""Descriptions in words: modules read from answers, frames, and two readings that have to compute the same; against a fake server."""

import os
import pathlib
import tempfile
import unittest

import support
from test_front import FAST, FakeChat

import regraph_bench
from regraph_torch import chat, child, description, problem
from regraph_torch.description import Unusable
from regraph_torch.errors import BadInput, Refused

NO_TORCH = support.lacking(("torch",))
PROGRAMS = pathlib.Path(os.environ.get("REGRAPH_PROGRAMS", "/nowhere"))

WORDS = "Each row of a matrix of 2048 x 512 numbers becomes a probability distribution: the softmax of twice its values."
MODULE = '''The last dimension is a row's.
```python
import torch
from torch import nn

rows = 2048
columns = 512


class Model(nn.Module):
    """A softmax."""

    def __init__(self):
        super().__init__()
        # the temperature
        self.scale = 2.0

    def forward(self, x):
        """Of rows."""
        return torch.softmax(self.scale * x, dim=1)


def get_inputs():
    return [torch.rand(rows, columns)]


def get_init_inputs():
    return []
```
'''
AGAIN = MODULE.replace("class Model", "class ModelNew").replace("torch.softmax(self.scale * x, dim=1)",
                                                               "(2.0 * x - (2.0 * x).logsumexp(1, keepdim=True)).exp()")
OTHERWISE = AGAIN.replace("2.0 * x", "x")
DOES_NOT_RUN = MODULE.replace("dim=1", "dim=7")


def answers(first=(MODULE,), second=(AGAIN,)):
    """A server's: modules for those who ask for one, others for those who are shown a frame; in turn."""
    left = {"first": list(first), "second": list(second)}

    def answer(messages, _):
        which = left["second" if messages[0]["content"] == description.AGAIN else "first"]
        return which.pop(0) if len(which) > 1 else which[0]
    return answer


class Reading(unittest.TestCase):
    def test_the_module_and_what_was_said_before_it(self):
        module = description.read("<think>```python\n```</think>" + MODULE, "Model")
        self.assertTrue(module.source.startswith("import torch\n"))
        self.assertEqual(module.notes, "The last dimension is a row's.")

    def test_what_cannot_be_used_is_said(self):
        for answer, reason in (("No.", "0 blocks"), (MODULE + AGAIN, "2 blocks"), (MODULE.replace("def get_inputs", "def inputs"), "lacks get_inputs"),
                               (MODULE.replace("rows = 2048", "rows = = 2048"), "no Python"), (AGAIN, "lacks Model"),
                               (MODULE.replace("rows = 2048", "#" * 30000), "too long")):
            with self.assertRaises(Unusable, msg=answer) as told:
                description.read(answer, "Model")
            self.assertIn(reason, str(told.exception))

    def test_a_frame_has_no_word_of_what_is_computed(self):
        frame = description.frame(description.read(MODULE, "Model").source)
        for word in ("softmax", "temperature", "Of rows"):
            self.assertNotIn(word, frame)
        for word in ("self.scale = 2.0", "rows = 2048", "def forward(self, x):\n        ...", "torch.rand(rows, columns)"):
            self.assertIn(word, frame)

    def test_descriptions_are_for_front_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "softmax.md")
            file.write_text(WORDS)
            options = regraph_bench.arguments().parse_args(["kernelbench", str(file)])
            with self.assertRaises(BadInput) as told:
                regraph_bench.kernelbench(options, [])
            self.assertIn("`front` makes one", str(told.exception))


@unittest.skipIf(NO_TORCH, NO_TORCH)
class Modules(unittest.TestCase):
    def made(self, answer, **options):
        """The module's text, what was said beside it, and the requests."""
        with tempfile.TemporaryDirectory() as folder, FakeChat(answer) as fake:
            file = pathlib.Path(folder, "rows.md")
            file.write_text(WORDS)
            traced = problem.Options("eval", 1, child.Limits(120, 8.0))
            module = description.module_of(file, pathlib.Path(folder, "out"), chat.Server(fake.url, "hand"), traced, description.Options(**options))
            self.assertEqual(module.name, "rows.py")
            return module.read_text(), (module.parent / "notes.md").read_text(), fake.requests

    def test_two_readings_that_compute_the_same_make_a_module(self):
        module, notes, requests = self.made(answers())
        self.assertIn("class Model(nn.Module)", module)
        self.assertEqual(notes, "The last dimension is a row's.\n")
        self.assertEqual(len(requests), 2)
        shown = requests[1][2]["messages"][1]["content"]
        self.assertIn(WORDS, shown)
        self.assertNotIn("softmax(", shown)

    def test_what_does_not_run_is_sent_back(self):
        module, _, requests = self.made(answers(first=(DOES_NOT_RUN, MODULE), second=(AGAIN.replace("exp()", "exq()"), AGAIN)))
        self.assertIn("dim=1", module)
        self.assertEqual(len(requests), 4)
        self.assertIn("Dimension out of range", requests[1][2]["messages"][-1]["content"])
        self.assertIn("exq", requests[3][2]["messages"][-1]["content"])
        with self.assertRaises(Refused) as told:
            self.made(answers(first=(DOES_NOT_RUN,)), repairs=1)
        self.assertIn("no module that runs", str(told.exception))

    def test_two_readings_that_differ_make_none(self):
        with self.assertRaises(Refused) as told:
            self.made(answers(second=(OTHERWISE,)))
        self.assertIn("can be read in two ways", str(told.exception))
        self.made(answers(second=(OTHERWISE,)), readings=1)

    @unittest.skipIf(not (PROGRAMS / "regraph-run").exists(), "REGRAPH_PROGRAMS does not say where regraph-run is")
    def test_front_goes_on_to_a_kernel(self):
        kernel = FAST.replace("own[k] - most)", "2.0f * (own[k] - most))").replace("softmax_rows", "rows_kernel")

        def answer(messages, seed):
            is_kernel = "```cuda" in messages[0]["content"]
            return kernel if is_kernel else answers()(messages, seed)
        with tempfile.TemporaryDirectory() as folder, FakeChat(answer) as fake:
            file = pathlib.Path(folder, "rows.md")
            file.write_text(WORDS)
            code = regraph_bench.front(regraph_bench.arguments().parse_args(
                ["front", str(file), "--output", f"{folder}/out", "--programs", str(PROGRAMS), "--llm-url", fake.url, "--llm-model", "hand",
                 "--answers", "1", "--seeds", "1"]))
            self.assertEqual(code, 0)
            self.assertIn("rows_kernel", pathlib.Path(folder, "out/rows/kernel.cu").read_text())


if __name__ == "__main__":
    unittest.main()
