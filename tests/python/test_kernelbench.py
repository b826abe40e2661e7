"""Problems in KernelBench's form: everything that needs no PyTorch, and what does where it is there."""

import array
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from support import PYTHON, lacking

import regraph_bench
import traces
from lowered import FLOATING, HALVES, content, drawn, lowered
from regraph_torch import answers, child, comparison, npy, problem, sizes, tools, trace_child, variants
from regraph_torch.element_types import TYPES
from regraph_torch.elementwise import BINARY, UNARY
from regraph_torch.errors import BadInput, Lacking, Refused, run_main

NO_TORCH = lacking(("torch",))
PROGRAMS = pathlib.Path(os.environ.get("REGRAPH_PROGRAMS", "/nowhere"))
NO_PROGRAMS = "" if (PROGRAMS / "regraph-run").exists() else "REGRAPH_PROGRAMS does not say where regraph-run is"


def tensor(shape, values, name="float32"):
    return npy.Tensor(name, tuple(shape), array.array(TYPES[name].array, values))


class Files(unittest.TestCase):
    def test_what_is_written_is_read(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "x.npy")
            npy.write(path, "float32", (2, 3), array.array("f", range(6)).tobytes())
            found = npy.read(path)
            self.assertEqual((found.type, found.shape, list(found.values)), ("float32", (2, 3), [0, 1, 2, 3, 4, 5]))
            npy.write(path, "int64", (), array.array("q", [7]).tobytes())
            self.assertEqual(npy.read(path).shape, ())

    def test_half_precision_is_read_as_floats(self):
        values = [0.0, -1.5, 2.0**-7, 1.0 + 2.0**-7, math.inf]
        for type_name, code in (("float16", b"<f2"), ("bfloat16", b"<V2")):
            with self.subTest(type_name), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "x.npy")
                npy.write(path, type_name, (5,), content(type_name, values))
                self.assertIn(code, path.read_bytes())
                found = npy.read(path)
                self.assertEqual((found.type, list(found.values)), (type_name, values))
                path.write_bytes(path.read_bytes().replace(b"<V2", b"|V2"))  # as NumPy leaves it that read it before
                self.assertEqual(npy.read(path).type, type_name)

    def test_damaged_files_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "x.npy")
            npy.write(path, "float32", (4,), b"\0" * 12)
            for content in (b"", b"no file", path.read_bytes(), b"\x93NUMPY\x01\x00\x05\x00{'de'"):
                path.write_bytes(content)
                with self.assertRaises(npy.Damaged):
                    npy.read(path)


class Comparison(unittest.TestCase):
    def test_rounding_is_no_difference_and_zeros_are(self):
        values = [random.Random(1).uniform(-1, 1) for _ in range(100)]
        expected = tensor((100,), values)
        self.assertEqual(comparison.difference(tensor((100,), [one * (1 + 1e-6) for one in values]), expected), "")
        # allclose with an absolute tolerance of 1e-4 takes zeros for softmax's small results.
        small = tensor((100,), [1e-6 * one for one in values])
        self.assertNotEqual(comparison.difference(tensor((100,), [0.0] * 100), small), "")

    def test_a_neighbour_in_half_precision_is_no_difference_and_fewer_digits_are(self):
        values = drawn(random.Random(1), 100)
        for type_name, step in (("float16", 2.0**-10), ("bfloat16", 2.0**-7)):
            near = [one * (1 + step * (k % 3 == 0)) for k, one in enumerate(values)]
            far = [one * (1 + 4 * step * (-1) ** k) for k, one in enumerate(values)]
            expected, near, far = (npy.Tensor(type_name, (100,), array.array("f", one)) for one in (values, near, far))
            self.assertEqual(comparison.difference(near, expected), "")
            self.assertIn("relative error", comparison.difference(far, expected))

    def test_shapes_types_and_what_is_not_finite_count(self):
        self.assertIn("shape", comparison.difference(tensor((2,), [1, 2]), tensor((1, 2), [1, 2])))
        self.assertIn("int64", comparison.difference(tensor((1,), [1], "int64"), tensor((1,), [1])))
        self.assertIn("element 1", comparison.difference(tensor((2,), [1, math.nan]), tensor((2,), [1, 2])))
        self.assertEqual(comparison.difference(tensor((2,), [1, math.nan]), tensor((2,), [1, math.nan])), "")
        self.assertIn("element 0", comparison.difference(tensor((1,), [3], "int64"), tensor((1,), [4], "int64")))


class Sizes(unittest.TestCase):
    def test_texts_are_those_of_the_values(self):
        n = sizes.Size("n", (100, 37))
        for made, text, values in ((sizes.add(n, -3), "n - 3", (97, 34)), (sizes.add(sizes.add(n, -3), 1), "n - 2", (98, 35)),
                                   (sizes.add(sizes.divided(sizes.add(n, -3), 2), 1), "(n - 3) / 2 + 1", (49, 18)),
                                   (sizes.times(n, sizes.number(1, 2)), "n", (100, 37)), (sizes.times(n, n), "n * n", (10000, 1369)),
                                   (sizes.times(sizes.add(n, 1), n), "(n + 1) * n", (10100, 1406))):
            self.assertEqual((made.text, made.values), (text, values))
            self.assertEqual(tuple(problem._evaluated(text, {"n": one}) for one in n.values), values)

    def test_names_are_the_modules_and_never_taken_ones(self):
        table = sizes.SymbolTable([{"int": 64, "x": 65, "rows": 66}, {"int": 7, "x": 8, "rows": 9}], {"x"})
        self.assertEqual([table.size(one).text for one in ((64, 7), (65, 8), (66, 9), (70, 3), (5, 5))], ["int_", "x_", "rows", "d3", "5"])

    def test_sizes_are_halved_down_to_what_was_asked_for(self):
        found = problem.shrunk({"rows": 4096, "columns": 393216}, [["rows", "columns"]], 1 << 24)
        self.assertEqual(found, {"rows": 4096, "columns": 3072})
        self.assertEqual(problem.shrunk({"n": 100}, [["n * n"]], 0), {"n": 100})


class Variants(unittest.TestCase):
    SOURCE = "import os\nN = 2048 * 2\nM: int = 512\nkernel = 3\nhalf = N // 2\na, b = 64, 7\nshape = (4096,)\ntext = 'N = 5'\nflag = True\n"

    def test_constants_are_found(self):
        self.assertEqual(variants.constants_of(self.SOURCE), {"N": 4096, "M": 512, "kernel": 3, "a": 64, "b": 7, "shape0": 4096})

    def test_only_large_constants_are_replaced(self):
        found = {}
        exec(variants.replaced(self.SOURCE, {"N": 37, "a": 29, "shape0": 31}), found)
        self.assertEqual([found[name] for name in ("N", "half", "a", "b", "kernel", "shape", "text")], [37, 18, 29, 7, 3, (31,), "N = 5"])

    def test_the_first_is_the_problem_as_it_is(self):
        found = variants.variants(self.SOURCE)
        self.assertEqual((found[0].name, found[0].source), ("full", self.SOURCE))
        small = {}
        exec(next(one.source for one in found if one.name == "odd"), small)
        self.assertEqual(len({small["N"], small["M"], small["a"], small["shape"][0]}), 4)
        self.assertNotIn("odd", [one.name for one in variants.variants("k = 3\n")])

    def test_a_far_larger_constant_stays_larger(self):
        found = {one.name: {} for one in variants.variants("rows = 64\nlength = 4096\n")}
        for one in variants.variants("rows = 64\nlength = 4096\n"):
            exec(one.source, found[one.name])
        self.assertEqual([(one["rows"], one["length"]) for one in (found["long odd"], found["odd"])], [(37, 29 * 16), (37, 29)])
        self.assertNotIn("long odd", [one.name for one in variants.variants("rows = 512\nlength = 4096\n")])


class Cut:
    """As much of a tensor as is cut."""

    def __init__(self, *shape):
        self.shape = shape

    def __getitem__(self, slices):
        return Cut(*(min(one.stop, extent) for one, extent in zip(slices, self.shape)))

    def clone(self):
        return self


class CutInputs(unittest.TestCase):
    def test_where_outputs_lie_apart_inputs_are_longer(self):
        names = {"get_inputs": lambda: [Cut(64, 3, 224, 100), 7]}
        variant = {"cut": (1, 37), "cut_kind": "outer"}
        self.assertEqual(trace_child.inputs_of(names, variant)[0].shape, (1, 3, 37, 37))
        self.assertEqual(trace_child.inputs_of(names, variant, 4)[0].shape, (1, 3, 148, 100))
        self.assertEqual(trace_child.inputs_of(names, variant, 4)[1], 7)


class Lowering(unittest.TestCase):
    def test_a_product_is_a_loop_in_a_thread_an_element(self):
        for type_name in FLOATING:
            found = lowered(traces.product, {"m": 512, "n": 1024, "k": 256}, {"m": 37, "n": 29, "k": 43}, type_name=type_name)
            one = TYPES[type_name]
            self.assertIn(f"void matmul_kernel(const {one.c_type}* a, const {one.c_type}* b, {one.c_type}* out,", found.source)
            self.assertIn("float sum = 0.0f;", found.source)
            self.assertIn(f"sum += {one.loaded('a[row * k + k2]')} * {one.loaded('b[k2 * n + column]')};", found.source)
            self.assertIn(f"out[row * n + column] = {one.stored('sum')};", found.source)
            self.assertEqual(f"#include <{one.header}>\n" in found.source, type_name in HALVES)
            self.assertIn("a: {dir: in, shape: [m, k]}", found.manifest)
            self.assertIn(f'bytes: "{4 if type_name == "float32" else 2}*(m * k)', found.manifest)
            self.assertIn('launch: {block: [32, 8], grid: ["cdiv(n, bx)", "cdiv(m, by)"]}', found.manifest)
            self.assertIn("tests:\n  - {m: 37, k: 43, n: 29}", found.manifest)
            self.assertEqual(found.sizes[0], {"m": 512, "n": 1024, "k": 256})

    def test_softmax_is_loops_over_a_row(self):
        for type_name in FLOATING:
            found = lowered(traces.softmax, {"rows": 512, "columns": 1024}, {"rows": 37, "columns": 29}, type_name=type_name)
            one = TYPES[type_name]
            self.assertEqual(found.source.count("for ("), 3)
            result = f"expf({one.loaded('x[row * columns + column]')} - largest) / sum"
            self.assertIn(f"out[row * columns + column] = {one.stored(result)};", found.source)

    def test_every_elementwise_operator_is_computed_in_float_and_rounded_once(self):
        for title in (*UNARY, *BINARY):
            def one_of(n, title=title):
                args = {"self": traces.ref("x"), "exponent": 3, "min": -0.5, **({"other": traces.ref("y")} if title in BINARY else {})}
                return traces.trace([traces.user("x", (n,)), traces.user("y", (n,))], [traces.node("result", f"{title}.default", args, (n,))])
            for type_name in HALVES:
                found = lowered(one_of, {"n": 512}, {"n": 37}, type_name=type_name).source
                self.assertEqual(found.count(f"= {TYPES[type_name].narrow}("), 1, found)
                self.assertNotIn("const float*", found)

    def test_between_operators_results_are_rounded(self):
        found = lowered(traces.squared_error_by_hand, {"n": 512}, {"n": 37}, type_name="bfloat16").source
        self.assertIn("sub = __bfloat162float(__float2bfloat16(__bfloat162float(x[i]) - __bfloat162float(y[i])));", found)
        self.assertIn("out[i] = __float2bfloat16(sub * sub);", found)

    def test_types_that_meet_give_what_the_trace_says(self):
        def mixed(n):
            return traces.trace([traces.user("x", (n,), "float16"), traces.user("y", (n,))],
                                [traces.node("mul", "mul.Tensor", {"self": traces.ref("x"), "other": traces.ref("y")}, (n,))])
        found = lowered(mixed, {"n": 512}, {"n": 37}).source
        self.assertIn("(const __half* x, const float* y, float* out, int n)", found)
        self.assertIn("out[i] = __half2float(x[i]) * y[i];", found)

        def converted(n, result="float16"):
            return traces.trace([traces.user("x", (n,)), traces.user("k", (n,), "int64")],
                                [traces.node("to", "to.dtype", {"self": traces.ref("x" if result == "float16" else "k")}, (n,), dtype=result)])
        self.assertIn("out[i] = __float2half(x[i]);", lowered(converted, {"n": 512}, {"n": 37}).source)
        self.assert_refused("a conversion from int64 to bfloat16", lambda n: converted(n, "bfloat16"), {"n": 512}, {"n": 37})

        def doubled(n):
            return traces.trace([traces.user("x", (n,), "float64")], [traces.node("relu", "relu.default", {"self": traces.ref("x")}, (n,), dtype="float64")])
        self.assert_refused("relu of float64", doubled, {"n": 512}, {"n": 37})

    def test_windows_check_bounds_where_there_is_padding(self):
        found = lowered(traces.convolution, {"batch": 64, "side": 224}, {"batch": 19, "side": 21})
        self.assertIn("if (in_h >= 0 && in_h < side && in_w >= 0 && in_w < side) {", found.source)
        self.assertIn('out: {dir: out, shape: [batch, 8, "(side - 1) / 2 + 1", "(side - 1) / 2 + 1"]}', found.manifest)

    def test_channels_of_a_place_in_a_volume_are_side_by_side(self):
        found = lowered(traces.volume_convolution, {"batch": 16, "side": 64}, {"batch": 3, "side": 13})
        for line in ("int n = blockIdx.z / ((side - 2) * 8);", "int d = blockIdx.z / 8 % (side - 2);", "int c = blockIdx.z % 8;"):
            self.assertIn(line, found.source)

    def test_a_window_of_one_place_is_a_product(self):
        found = lowered(traces.one_place_convolution, {"batch": 16, "channels": 64, "height": 512, "width": 256},
                        {"batch": 3, "channels": 19, "height": 21, "width": 23})
        self.assertIn("sum += w[row * channels + k] * x[(n * channels + k) * (height * width) + column];", found.source)
        for line in ("w: {dir: in, shape: [8, channels, 1, 1]}", "x: {dir: in, shape: [batch, channels, height, width]}",
                     "out: {dir: out, shape: [batch, 8, height, width]}"):
            self.assertIn(line, found.manifest)

    def test_a_dimension_of_one_tap_is_merged(self):
        found = lowered(traces.flat_volume_convolution, {"batch": 16, "side": 64}, {"batch": 3, "side": 13})
        self.assertIn("int in_w = w2 - 5 + kw * 5;", found.source)
        self.assertIn("if (in_w >= 0 && in_w < side * 5) {", found.source)
        self.assertIn("x: {dir: in, shape: [batch, 2, side, side, 5]}", found.manifest)

    def test_rows_of_partial_sums_are_numbered_flat(self):
        found = lowered(traces.unit_length, {"batch": 16, "rows": 64, "columns": 128}, {"batch": 3, "rows": 13, "columns": 11})
        self.assertIn("if (row < batch * rows) {", found.source)
        self.assertIn("x_value = x[row * columns + j];", found.source)
        self.assertIn("out[i] = x_value / whole[0];", found.source)

    def test_a_reduction_over_everything_is_several_launches(self):
        found = lowered(traces.squared_error, {"rows": 512, "columns": 1024}, {"rows": 37, "columns": 29})
        self.assertEqual(found.kernels, 2)
        self.assertIn("kernel: mse_loss_kernel\n", found.manifest)
        self.assertIn("partial0: {type: float, shape: [rows]}", found.manifest)

    def test_a_scan_from_the_end_writes_from_the_end(self):
        found = lowered(traces.running_sum, {"rows": 512, "columns": 1024}, {"rows": 37, "columns": 29})
        self.assertIn("running += x[row * columns + (columns - 1 - column)];", found.source)
        self.assertIn("out[row * columns + (columns - 1 - column)] = running;", found.source)

    def test_refusals_say_why(self):
        at = ({"batch": 64, "side": 224}, {"batch": 19, "side": 21})
        self.assert_refused("two operators: conv2d, then max_pool2d", traces.convolution_and_pool, *at)

        def unknown(n):
            return traces.trace([traces.user("x", (n,))], [traces.node("sort", "sort.default", {"self": traces.ref("x")}, (n,)),
                                                          traces.node("fft", "fft_fft.default", {"self": traces.ref("sort")}, (n,))])
        self.assert_refused("not lowered: sort, fft_fft", unknown, {"n": 64}, {"n": 37})

        def integers(n):
            return traces.trace([traces.user("x", (n,), "int64")], [
                traces.node("relu", "relu.default", {"self": traces.ref("x")}, (n,), dtype="int64")])
        self.assert_refused("relu of int64", integers, {"n": 64}, {"n": 37})

        def training(n):
            return traces.trace([traces.user("x", (n,))], [
                traces.node("d", "dropout.default", {"input": traces.ref("x"), "p": 0.5, "train": True}, (n,))])
        self.assert_refused("dropout in training mode", training, {"n": 64}, {"n": 37})

    def assert_refused(self, words, make, *at):
        with self.assertRaises(Refused) as caught:
            lowered(make, *at)
        self.assertIn(words, str(caught.exception))

    def test_what_is_another_computation_at_a_small_size_is_left_out(self):
        full, small = traces.at_sizes(traces.softmax, {"rows": 512, "columns": 1024}, {"rows": 37, "columns": 29})
        other = traces.product(8, 8, 8) | {"constants": {}}
        _, kept = problem.merged([full, other, small])
        self.assertEqual([one["nodes"][0]["op"] for one in kept], ["aten.softmax.int"] * 2)


@unittest.skipIf(NO_PROGRAMS, NO_PROGRAMS)
class LoweredKernels(unittest.TestCase):
    """Kernels made of traces, on the interpreter, against loops in Python."""

    def run_kernel(self, make, full, small, inputs, expected):
        """In each type that computes in float; `inputs` and `expected`: shapes and values of that type, or of another that is said."""
        for type_name in FLOATING:
            with self.subTest(type_name), tempfile.TemporaryDirectory() as name:
                found = lowered(make, full, small, type_name=type_name)
                folder = pathlib.Path(name)
                (folder / "kernel.cu").write_text(found.source)
                (folder / "kernel.regraph.yaml").write_text(found.manifest)
                for one, (shape, values, *other) in {**inputs, "expected": expected}.items():
                    kind = other[0] if other else type_name
                    npy.write(folder / f"{one}.npy", kind, shape, content(kind, values))
                agreement = tools.compare_with_pytorch(tools.Programs(str(PROGRAMS / "regraph-run"), "", ""), folder / "kernel.cu", found.output,
                                                       [(found.sizes[1], [folder])], 120)
                self.assertEqual(agreement.trouble, "", found.source)
                self.assertEqual(agreement.cases, 1)

    def test_product(self):
        draw = random.Random(1)
        a, b = (drawn(draw, count) for count in (5 * 7, 7 * 6))
        made = [sum(a[i * 7 + k] * b[k * 6 + j] for k in range(7)) for i in range(5) for j in range(6)]
        self.run_kernel(traces.product, {"m": 64, "n": 96, "k": 128}, {"m": 5, "n": 6, "k": 7},
                        {"a": ((5, 7), a), "b": ((7, 6), b)}, ((5, 6), made))

    def test_a_window_of_one_place(self):
        draw = random.Random(7)
        x, w, b = (drawn(draw, count) for count in (2 * 3 * 4 * 5, 8 * 3, 8))
        made = [sum(w[c * 3 + k] * x[(n * 3 + k) * 20 + place] for k in range(3)) + b[c] for n in range(2) for c in range(8) for place in range(20)]
        self.run_kernel(traces.one_place_convolution, {"batch": 16, "channels": 64, "height": 512, "width": 256},
                        {"batch": 2, "channels": 3, "height": 4, "width": 5},
                        {"x": ((2, 3, 4, 5), x), "w": ((8, 3, 1, 1), w), "b": ((8,), b)}, ((2, 8, 4, 5), made))

    def test_a_merged_dimension(self):
        draw = random.Random(8)
        x, w = (drawn(draw, count) for count in (2 * 2 * 6 * 6 * 5, 4 * 2 * 3 * 3))

        def at(n, channel, d, h, place):
            return x[(((n * 2 + channel) * 6 + d) * 6 + h) * 5 + place] if 0 <= h < 6 else 0.0
        made = [sum(at(n, channel, d + kd, h + kh - 1, place) * w[((c * 2 + channel) * 3 + kd) * 3 + kh] for channel in range(2) for kd in range(3) for kh in range(3))
                for n in range(2) for c in range(4) for d in range(4) for h in range(6) for place in range(5)]
        self.run_kernel(traces.flat_volume_convolution, {"batch": 16, "side": 64}, {"batch": 2, "side": 6},
                        {"x": ((2, 2, 6, 6, 5), x), "w": ((4, 2, 3, 3, 1), w)}, ((2, 4, 4, 6, 5), made))

    def test_unit_length(self):
        draw = random.Random(9)
        x = drawn(draw, 3 * 4 * 5)
        length = math.sqrt(sum(one * one for one in x))
        self.run_kernel(traces.unit_length, {"batch": 16, "rows": 64, "columns": 128}, {"batch": 3, "rows": 4, "columns": 5},
                        {"x": ((3, 4, 5), x)}, ((3, 4, 5), [one / length for one in x]))

    def test_group_norm(self):
        draw = random.Random(2)
        x, gain = drawn(draw, 2 * 8 * 9), drawn(draw, 8, 64, 192)
        made = []
        for start in range(0, len(x), 18):
            part = x[start:start + 18]
            mean = sum(part) / 18
            scale = 1 / math.sqrt(sum((one - mean) ** 2 for one in part) / 18 + 1e-5)
            made += [(one - mean) * scale * gain[(start + k) // 9 % 8] for k, one in enumerate(part)]
        self.run_kernel(traces.group_norm, {"batch": 64, "channels": 32, "side": 48}, {"batch": 2, "channels": 8, "side": 3},
                        {"x": ((2, 8, 3, 3), x), "g": ((8,), gain)}, ((2, 8, 3, 3), made))

    def test_cross_entropy(self):
        draw = random.Random(3)
        x, targets = drawn(draw, 6 * 5), [draw.randrange(5) for _ in range(6)]
        terms = [math.log(sum(math.exp(one) for one in x[row * 5:row * 5 + 5])) - x[row * 5 + targets[row]] for row in range(6)]
        for rows in (64, 4096):
            self.run_kernel(traces.cross_entropy, {"rows": rows, "classes": 96}, {"rows": 6, "classes": 5},
                            {"x": ((6, 5), x), "t": ((6,), targets, "int64")}, ((), [sum(terms) / 6]))

    def test_a_block_adds_up_what_is_left_of_many_rows(self):
        self.assertNotIn("__shared__", lowered(traces.cross_entropy, {"rows": 512, "classes": 96}, {"rows": 6, "classes": 5}).source)
        many = lowered(traces.cross_entropy, {"rows": 513, "classes": 96}, {"rows": 6, "classes": 5})
        self.assertIn("parts[threadIdx.x] += parts[threadIdx.x + half];", many.source)
        self.assertIn("block: 256, grid: [\"1\"]", many.manifest)
        draw = random.Random(5)
        x, targets = drawn(draw, 700 * 5), [draw.randrange(5) for _ in range(700)]
        terms = [math.log(sum(math.exp(one) for one in x[row * 5:row * 5 + 5])) - x[row * 5 + targets[row]] for row in range(700)]
        self.run_kernel(traces.cross_entropy, {"rows": 4096, "classes": 96}, {"rows": 700, "classes": 5},
                        {"x": ((700, 5), x), "t": ((700,), targets, "int64")}, ((), [sum(terms) / 700]))


class Children(unittest.TestCase):
    def test_a_confined_process_writes_in_its_folder_alone(self):
        with tempfile.TemporaryDirectory() as inside, tempfile.TemporaryDirectory() as outside:
            text = ("import sys, socket; sys.path.insert(0, sys.argv[1])\nfrom regraph_torch.confine import confine\n"
                    "had = confine(sys.argv[2], 1 << 30, 60)\nopen(sys.argv[2] + '/a', 'w').write('x')\n"
                    "try: open(sys.argv[3] + '/a', 'w'); wrote = True\nexcept OSError: wrote = False\n"
                    "try: bytearray(2 << 30); grew = True\nexcept MemoryError: grew = False\n"
                    "print(had, wrote, grew)")
            run = subprocess.run([sys.executable, "-c", text, str(PYTHON), inside, outside], capture_output=True, text=True, check=False)
            self.assertEqual(run.returncode, 0, run.stderr)
            if "'files'" not in run.stdout:
                self.skipTest("this kernel has no Landlock of version 3")
            self.assertIn("False False", run.stdout)

    def test_a_gpu_costs_no_more_confinement_than_the_driver_asks_for(self):
        tried = []

        def run(command, **_):
            tried.append(tuple(command[5:]))
            return subprocess.CompletedProcess(command, 0 if command[5:] == ["files"] else 1)

        child.gpu_confinement.cache_clear()
        with mock.patch.object(child.subprocess, "run", run):
            self.assertEqual(child.gpu_confinement(), ("files",))
        self.assertEqual(tried, [("network", "files"), ("files",)])
        child.gpu_confinement.cache_clear()

    @unittest.skipIf(NO_TORCH, NO_TORCH)
    def test_what_ends_or_hangs_costs_its_process_alone(self):
        for source, words in (("import os; os._exit(7)\n", "exit code 7"), ("while True: pass\n", "more than 20 s"),
                              ("import no_such_module\n", "no_such_module"), ("x = [0] * (1 << 40)\n", "MemoryError")):
            with tempfile.TemporaryDirectory() as folder, self.subTest(source):
                traces_of, said = problem.trace(source, pathlib.Path(folder), problem.Options(limits=child.Limits(seconds=20)))
                self.assertEqual(traces_of, [])
                self.assertIn(words, said["trouble"])


class Commands(unittest.TestCase):
    def test_problems_come_in_the_order_of_their_numbers(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("10_b.py", "9_a.py", "notes.txt", "z.py"):
                pathlib.Path(folder, name).touch()
            self.assertEqual([one.name for one in regraph_bench.problem_files([pathlib.Path(folder)], [])], ["9_a.py", "10_b.py", "z.py"])
            self.assertEqual([one.name for one in regraph_bench.problem_files([pathlib.Path(folder)], ["9*"])], ["9_a.py"])
            with self.assertRaises(BadInput):
                regraph_bench.problem_files([pathlib.Path(folder)], ["nothing"])

    def test_types_have_short_names(self):
        for words, name in ((["--dtype", "bf16"], "bfloat16"), (["--dtype", "fp16"], "float16"), (["--dtype", "fp32"], "float32"), ([], "")):
            for command in (["kernelbench", "x"], ["front", "x"], ["check", "x", "y"]):
                self.assertEqual(regraph_bench.type_of(regraph_bench.arguments().parse_args([*command, *words])), name)

    def test_without_pytorch_one_message_says_how_to_get_it(self):
        with mock.patch("importlib.util.find_spec", return_value=None), self.assertRaises(Lacking) as caught:
            regraph_bench.need_torch()
        self.assertIn("pip install torch", str(caught.exception))

    def test_installed_programs_are_called_by_their_names(self):
        # There they are links to one program that looks at its name.
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "regraph")
            program.write_text("#!/bin/sh\necho $0\n")
            program.chmod(0o755)
            for name in ("regraph-run", "regraph-search", "regraph-score"):
                pathlib.Path(folder, name).symlink_to("regraph")
            found = tools.find_programs(pathlib.Path(folder))
            self.assertEqual(pathlib.Path(found.run).name, "regraph-run")
            self.assertEqual(pathlib.Path(found.search).name, "regraph-search")

    def test_missing_programs_and_files_have_their_exit_codes(self):
        def ends_with(error):
            def main():
                raise error
            with mock.patch("sys.stderr"):
                return run_main(main)
        self.assertEqual((ends_with(BadInput("x")), ends_with(Lacking("x"))), (2, 5))
        with self.assertRaises(Lacking):
            tools.find_programs(pathlib.Path("/nowhere"))


@unittest.skipIf(NO_TORCH, NO_TORCH)
class Answers(unittest.TestCase):
    """Answers that cheat, and whether KernelBench's rule, applied as its harness does, lets them pass."""
    RELU = "import torch\nfrom torch import nn\nclass Model(nn.Module):\n  def forward(self, x):\n    return torch.relu(x)\nn = 4096\n" \
           "def get_inputs():\n  return [torch.rand(n)]\ndef get_init_inputs():\n  return []\n"
    HEAD = "import torch\nfrom torch import nn\nKEPT = {}\nclass ModelNew(nn.Module):\n  def forward(self, x):\n    "

    def judge(self, body, type_name=""):
        with tempfile.TemporaryDirectory() as folder:
            problem_file, answer = pathlib.Path(folder, "p.py"), pathlib.Path(folder, "a.py")
            problem_file.write_text(self.RELU)
            answer.write_text(self.HEAD + body + "\n")
            return answers.judge(problem_file, answer, None, "train", 2, child.Limits(seconds=120), False, type_name)

    def test_in_half_precision_answers_may_round_and_no_more(self):
        for type_name in HALVES:
            with self.subTest(type_name):
                self.assertTrue(self.judge("return torch.relu(x.float()).to(x.dtype)", type_name)["equal"])
                found = self.judge("return torch.relu(x * 1.02)", type_name)
                self.assertFalse(found["equal"], found)
                self.assertIn("elements are float32", self.judge("return torch.relu(x.float())", type_name)["reasons"][0])

    def test_tricks(self):
        for body, equal, theirs, words in (
                ("return x.clamp(min=0)", True, True, ""),
                ("return x.clone()", False, True, "inputs of both signs"),  # get_inputs has no negative numbers
                ("return torch.zeros_like(x)", False, False, "the same for all inputs"),
                ("return KEPT.setdefault(x.data_ptr(), torch.relu(x))", False, None, "inputs of both signs"),
                ("return x.relu_()", False, True, "changes its inputs"),
                ("KEPT.setdefault(0, torch.empty_like(x)).copy_(torch.relu(x)); return KEPT[0]", False, True, "changes an earlier result"),
                ("torch.allclose = lambda *a, **k: True; return x * 2", False, True, "element"),
                ("return torch.relu(x)[:1]", False, False, "shape"),
                ("raise SystemExit(0)", False, False, "could not be judged")):
            with self.subTest(body):
                found = self.judge(body)
                self.assertEqual(found["equal"], equal, found)
                if theirs is not None:
                    self.assertEqual(found["theirs"]["passes"], theirs, found)
                self.assertIn(words, " ".join(found["reasons"]))


if __name__ == "__main__":
    unittest.main()
