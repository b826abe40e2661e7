"""First kernels by a language model: answers read, judged by ReGraph's programs, ranked and recorded; against a fake server."""

import array
import http.server
import json
import math
import os
import pathlib
import random
import tempfile
import threading
import unittest

import support  # noqa: F401  (the path of python/)

import traces
from regraph_torch import chat, first_kernel, front, graph, npy, tools
from regraph_torch.first_kernel import Unreadable

PROGRAMS = pathlib.Path(os.environ.get("REGRAPH_PROGRAMS", "/nowhere"))
NO_PROGRAMS = "" if (PROGRAMS / "regraph-run").exists() else "REGRAPH_PROGRAMS does not say where regraph-run is"
TRITON = os.environ.get("REGRAPH_TRITON_PYTHON", str(support.ROOT / ".triton" / "bin" / "python"))
NO_TRITON = NO_PROGRAMS or ("" if pathlib.Path(TRITON).exists() else "there is no Triton: tools/setup --triton installs it")

SLOW = """A thread a row.
```cuda
extern "C" __global__ void softmax_rows(const float* x, float* out, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float most = -INFINITY, sum = 0.0f;
  for (int k = 0; k < columns; ++k) most = fmaxf(most, x[row * columns + k]);
  for (int k = 0; k < columns; ++k) sum += expf(x[row * columns + k] - most);
  for (int k = 0; k < columns; ++k) out[row * columns + k] = expf(x[row * columns + k] - most) / sum;
}
```
```json
{"launch": {"block": 64, "grid": ["cdiv(rows, 64)"]}}
```
"""
FAST = """
```cuda
extern "C" __global__ void softmax_rows(const float* x, float* out, int rows, int columns) {
  const float* own = x + blockIdx.x * columns;
  float most = -INFINITY, sum = 0.0f;
  for (int k = threadIdx.x; k < columns; k += 32) most = fmaxf(most, own[k]);
  for (int d = 16; d > 0; d /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, d));
  for (int k = threadIdx.x; k < columns; k += 32) sum += expf(own[k] - most);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  for (int k = threadIdx.x; k < columns; k += 32) out[blockIdx.x * columns + k] = expf(own[k] - most) / sum;
}
```
```json
{"launch": {"block": 32, "grid": ["rows"]}}
```
"""
# No maximum is taken away, and zeros pass for small numbers with an absolute tolerance.
WRONG = SLOW.replace("/ sum;", "* 0.0f;")
BROKEN = SLOW.replace("fmaxf(most,", "fmaxf(must,")
STEALING = SLOW.replace("extern", '#include "/etc/passwd"\nextern')
TRITON_ANSWER = """
```python
# regraph-triton:
#   kernel: softmax_rows
#   signature: {x: "*fp32", out: "*fp32", rows: i32, columns: i32}
#   constants: {BLOCK: 64}
#   grid: [rows]
import triton
import triton.language as tl


@triton.jit
def softmax_rows(x, out, rows, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    most = -float("inf")
    total = 0.0
    for begin in range(0, columns, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        values = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
        higher = tl.maximum(most, tl.max(values, axis=0))
        total = total * tl.exp(most - higher) + tl.sum(tl.exp(values - higher), axis=0)
        most = higher
    for begin in range(0, columns, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        values = tl.load(x + row * columns + at, mask=at < columns, other=0.0)
        tl.store(out + row * columns + at, tl.exp(values - most) / total, mask=at < columns)
```
"""


class FakeChat:
    """Answers by a function of the messages and the seed; or with scripted (status, body) first."""

    def __init__(self, answer, script=()):
        self.requests, self.script = [], list(script)
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append((self.path, dict(self.headers), body))
                status, text = outer.script.pop(0) if outer.script else (200, json.dumps(
                    {"choices": [{"message": {"role": "assistant", "content": answer(body["messages"], body.get("seed"))}}]}))
                self.send_response(status)
                self.send_header("Content-Length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def softmax_task(language="cuda", type_name="float32"):
    made = [traces.in_type(one, type_name) for one in traces.at_sizes(traces.softmax, {"rows": 2048, "columns": 512}, {"rows": 7, "columns": 33})]
    return first_kernel.task_of("softmax", "class Model: ...", graph.merge(made, [one["constants"] for one in made]), language)


def softmax_cases(folder):
    """Inputs at the small size, and what PyTorch would make of them."""
    rows, columns = 7, 33
    place = pathlib.Path(folder, "seed1")
    place.mkdir()
    values = [random.Random(3).gauss(0.0, 2.0) for _ in range(rows * columns)]
    values = list(array.array("f", values))
    expected = []
    for row in range(rows):
        exponentials = [math.exp(one - max(values[row * columns:(row + 1) * columns])) for one in values[row * columns:(row + 1) * columns]]
        expected += [one / sum(exponentials) for one in exponentials]
    npy.write(place / "x.npy", "float32", (rows, columns), array.array("f", values).tobytes())
    npy.write(place / "expected.npy", "float32", (rows, columns), array.array("f", expected).tobytes())
    return [({"rows": rows, "columns": columns}, [place])]


class Chat(unittest.TestCase):
    def test_the_key_goes_into_the_header_and_nowhere_else(self):
        with FakeChat(lambda *_: "yes") as fake:
            server = chat.Server(fake.url, "m", key="sk-secret", temperature=0.5)
            self.assertEqual(chat.complete(server, [{"role": "user", "content": "?"}], 7), "yes")
            path, headers, body = fake.requests[0]
        self.assertEqual((path, headers["Authorization"]), ("/v1/chat/completions", "Bearer sk-secret"))
        self.assertEqual((body["seed"], body["temperature"]), (7, 0.5))
        self.assertNotIn("sk-secret", json.dumps(body))

    def test_what_may_pass_is_tried_again_and_the_rest_is_not(self):
        with FakeChat(lambda *_: "yes", [(503, "busy"), (400, "no seed here")]) as fake:
            server = chat.Server(fake.url, "m", pause=0.01)
            self.assertEqual(chat.complete(server, [], 1), "yes")
            self.assertEqual(["seed" in body for _, _, body in fake.requests], [True, True, False])
        with FakeChat(lambda *_: "", [(401, "not you: sk-secret")]) as fake:
            with self.assertRaises(chat.NoAnswer) as told:
                chat.complete(chat.Server(fake.url, "m", key="sk-secret", pause=0.01), [], 1)
            self.assertEqual(len(fake.requests), 1)
            self.assertNotIn("sk-secret", str(told.exception))
        with FakeChat(lambda *_: "", [(302, "")] * 9) as fake, self.assertRaises(chat.NoAnswer):
            chat.complete(chat.Server(fake.url, "m", pause=0.01), [], 1)
        with self.assertRaises(chat.NoAnswer):
            chat.complete(chat.Server("file:///etc/passwd", "m"), [], 1)


class Answers(unittest.TestCase):
    def test_a_kernel_with_its_launch_is_an_input(self):
        made = first_kernel.read("<think>```</think>" + SLOW, softmax_task())
        self.assertEqual(made.file, "kernel.cu")
        self.assertIn('launch: {"block": [64], "grid": ["cdiv(rows, 64)"]}', made.manifest)
        self.assertIn('sizes: {"rows": 2048, "columns": 512}', made.manifest)
        self.assertIn('x: {"dir": "in", "shape": ["rows", "columns"]}', made.manifest)
        self.assertIn('tests: [{"rows": 7, "columns": 33}]', made.manifest)

    def test_the_prompt_shows_module_parameters_and_sizes(self):
        for type_name, c_type, tolerance in (("float32", "float", "2e-05"), ("float16", "__half", "0.002"), ("bfloat16", "__nv_bfloat16", "0.008")):
            system, user = (one["content"] for one in first_kernel.messages(softmax_task(type_name=type_name), "h200"))
            self.assertIn("```cuda", system)
            for part in ("class Model: ...", f"x: {c_type}*, in, shape [rows, columns]", f"out: {c_type}*, out, shape [rows, columns]", "rows: int",
                         f"compared with a relative tolerance of {tolerance}"):
                self.assertIn(part, user)
        self.assertIn("# regraph-triton:", first_kernel.messages(softmax_task("triton"), "h200")[0]["content"])

    def test_what_cannot_be_used_is_said(self):
        task = softmax_task()
        for answer, reason in (("I cannot.", "0 different blocks of code"), (SLOW.replace("```json", "```text"), "0 different ```json"),
                               (SLOW[:-4], "cut off"), (SLOW + FAST, "2 different blocks"), (SLOW.replace('"grid"', '"stream"'), "launch"),
                               (SLOW.replace("cdiv(rows, 64)", "rows; x: {init: file}"), "no expression"), (STEALING, "not accepted"),
                               (TRITON_ANSWER, "0 different blocks of code")):
            with self.assertRaises(Unreadable, msg=answer) as told:
                first_kernel.read(answer, task)
            self.assertIn(reason, str(told.exception))

    def test_no_spelling_of_a_directive_reads_a_file(self):
        for code in ('#include "x"', "#include </etc/passwd>", '# /**/ include "x"', '/* */ #include "x"', '%:include "x"', '??=include "x"',
                     '#\\\ninclude "x"', '"/*"\n#include "x"\n"*/"', '# /*\n*/ include "x"', '#embed "x"', '#if __has_include("x")', 'asm("");',
                     "#include MACRO"):
            self.assertTrue(first_kernel.forbidden(code), code)
        self.assertEqual(first_kernel.forbidden("#include <cuda_fp16.h> // halves\n#define N 3\n#pragma unroll\nint included;"), "")


@unittest.skipIf(NO_PROGRAMS, NO_PROGRAMS)
class Judged(unittest.TestCase):
    def test_the_right_and_fast_one_is_the_best_and_all_are_recorded(self):
        texts = [SLOW, FAST, WRONG, BROKEN, STEALING]

        def answer(messages, seed):
            # The one that does not compile is mended when it comes back; the wrong one is insisted upon.
            return SLOW if len(messages) > 2 and seed % 10 == 3 else texts[seed % 10]

        with tempfile.TemporaryDirectory() as folder, FakeChat(answer) as fake:
            cases, task = softmax_cases(folder), softmax_task()
            options = front.Options(answers=5, repairs=1, jobs=2)
            judge = front.Judge(task, cases, tools.find_programs(PROGRAMS), options)
            output = pathlib.Path(folder, "softmax")
            row = front.answered(task, judge, chat.Server(fake.url, "hand", key="sk-secret"), options, output, 1.0)
            self.assertEqual((row["attempts"], row["agree"]), (8, 3), row)
            # What one leaves is not taken for another's.
            self.assertEqual(list(pathlib.Path(folder).rglob("*.out.npy")), [])
            self.assertEqual((output / "kernel.cu").read_text(), first_kernel.read(FAST, task).source)
            lines = [json.loads(line) for line in (output / "attempts.jsonl").read_text().splitlines()]
            said = {(one["answer"], one["repair"]): one for one in lines}
            self.assertEqual({key: one["verdict"] for key, one in said.items()},
                             {(0, 0): "correct", (1, 0): "correct", (2, 0): "wrong_result", (2, 1): "wrong_result", (3, 0): "compile_error",
                              (3, 1): "correct", (4, 0): "unreadable", (4, 1): "unreadable"})
            self.assertGreater(said[0, 0]["predicted_seconds"], said[1, 0]["predicted_seconds"])
            self.assertEqual([said[4, 0]["reward"], said[3, 0]["reward"], said[2, 0]["reward"]], [-1.0, -0.8, -0.5])
            self.assertEqual([said[1, 0][name] for name in ("valid_compile", "agrees", "label", "reward")], [1, 1, True, 1.0])
            self.assertIn("must", said[3, 0]["message"])
            self.assertEqual(said[3, 1]["prompt"][-2]["content"], BROKEN)
            self.assertNotIn("sk-secret", (output / "attempts.jsonl").read_text())
            self.assertEqual(lines[0]["answer"], 1)

    def test_without_one_that_agrees_there_is_none(self):
        with tempfile.TemporaryDirectory() as folder, FakeChat(lambda *_: WRONG) as fake:
            options = front.Options(answers=1, repairs=0)
            judge = front.Judge(softmax_task(), softmax_cases(folder), tools.find_programs(PROGRAMS), options)
            row = front.answered(softmax_task(), judge, chat.Server(fake.url, "hand"), options, pathlib.Path(folder, "out"), None)
            self.assertIsNone(row["best"])
            self.assertIn("expected", row["reason"])

    @unittest.skipIf(NO_TRITON, NO_TRITON)
    def test_a_triton_kernel_is_judged_alike(self):
        with tempfile.TemporaryDirectory() as folder, FakeChat(lambda *_: TRITON_ANSWER) as fake:
            task = softmax_task("triton")
            options = front.Options("triton", answers=1, repairs=0)
            judge = front.Judge(task, softmax_cases(folder), tools.find_programs(PROGRAMS), options)
            row = front.answered(task, judge, chat.Server(fake.url, "hand"), options, pathlib.Path(folder, "out"), None)
            self.assertEqual(row.get("agree"), 1, row)
            self.assertTrue(row["best"].endswith("kernel.py"))
            self.assertGreater(row["seconds"], 0.0)


if __name__ == "__main__":
    unittest.main()
