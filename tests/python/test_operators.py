"""Every operator that is lowered, in every type that floating-point tensors have, on the interpreter against PyTorch. Skipped without PyTorch."""

import os
import pathlib
import tempfile
import unittest

import support

from lowered import FLOATING, HALVES
from regraph_torch import problem, tools, trace_child, variants
from regraph_torch.elementwise import BINARY, LOSSES, UNARY
from regraph_torch.operators import OPERATORS
from regraph_torch.views import VIEWS

PROGRAMS = pathlib.Path(os.environ.get("REGRAPH_PROGRAMS", "/nowhere"))
ALL_TYPES = bool(os.environ.get("REGRAPH_ALL_TYPES"))  # eight minutes; else half precision alone, fp16 and bf16 in turn
LACKING = support.lacking(("torch",)) or \
    ("" if (PROGRAMS / "regraph-run").exists() else "REGRAPH_PROGRAMS does not say where regraph-run is")

HEAD = """import torch
from torch import nn
import torch.nn.functional as F
rows, columns, depth, side, long = 512, 1024, 256, 96, 2048
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        {init}
    def forward(self, {names}):
        return {forward}
def get_inputs():
    return [{inputs}]
def get_init_inputs():
    return []
"""
SMALL = {"rows": 21, "columns": 37, "depth": 23, "side": 17, "long": 53}
INPUTS = {"x": "torch.rand(rows, columns)", "y": "torch.rand(rows, columns) + 0.25", "z": "torch.rand(rows, columns)",
          "a": "torch.rand(rows, depth) - 0.5", "b": "torch.rand(depth, columns) - 0.5", "v": "torch.rand(depth) - 0.5",
          "p": "torch.rand(3, rows, depth) - 0.5", "q": "torch.rand(3, depth, columns) - 0.5",
          "line": "torch.rand(2, 4, long) - 0.5", "image": "torch.rand(2, 4, side, side) - 0.5", "volume": "torch.rand(2, 4, 9, 7, 8) - 0.5",
          "classes": "torch.randint(0, 37, (rows,))", "row": "torch.rand(rows, 1)", "f": "torch.rand(rows, columns, dtype=torch.float32)"}

# What forward returns, by the inputs' names in it; and what the module has.
FORWARDS = [
    "torch.matmul(a, b)", "torch.mm(a, b)", "torch.bmm(p, q)", "torch.mv(a, v)", "torch.addmm(x, a, b)", "torch.einsum('ik,kj->ij', a, b)",
    "x.sum(1)", "x.mean(0)", "torch.prod(row * 1.5, 1)", "torch.amax(x, 1)", "torch.amin(x, 0)", "torch.max(x, 1)[0]", "torch.min(x, 1)[0]",
    "torch.argmax(x, 1)", "torch.argmin(x, 1)", "torch.linalg.vector_norm(x, dim=1)", "x.sum()", "x.mean()", "x / torch.linalg.vector_norm(x)",
    "torch.cumsum(x, 1)", "torch.cumprod(x + 0.5, 1)", "torch.matmul(torch.triu(a), b)", "torch.matmul(torch.tril(a), b)",
    "torch.softmax(x, 1)", "torch.log_softmax(x, 1)", "F.mse_loss(x, y)", "F.l1_loss(x, y)", "F.smooth_l1_loss(x, y)", "F.huber_loss(x, y)",
    "F.kl_div(torch.log_softmax(x, 1), torch.softmax(y, 1), reduction='sum')", "F.cross_entropy(x, classes)", "F.triplet_margin_loss(x, y, z)",
    "F.max_pool1d(line, 3)", "F.max_pool2d(image, 3, padding=1)", "F.max_pool3d(volume, 2)",
    "F.avg_pool1d(line, 3)", "F.avg_pool2d(image, 3, padding=1)", "F.avg_pool3d(volume, 2)",
    *(f"torch.{one}(x)" for one in ("relu", "sigmoid", "tanh", "abs", "neg", "exp", "expm1", "log1p", "sin", "cos", "erf", "square")),
    *(f"torch.{one}(y)" for one in ("log", "sqrt", "rsqrt", "reciprocal")),
    *(f"F.{one}(x)" for one in ("relu6", "leaky_relu", "silu", "gelu", "elu", "selu", "hardsigmoid", "hardswish", "hardtanh", "mish", "softplus")),
    "F.gelu(x, approximate='tanh')", "torch.clamp(x, -0.5, 0.5)", "torch.clamp_min(x, 0.25)", "torch.clamp_max(x, 0.25)", "x ** 3",
    "x + y", "x - y", "torch.rsub(x, 1.25)", "x * y * 1.1", "x / y + 0.1", "torch.maximum(x, y)", "torch.minimum(x, y)",
    "torch.relu(x.t())", "torch.relu(x.T)", "torch.relu(x.mT)", "torch.relu(x.transpose(0, 1))", "torch.relu(image.permute(0, 2, 3, 1))",
    "x.unsqueeze(1) * 2", "row.squeeze(1) * 2", "x + row.expand(-1, columns)", "x + row.expand_as(x)", "torch.narrow(x, 1, 0, 5) * 2",
    "x.select(0, 2) * 2", "torch.flip(x, [1]) * 2", "image.view(2, -1) * 2", "image.reshape(8, -1) * 2", "image.flatten(1) * 2",
    # Types that meet: the result's is what PyTorch says it is.
    "x * f", "(x.float() + f).type_as(x) * x", "torch.softmax(x, 1, dtype=torch.float32)", "x.half().bfloat16() * x", "x * f.sum()",
]
MODULES = [
    ("self.one(a)", "self.one = nn.Linear(256, 37)", {"a": "torch.rand(rows, 256) - 0.5"}), ("self.one(line)", "self.one = nn.Conv1d(4, 6, 3)", {}),
    ("self.one(image)", "self.one = nn.Conv2d(4, 6, 3, stride=2, padding=1)", {}), ("self.one(image)", "self.one = nn.Conv2d(4, 6, 1)", {}),
    ("self.one(image)", "self.one = nn.Conv2d(4, 4, 3, groups=4)", {}), ("self.one(volume)", "self.one = nn.Conv3d(4, 6, 3)", {}),
    ("self.one(line)", "self.one = nn.ConvTranspose1d(4, 6, 3)", {}), ("self.one(image)", "self.one = nn.ConvTranspose2d(4, 6, 3, stride=2)", {}),
    ("self.one(volume)", "self.one = nn.ConvTranspose3d(4, 6, 3)", {}), ("self.one(image)", "self.one = nn.BatchNorm2d(4)", {}),
    ("self.one(image)", "self.one = nn.InstanceNorm2d(4, affine=True)", {}), ("self.one(image)", "self.one = nn.GroupNorm(2, 4)", {}),
    ("self.one(x)", "self.one = nn.LayerNorm(columns)", {}), ("self.one(x)", "self.one = nn.RMSNorm(columns)", {}),
]


def source_of(forward, init, inputs):
    names = [name for name in {**INPUTS, **inputs} if name in compile(forward, "", "eval").co_names]
    return HEAD.format(init=init, forward=forward, names=", ".join(names), inputs=", ".join({**INPUTS, **inputs}[name] for name in names))


SAMPLES = [(forward, source_of(forward, "pass", {})) for forward in FORWARDS] + \
          [(f"{init[11:]} of {forward[9:-1]}", source_of(forward, init, inputs)) for forward, init, inputs in MODULES]


@unittest.skipIf(LACKING, LACKING)
class Operators(unittest.TestCase):
    def test_every_one_computes_what_pytorch_does(self):
        seen = set()
        for number, (name, source) in enumerate(SAMPLES):
            for type_name in FLOATING if ALL_TYPES else HALVES[number % 2:][:1]:
                with self.subTest(name, type=type_name), tempfile.TemporaryDirectory() as folder:
                    seen |= self.compare(source, type_name, pathlib.Path(folder))
        self.assertEqual(set().union(OPERATORS, UNARY, BINARY, LOSSES, VIEWS) - seen, set(), "operators without a sample")

    def compare(self, source, type_name, folder):
        """In this process: another for each would start PyTorch hundreds of times."""
        request = {"folder": folder, "seeds": [1], "mode": "eval", "dtype": type_name}
        made = [trace_child._variant({"name": name, "source": text, "cut": None, "cut_kind": ""}, request)
                for name, text in (("full", source), ("small", variants.replaced(source, SMALL)))]
        if "not implemented for" in made[1].get("trouble", ""):  # by PyTorch, on a processor: avg_pool3d in half precision
            made = made[:1]
        for one in made:
            self.assertNotIn("trouble", one)
        found, kept = problem.lowered(made, "made by a test")
        (folder / "kernel.cu").write_text(found.source)
        (folder / "kernel.regraph.yaml").write_text(found.manifest)
        agreement = tools.compare_with_pytorch(tools.Programs(str(PROGRAMS / "regraph-run"), "", ""), folder / "kernel.cu", found.output,
                                               problem.cases_of(folder, kept, found.sizes, 1), 120)
        self.assertEqual(agreement.trouble, "", found.source)
        self.assertGreaterEqual(agreement.cases, len(made) - 1)
        return {node["op"].removeprefix("aten.").split(".")[0].removesuffix("_") for node in made[0]["nodes"]}


if __name__ == "__main__":
    unittest.main()
