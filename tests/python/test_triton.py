"""What reads and changes Triton kernels runs none of them: these tests need no Triton."""
import ast
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python" / "regraph_triton"))

import compile_kernel  # noqa: E402
import cut_out  # noqa: E402
import module_rules  # noqa: E402
import rewrite  # noqa: E402

FILE = '''
import os
import torch
import triton
import triton.language as tl

WIDTH = 32
UNUSED = 7

@triton.jit
def twice(x):
    return x * 2

@triton.autotune(configs=[triton.Config({"BLOCK": 512}, num_warps=8)], key=["n"])
@triton.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    place = x_ptr + at
    x = tl.load(place, mask=at < n)
    tl.store(y_ptr + at, twice(x) + WIDTH, mask=at < n)

def run(x, y):
    grid = lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]), 2)
    scale[grid](x, y, x.numel())
'''

PRODUCT = '''import triton
import triton.language as tl


@triton.jit
def product(a_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.program_id(0)
    j = tl.program_id(1)
    lane = tl.arange(0, BK)
    total = 0.0
    for k in range(0, K, BK):
        total += tl.sum(tl.load(a_ptr + i + j + k + lane, mask=(k + lane < K) & (i < M), other=0.0))
    tl.store(a_ptr, total)
'''


def function_of(module, name="product"):
    """The kernel of a module's text."""
    return rewrite.kernel_of(ast.parse(module), name)


def changed(module, step, parameters=None, grid=("cdiv(M, BM)", "cdiv(N, BN)", "1")):
    """The module after a step."""
    return rewrite.apply({"module": module, "kernel": "product", "grid": list(grid), "step": step,
                          "parameters": parameters or {}})["module"]


class CutOut(unittest.TestCase):
    def test_takes_what_the_kernel_mentions(self):
        cut = cut_out.cut_out(FILE, "")
        self.assertEqual(cut["kernel"], "scale")
        for part in ("def twice", "WIDTH = 32", "def scale"):
            self.assertIn(part, cut["module"])
        for part in ("torch", "import os", "UNUSED", "autotune", "lambda"):
            self.assertNotIn(part, cut["module"])

    def test_sees_parameters_through_variables(self):
        seen = {one["name"]: one for one in cut_out.cut_out(FILE, "scale")["parameters"]}
        self.assertTrue(seen["x_ptr"]["loaded"] and not seen["x_ptr"]["stored"])
        self.assertTrue(seen["y_ptr"]["stored"] and not seen["y_ptr"]["loaded"])
        self.assertTrue(seen["BLOCK"]["constant"])
        self.assertFalse(seen["n"]["pointer"])

    def test_reads_configurations_and_grids(self):
        cut = cut_out.cut_out(FILE, "scale")
        self.assertEqual(cut["configs"][0]["constants"], {"BLOCK": 512})
        self.assertEqual(cut["configs"][0]["num_warps"], 8)
        self.assertEqual(cut["launch"]["grid"], ["cdiv(n, BLOCK)", "2"])
        host = FILE.replace("(triton.cdiv(x.numel()", "(triton.cdiv(measure(x)")
        self.assertEqual(cut_out.cut_out(host, "scale")["launch"]["grid"], [])

    def test_kernels_and_imports_stand_anywhere_at_the_top(self):
        text = ("import torch, triton, triton.language as tl\ntry:\n    import other\n    HAS = True\nexcept ImportError:\n"
                "    HAS = False\nif HAS:\n    FACTOR = 3\n\n    @triton.jit\n    def k(x, n, B: tl.constexpr):\n"
                "        at = tl.program_id(0) * B + tl.arange(0, B)\n"
                "        tl.store(x + at, FACTOR * tl.load(x + at, mask=at < n), mask=at < n)\n\n"
                "    def run(x):\n        k[(triton.cdiv(x.numel(), 64),)](x, x.numel(), 64)\n")
        cut = cut_out.cut_out(text, "")
        self.assertIn("import triton.language as tl\n", cut["module"])
        self.assertIn("\nFACTOR = 3\n", cut["module"])
        self.assertIn("@triton.jit\ndef k(", cut["module"])
        self.assertNotIn("torch", cut["module"])
        self.assertEqual(cut["launch"]["grid"], ["cdiv(n, B)"])

    def test_imports_for_other_versions_are_left_out(self):
        text = ("import triton\nimport triton.language as tl\ntry:\n    from triton.language.math import tanh\nexcept ImportError:\n"
                "    pass\nif NEW:\n    from triton.language.extra.libdevice import tanh\n"
                "@triton.jit\ndef k(x):\n    tl.store(x, tanh(tl.load(x)))\n")
        module = cut_out.cut_out(text, "")["module"]
        self.assertIn("from triton.language.extra.libdevice import tanh", module)
        self.assertNotIn("language.math", module)

    def test_says_which_kernels_there_are(self):
        with self.assertRaisesRegex(cut_out.Unusable, "twice, scale"):
            cut_out.cut_out(FILE, "other")
        with self.assertRaisesRegex(cut_out.Unusable, "no function"):
            cut_out.cut_out("x = 1\n", "")


class ModuleRules(unittest.TestCase):
    """Nothing of a module may run on the host."""
    HOSTILE = (
        "import os",
        "from subprocess import run",
        "x = open('/etc/passwd').read()",
        "x = [].__class__",
        "x = 9 ** 9 ** 9 ** 9",
        "x = 'a' * 10 ** 10",
        "print('hello')",
        "def f():\n    pass",
        "class C:\n    pass",
        "@other\n@triton.jit\ndef f():\n    pass",
        "@triton.jit\ndef f(x=open('a')):\n    pass",
        "@triton.jit\ndef f(x: open('a')):\n    pass",
        "@triton.jit\ndef f():\n    __import__('os')",
        "@triton.jit\ndef f():\n    x = (1).__class__",
        "@triton.jit\ndef f():\n    eval('1')",
        "@triton.jit\ndef f():\n    import os",
        "@triton.jit(noinline=exit())\ndef f():\n    pass",
        "@triton.jit\ndef f(*x):\n    pass",
        "if True:\n    x = 1",
        "for i in range(3):\n    pass",
    )

    def test_what_runs_on_the_host_is_refused(self):
        for text in self.HOSTILE:
            with self.subTest(text), self.assertRaises(module_rules.NotAllowed):
                module_rules.check_module("import triton\n" + text + "\n")

    def test_kernels_and_constants_are_let_through(self):
        module_rules.check_module("import triton\nimport triton.language as tl\n'text'\nN = 4 * 8\nM = 2 ** 20 - N\nT = tl.float16\n"
                                  "W: tl.constexpr = tl.constexpr(3)\n@triton.jit\ndef f(x, n: tl.constexpr = 4):\n"
                                  "    tl.store(x, n)\n")


class Rewrite(unittest.TestCase):
    def test_masks_leave_whole_turns_alone(self):
        text = changed(PRODUCT, "unmask")
        self.assertIn("for k in range(0, K // BK * BK, BK):", text)
        self.assertIn("for k in range(K // BK * BK, K, BK):", text)
        self.assertIn("mask=i < M, other=0.0", text)
        with self.assertRaises(rewrite.Refused):
            changed(text, "unmask")

    def test_only_masks_that_hold_are_taken(self):
        for before, after in (("k + lane < K", "k + lane < K - 1"), ("k + lane < K", "k + 2 * lane < K"),
                              ("tl.arange(0, BK)", "tl.arange(0, BM)"), ("range(0, K, BK)", "range(1, K, BK)"),
                              ("k + lane < K", "k + lane <= K"), ("    total = 0.0", "    lane += 1\n    total = 0.0"),
                              ("        total +=", "        k += 1\n        total +="),
                              ("        total +=", "        K = K - 1\n        total +=")):
            text = PRODUCT.replace(before, after, 1)
            self.assertNotEqual(text, PRODUCT)
            with self.subTest(after), self.assertRaises(rewrite.Refused):
                changed(text, "unmask")

    def test_program_numbers_are_grouped_once(self):
        text = changed(PRODUCT, "grouped_order", {"group": "8"})
        self.assertIn("i, j = tl.swizzle2d(i, j, tl.num_programs(0), tl.num_programs(1), 8)", text)
        with self.assertRaises(rewrite.Refused):
            changed(text, "grouped_order", {"group": "8"})
        with self.assertRaises(rewrite.Refused):
            changed(PRODUCT, "grouped_order", {"group": "8; x"})
        used = PRODUCT.replace("    j =", "    x = i + 1\n    j =")
        with self.assertRaises(rewrite.Refused):
            changed(used, "grouped_order", {"group": "8"})

    def test_swizzled_numbers_are_each_taken_once(self):
        """tl.swizzle2d as Triton defines it, in plain numbers."""
        def swizzle(i, j, rows, columns, group):
            ij = i * columns + j
            size = group * columns
            first = ij // size * group
            height = min(rows - first, group)
            ij %= size
            return first + ij % height, ij // height
        for rows, columns, group in ((5, 3, 4), (8, 8, 8), (1, 7, 16), (9, 2, 4)):
            seen = {swizzle(i, j, rows, columns, group) for i in range(rows) for j in range(columns)}
            self.assertEqual(seen, {(i, j) for i in range(rows) for j in range(columns)})

    def test_loops_are_unrolled_once(self):
        text = changed(PRODUCT, "unroll", {"factor": "2"})
        self.assertIn("tl.range(0, K, BK, loop_unroll_factor=2)", text)
        with self.assertRaises(rewrite.Refused):
            changed(text, "unroll", {"factor": "4"})

    def test_proposals_are_those_that_apply(self):
        grid = ["cdiv(M, BM)", "cdiv(N, BN)", "1"]
        offered = rewrite.proposals(PRODUCT, "product", grid)
        self.assertEqual({one["step"] for one in offered}, {"unmask", "grouped_order", "unroll"})
        for one in offered:
            self.assertNotEqual(changed(PRODUCT, one["step"], one["parameters"]), PRODUCT)
        flat = rewrite.proposals(PRODUCT, "product", ["M", "1", "1"])
        self.assertNotIn("grouped_order", {one["step"] for one in flat})


class Ptx(unittest.TestCase):
    PTX = ("//\n.version 8.4\n.visible .entry f(\n\t.param .u64 f_param_0,\n\t.param .u64 f_param_1,\n"
           "\t.param .u64 f_param_2\n)\n.reqntid 128\n{\n\t.loc 1 2 3 // a.py\n\tld.param.b64 %rd1, [f_param_0];\n"
           "\tret;\n}\n\t.section .debug_str\n{\n.b8 1\n}\n")

    def test_debug_lines_and_hidden_parameters_go(self):
        text = compile_kernel.without_hidden_parameters(compile_kernel.plain(self.PTX), 1)
        self.assertNotIn(".loc", text)
        self.assertNotIn("debug", text)
        self.assertIn(".param .u64 f_param_0\n)", text)
        self.assertNotIn("f_param_1", text)

    def test_scratch_that_is_used_is_refused(self):
        used = self.PTX.replace("\tret;", "\tld.param.b64 %rd2, [f_param_1];\n\tret;")
        with self.assertRaises(compile_kernel.Refused):
            compile_kernel.without_hidden_parameters(compile_kernel.plain(used), 1)
        with self.assertRaises(compile_kernel.Refused):
            compile_kernel.without_hidden_parameters(compile_kernel.plain(self.PTX), 2)


if __name__ == "__main__":
    unittest.main()
