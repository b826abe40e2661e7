"""What the host code of a Triton module says of a launch is read, and nothing of it is run: these tests need neither Triton
nor PyTorch."""
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python" / "regraph_triton"))

import cut_out  # noqa: E402
import host_values as values  # noqa: E402

MODULES = ROOT / "tests" / "triton" / "modules"

KERNEL = '''
import math
import torch
import triton
import triton.language as tl

@triton.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, 2 * tl.load(x_ptr + at, mask=at < n), mask=at < n)

'''


def launch_of(host, given=None, kernel=KERNEL, name=""):
    """What is read of a launcher's text, or of a module of tests/triton/modules."""
    text = (MODULES / host).read_text() if host.endswith(".py") else kernel + host
    return cut_out.cut_out(text, name, given)["launch"]


def scaled(body, given=None):
    """The same of the body of a launcher of KERNEL."""
    lines = "\n".join("    " + line for line in body.splitlines())
    return launch_of(f"def scaled(x):\n    y = torch.empty_like(x)\n    n = x.numel()\n{lines}\n    return y\n", given)


class Grids(unittest.TestCase):
    FORMS = (
        'grid = lambda meta: (triton.cdiv(n, meta["BLOCK"]),)\nscale[grid](x, y, n, BLOCK=512)',
        'grid = lambda meta: ((n + meta["BLOCK"] - 1) // meta["BLOCK"],)\nscale[grid](x, y, n, BLOCK=512)',
        "BLOCK = 512\nscale[((n + BLOCK - 1) // BLOCK,)](x, y, n, BLOCK=BLOCK)",
        "BLOCK = 512\nscale[(triton.cdiv(n, BLOCK), 1, 1)](x, y, n, BLOCK)",
        "block_size = 512\nscale[[math.ceil(n / block_size)]](x, y, n, BLOCK=block_size)",
        "SIZE = 256 * 2\nblocks = -(-n // SIZE)\nscale[blocks, 1](x, y, n, BLOCK=SIZE)",
        "meta = dict(BLOCK=512)\nscale[(triton.cdiv(n, meta['BLOCK']),)](x, y, n, **meta)",
        "scale[(triton.cdiv(n, 512),)](x, y, n, BLOCK=512)",
        "def blocks(meta):\n    return (triton.cdiv(n, meta['BLOCK']),)\nscale[blocks](x, y, n, BLOCK=512)",
        "b = 512\nwhile b > n:\n    b //= 2\nscale[(triton.cdiv(n, b),)](x, y, n, BLOCK=b)",
        "scale.run(x, y, n, BLOCK=512, grid=(triton.cdiv(n, 512),))",
        "chosen = scale\nchosen[(triton.cdiv(n, 512),)](x, y, n, BLOCK=512)",
        "torch.library.wrap_triton(scale)[(triton.cdiv(n, 512),)](x, y, n, 512)",
        "with torch.cuda.device(x.device):\n    scale[(triton.cdiv(n, 512),)](x, y, n=n, BLOCK=512)",
    )

    def test_all_forms_of_one_grid_are_one(self):
        for body in self.FORMS:
            with self.subTest(body):
                launch = scaled(body)
                self.assertEqual(launch["problems"], {})
                self.assertEqual(launch["grid"][0], "cdiv(n, BLOCK)")
                self.assertEqual(launch["constants"], {"BLOCK": 512})
                self.assertEqual(launch["manifest"]["sizes"], {"n": 1 << 26})

    def test_what_cannot_be_read_is_said_with_its_line(self):
        launch = scaled("grid = blocks_of(x)\nscale[grid](x, y, n, BLOCK=pick(n))")
        self.assertEqual(launch["problems"], {"BLOCK": "line 16: 'pick(n)' cannot be read",
                                              "grid": "line 15: 'blocks_of(x)' cannot be read"})
        argument = launch_of("def scaled(x, y, n, block):\n    scale[(1,)](x, y, n, BLOCK=block)\n")
        self.assertIn("the argument 'block', which nothing gives a value", argument["problems"]["BLOCK"])

    def test_constants_that_the_user_says_are_used(self):
        launch = scaled("grid = lambda m: (triton.cdiv(n, m['BLOCK']),)\nscale[grid](x, y, n, BLOCK=pick(n))",
                        {"constants": {"BLOCK": 64}})
        self.assertEqual((launch["problems"], launch["constants"]), ({}, {"BLOCK": 64}))
        self.assertEqual(launch["grid"], ["cdiv(n, BLOCK)"])

    def test_types_are_constants_too(self):
        kernel = KERNEL.replace("BLOCK: tl.constexpr", "BLOCK: tl.constexpr, OUT: tl.constexpr")
        for said in ("tl.float16", "torch.float16", "x.half().dtype"):
            launch = launch_of(f"def run(x, y):\n    scale[(1,)](x, y, x.numel(), 64, OUT={said})\n", kernel=kernel)
            self.assertEqual(launch["constants"], {"BLOCK": 64, "OUT": "tl.float16"})

    def test_sizes_that_the_user_says_decide(self):
        body = ("BLOCK = min(1024, triton.next_power_of_2(n))\nwarps = 8 if BLOCK > 512 else 4\n"
                "scale[(triton.cdiv(n, BLOCK),)](x, y, n, BLOCK=BLOCK, num_warps=warps)")
        small, large = scaled(body, {"sizes": {"n": 300}}), scaled(body)
        self.assertEqual((small["constants"]["BLOCK"], small["options"]), (512, {"num_warps": 4}))
        self.assertEqual((large["constants"]["BLOCK"], large["options"]), (1024, {"num_warps": 8}))
        named = scaled("scale[(triton.cdiv(n, 64),)](x, y, n, 64)", {"shapes": {"x_ptr": ["count"]}})
        self.assertEqual(named["manifest"]["args"]["n"], {"value": "count"})


class Ways(unittest.TestCase):
    """By which the launch is reached."""

    def test_the_branch_with_the_launch_is_taken(self):
        launch = launch_of("def run(x, y):\n    n = x.numel()\n    if n > 100:\n        return other(x)\n"
                           "    if x.shape[0] != 3:\n        y = x\n    else:\n"
                           "        scale[(triton.cdiv(n, 64),)](x, y, n, 64)\n    return y\n")
        self.assertEqual((launch["problems"], launch["constants"]), ({}, {"BLOCK": 64}))

    def test_callers_say_what_a_launcher_is_passed(self):
        launch = launch_of("MODES = {'slow': tl.constexpr(64), 'fast': tl.constexpr(512)}\n"
                           "def launcher(x, mode):\n    y = torch.empty_like(x)\n    block = MODES[mode]\n"
                           "    scale[(triton.cdiv(x.numel(), block),)](x, y, x.numel(), block)\n"
                           "class Scaled(torch.autograd.Function):\n    @staticmethod\n"
                           "    def forward(ctx, x, mode='fast'):\n        return launcher(x, mode)\n")
        self.assertEqual((launch["problems"], launch["constants"]), ({}, {"BLOCK": 512}))

    def test_modules_beside_the_file_are_read(self):
        with tempfile.TemporaryDirectory() as folder:
            ops = pathlib.Path(folder) / "package" / "ops"
            ops.mkdir(parents=True)
            (ops / "settings.py").write_text("import triton\nfrom .kernel import scale\ndef settings(n):\n"
                                             "    return min(256, triton.next_power_of_2(n)), 8\n")
            for imported in ("from package.ops.settings import settings", "from .settings import settings"):
                text = KERNEL + imported + "\ndef run(x, y):\n    n = x.numel()\n    block, warps = settings(n)\n" \
                    "    scale[(triton.cdiv(n, block),)](x, y, n, block, num_warps=warps)\n"
                launch = cut_out.cut_out(text, "", {"file": str(ops / "kernel.py")})["launch"]
                self.assertEqual((launch["constants"], launch["options"]), ({"BLOCK": 256}, {"num_warps": 8}))
                alone = cut_out.cut_out(text, "")["launch"]
                self.assertIn("cannot be read", alone["problems"]["BLOCK"])


class Modules(unittest.TestCase):
    """Modules as papers and repositories print them; nothing is said beside them."""
    EXPECTED = {
        # grid, constants, shapes
        "vector_add.py": (["cdiv(n_elements, BLOCK_SIZE)"], {"BLOCK_SIZE": 1024},
                          {"x_ptr": ["n_elements"], "y_ptr": ["n_elements"]}),
        "row_softmax.py": (["height"], {"BLOCK": 4096}, {"src": ["height", "width"], "dst": ["height", "width"]}),
        "resident_softmax.py": (["min(1056, height)", "1", "1"], {"BLOCK": 4096}, {"src": ["height", "width"]}),
        "grouped_product.py": (["cdiv(rows, TM) * cdiv(columns, TN)"], {"TM": 64, "ACT": "squared", "left_depth": 1},
                               {"left": ["rows", "depth"], "right": ["depth", "columns"], "result": ["rows", "columns"]}),
        "seeded_dropout.py": (["cdiv(count, BLOCK)"], {"BLOCK": 1024}, {"kept_ptr": ["count"]}),
        "layer_norm_function.py": (["height"], {"BLOCK": 4096}, {"X": ["height", "width"], "W": ["width"], "Mean": ["height"]}),
        "flash_attention.py": (["cdiv(length, QUERIES)", "batch * heads", "1"], {"WIDTH": 64, "CAUSAL": False, "k_lane": 1},
                               {"K": ["batch", "heads", "length", "64"]}),
        "transposed.py": (["cdiv(M, BM)", "cdiv(N, BN)"], {"BM": 32, "s1": 1}, {"inp": ["M", "N"], "out": ["N", "M"]}),
        "saxpy_in_place.py": (["cdiv(n, BLOCK)"], {"BLOCK": 2048}, {"X": ["n"], "Y": ["n"]}),
        "batched_product.py": (["cdiv(M, BM)", "cdiv(N, BN)", "B"], {"BK": 32}, {"b": ["B", "K", "N"]}),
        "depthwise.py": (None, {"K": 3, "PAD": 1, "HAS_BIAS": False, "b_ptr": None}, {"w_ptr": ["C", "1", "3", "3"]}),
        "cross_entropy.py": (["n_rows"], {"BLOCK": 4096}, {"logits_ptr": ["n_rows", "n_cols"]}),
        "embedding.py": (["n"], {"BLOCK": 256}, {"table_ptr": ["V", "D"], "idx_ptr": ["n"]}),
        "rms_norm.py": (["rows"], {"EVEN": True, "BLOCK": 4096}, {"x_ptr": ["rows", "4096"], "w_ptr": ["4096"]}),
        "partial_sums.py": (["cdiv(n, BLOCK_SIZE)"], {"BLOCK_SIZE": 512}, {"out": ["cdiv(n, 512)"]}),
        "rotary.py": (["seq_len", "n_heads", "batch"], {"head_dim": 64, "BLOCK": 32},
                      {"cos_ptr": ["seq_len", "32"], "sin_ptr": ["seq_len", "32"]}),
        "quantised_rows.py": (["T"], {"BLOCK": 4096}, {"q_ptr": ["T", "K"], "s_ptr": ["T", "1"]}),
        "bias_activation.py": (["cdiv(rows * cols, BLOCK)", "1", "1"], {"ACT": "leaky", "b_ptr": None}, {"x_ptr": ["rows", "cols"]}),
        "persistent_relu.py": (["min(NUM_SMS, cdiv(n, BLOCK))"], {"NUM_SMS": 132}, {"x_ptr": ["n"]}),
        "linear_gelu.py": (["cdiv(M, BM)", "cdiv(N, BN)"], {"BM": 64}, {"w_ptr": ["N", "K"], "b_ptr": ["N"]}),
    }

    def test_launches_are_read(self):
        self.assertEqual(set(self.EXPECTED), {path.name for path in MODULES.glob("*.py")})
        for name, (grid, constants, shapes) in self.EXPECTED.items():
            with self.subTest(name):
                launch = launch_of(name)
                self.assertEqual(launch["problems"], {})
                if grid is not None:
                    self.assertEqual(launch["grid"], grid)
                for constant, value in constants.items():
                    self.assertEqual(launch["constants"][constant], value)
                for pointer, shape in shapes.items():
                    self.assertEqual(launch["manifest"]["args"][pointer]["shape"], shape)

    def test_types_are_those_of_the_modules_own_calls_and_words(self):
        for name, pointer, dtype in (("grouped_product.py", "right", "*fp16"), ("flash_attention.py", "Out", "*fp16"),
                                     ("rms_norm.py", "w_ptr", "*bf16"), ("quantised_rows.py", "x_ptr", "*bf16"),
                                     ("quantised_rows.py", "q_ptr", "*i8"), ("saxpy_in_place.py", "Y", "*fp16"),
                                     ("cross_entropy.py", "labels_ptr", "*i64"), ("layer_norm_function.py", "Mean", "*fp32"),
                                     ("layer_norm_function.py", "eps", "fp32")):
            with self.subTest(name):
                self.assertEqual(launch_of(name)["types"][pointer], dtype)

    def test_numbers_are_those_of_the_modules_own_calls(self):
        self.assertEqual(launch_of("depthwise.py")["manifest"]["sizes"], {"N": 16, "C": 32, "H": 128, "W": 256})
        self.assertEqual(launch_of("layer_norm_function.py")["manifest"]["sizes"], {"height": 8192, "width": 4096})
        # Twelve elements are a test of it, and no size to measure at.
        dropout = launch_of("seeded_dropout.py")["manifest"]
        self.assertEqual(dropout["sizes"], {"count": 1 << 26})
        self.assertEqual((dropout["args"]["p"], dropout["args"]["seed"]), ({"value": "0.25"}, {"value": "7"}))

    def test_buffers_begin_as_the_launcher_makes_them(self):
        self.assertEqual(launch_of("partial_sums.py")["manifest"]["args"]["out"]["init"], "zeros")
        self.assertEqual(launch_of("vector_add.py")["manifest"]["args"]["out_ptr"]["dir"], "out")
        self.assertEqual(launch_of("embedding.py")["manifest"]["args"]["idx_ptr"]["init"], "int(0, V - 1)")
        self.assertEqual(launch_of("cross_entropy.py")["manifest"]["args"]["labels_ptr"]["init"], "int(0, n_cols - 1)")

    def test_arguments_that_are_viewed_as_rows_have_as_many_as_others(self):
        kernel = KERNEL.replace("x_ptr, y_ptr, n,", "x_ptr, y_ptr, n, m,").replace("at, mask=at < n", "at * 2, mask=at < n", 1)
        launch = launch_of("def run(x, r):\n    m = x.shape[-1]\n    x = x.view(-1, m)\n    r = r.view(-1, m)\n"
                           "    scale[(x.shape[0],)](x, r, x.shape[0], m, BLOCK=64)\n", kernel=kernel)
        self.assertEqual(launch["manifest"]["args"]["y_ptr"]["shape"], ["n", "m"])

    def test_rows_stay_a_size_where_their_length_is_a_constant(self):
        kernel = KERNEL.replace("n, BLOCK: tl.constexpr", "rows, n: tl.constexpr, BLOCK: tl.constexpr")
        launch = launch_of("def run(x):\n    n = x.shape[-1]\n    flat = x.view(-1, n)\n    y = torch.empty_like(flat)\n"
                           "    scale[(flat.shape[0],)](flat, y, flat.shape[0], n=n, BLOCK=64)\n", kernel=kernel)
        self.assertEqual((launch["grid"], launch["constants"]["n"]), (["rows"], 4096))
        self.assertEqual(launch["manifest"]["args"]["y_ptr"]["shape"], ["rows", "4096"])

    def test_strides_follow_the_shapes(self):
        arguments = launch_of("flash_attention.py")["manifest"]["args"]
        self.assertEqual(arguments["v_batch"], {"value": "64 * heads * length"})
        self.assertEqual(launch_of("transposed.py")["manifest"]["args"]["t0"], {"value": "M"})
        turned = launch_of("def run(a):\n    y = torch.empty(a.shape[1], a.shape[0])\n"
                           "    rows, columns = a.t().shape\n"
                           "    pitch[(rows,)](a.t(), y, a.t().stride(0), a.t().stride(1), rows, columns)\n",
                           kernel=KERNEL.replace("def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr)", "def pitch(x_ptr, y_ptr, s, t, n, m)")
                           .replace("BLOCK", "16"))
        self.assertEqual(turned["constants"], {"s": 1})
        self.assertEqual(turned["manifest"]["args"]["x_ptr"]["shape"], ["m", "n"])
        self.assertEqual(turned["manifest"]["args"]["t"], {"value": "n"})

    def test_sizes_that_nothing_says_are_enough_work(self):
        sizes = {name: launch_of(name)["manifest"]["sizes"] for name in ("row_softmax.py", "flash_attention.py", "rotary.py")}
        self.assertEqual(sizes["row_softmax.py"], {"height": 16384, "width": 4096})
        self.assertEqual(sizes["flash_attention.py"], {"batch": 8, "heads": 16, "length": 1024})
        self.assertEqual(sizes["rotary.py"], {"batch": 32, "seq_len": 1024, "n_heads": 16})
        pairs = KERNEL.replace("    tl.store(", "    for i in range(0, n, 1):\n        at += i\n    tl.store(")
        all_pairs = launch_of("def run(x):\n    n = x.numel()\n    scale[(triton.cdiv(n, 64),)](x, x, n, 64)\n", kernel=pairs)
        self.assertEqual(all_pairs["manifest"]["sizes"], {"n": 1 << 15})

    def test_buffers_that_are_touched_at_the_same_places_are_as_long(self):
        host = "def run(x):\n    n = x.numel()\n    scale[(triton.cdiv(n, 64),)](x, made(x), n, 64)\n"
        self.assertEqual(launch_of(host)["manifest"]["args"]["y_ptr"]["shape"], ["n"])
        for before, after in (("y_ptr + at", "y_ptr + 2 * at"), ("    tl.store(", "    y_ptr += 1\n    tl.store(")):
            other = launch_of(host, kernel=KERNEL.replace(before, after))
            self.assertNotIn("shape", other["manifest"]["args"].get("y_ptr", {}))
        moved = KERNEL.replace("    tl.store(", "    x_ptr += n\n    y_ptr += n\n    tl.store(")
        self.assertEqual(launch_of(host, kernel=moved)["manifest"]["args"]["y_ptr"]["shape"], ["n"])

    def test_what_the_launch_asks_of_the_device_is_said(self):
        notes = " ".join(launch_of("resident_softmax.py")["notes"])
        self.assertIn("assumed are", notes)
        self.assertIn("multiprocessor_count = 132", notes)

    def test_choices_are_computed(self):
        choices = cut_out.cut_out((MODULES / "grouped_product.py").read_text(), "")["configs"]
        self.assertEqual([(one["constants"]["TM"], one["num_stages"]) for one in choices], [(64, 3), (64, 4), (128, 3), (128, 4)])

    def test_descriptors_are_refused_with_the_reason(self):
        text = KERNEL.replace("tl.load(x_ptr + at, mask=at < n)", "x_ptr.load([0])")
        with self.assertRaisesRegex(cut_out.Unusable, "line 10: 'x_ptr' of 'scale' is a tensor descriptor"):
            cut_out.cut_out(text, "")

    def test_buffers_of_addresses_are_refused_with_the_reason(self):
        text = KERNEL.replace("tl.load(x_ptr + at, mask=at < n)",
                              "tl.load(tl.load(x_ptr).to(tl.pointer_type(tl.float32)) + at, mask=at < n)")
        with self.assertRaisesRegex(cut_out.Unusable, "line 10.*loads addresses from memory"):
            cut_out.cut_out(text, "")


class Hostile(unittest.TestCase):
    """Reading ends, whatever the host code does."""
    BODIES = (
        "a = 3\nfor i in range(1000):\n    a = a * a", "a = 9 ** 9 ** 9 ** 9", "a = 1 << 10 ** 10", "a = n // 0",
        "a = n\nfor i in range(64):\n    a = a // 3 + a // 5", "a = n\nfor i in range(64):\n    a = a * (n + i)",
        "a = 'x'\nwhile True:\n    a = a + a", "a = [1]\nwhile True:\n    a = a * 99", "a = scaled(x)", "a = x.shape[n]",
        "a = x.permute(7, 7).transpose(9, -9).shape[-5]", "a = x.view(0, -1).t().T[0].shape", "a = [b for b in a for a in b]",
        "for i in range(64):\n    for j in range(64):\n        for k in range(64):\n            a = k", "a, *b, c = x.shape, *n",
        "class A:\n    def f(self):\n        return self.f()\na = A().f()", "a = (lambda f: f(f))(lambda f: f(f))",
    )

    def test_reading_ends(self):
        for body in self.BODIES:
            with self.subTest(body):
                launch = scaled(body + "\nscale[(a,)](x, y, n, BLOCK=64)")
                self.assertLess(len(str(launch)), 10_000)


class Sizes(unittest.TestCase):
    n, m = values.Size.symbol("n", 1000), values.Size.symbol("m", 30)

    def test_sums_and_products(self):
        total = values.add(values.multiply(self.n, self.m), values.multiply(self.n, 2))
        self.assertEqual((total.text(), total.value), ("m * n + 2 * n", 32000))
        self.assertEqual(values.divide(total, self.n).text(), "m + 2")
        self.assertEqual(values.add(self.n, self.n, -1), 0)

    def test_quotients_that_round_up(self):
        for form in (values.divide(values.add(self.n, 127), 128), values.divide(values.add(values.add(self.n, 128), -1), 128),
                     values.round_up(self.n, 128)):
            self.assertEqual((form.text(), form.value), ("cdiv(n, 128)", 8))
        down = values.divide(values.add(self.n, 126), 128)
        self.assertEqual((down.text(), down.value), ("((n + 126) / 128)", 8))


if __name__ == "__main__":
    unittest.main()
