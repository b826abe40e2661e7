#!/usr/bin/env python3
"""regraph-mcp as an agent has it: a scripted client of plain Python calls every tool on the example kernels, makes every
mistake, means no good, and looks at what is left. Prints what it did, and how long each call took.

    tests/agent/mcp_client_test.py --program build/release/bin/regraph-mcp [--only NAME] [--dataset PROGRAM]
"""
import argparse
import contextlib
import json
import os
import pathlib
import queue
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SOFTMAX = (ROOT / "examples/softmax/softmax.cu").read_text()
SOFTMAX_MANIFEST = (ROOT / "examples/softmax/softmax.regraph.yaml").read_text()
VECADD = (ROOT / "examples/vecadd/vecadd.cu").read_text()
VECADD_MANIFEST = (ROOT / "examples/vecadd/vecadd.regraph.yaml").read_text()
PATIENCE = 300.0

# A row by a warp, exponentials once: what an agent would write.
FAST_SOFTMAX = """
__global__ void softmax(const float* in, float* out, int rows, int columns) {
  int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  if (row >= rows) return;
  float largest = -3.402823466e+38f;
  for (int c = lane; c < columns; c += 32) largest = fmaxf(largest, in[row * columns + c]);
  for (int d = 16; d > 0; d /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, d));
  float sum = 0.0f;
  for (int c = lane; c < columns; c += 32) sum += expf(in[row * columns + c] - largest);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  for (int c = lane; c < columns; c += 32) out[row * columns + c] = expf(in[row * columns + c] - largest) / sum;
}
"""
FAST_LAUNCH = {"block": [128], "grid": ["cdiv(rows, 4)"], "smem": "0"}
WRONG_SOFTMAX = FAST_SOFTMAX.replace("c = lane; c < columns; c += 32) sum", "c = lane; c < columns - 1; c += 32) sum")
OUT_OF_BOUNDS = FAST_SOFTMAX.replace("if (row >= rows) return;", "")
# Ends for no input of the tests, or not soon.
ENDLESS = FAST_SOFTMAX.replace("float sum = 0.0f;", "float sum = 0.0f;\n  while (in[row * columns] < 1e30f) { largest += 1.0f; }")


class Client:
    """One server and one conversation with it."""

    def __init__(self, program, *options, workspace=None, raw=False):
        arguments = [program, *options]
        if workspace is not None:
            arguments += ["--workspace", str(workspace)]
        self.process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.lines = queue.Queue()
        self.errors = []
        self.number = 0
        threading.Thread(target=self.listen, daemon=True).start()
        threading.Thread(target=self.listen_to_errors, daemon=True).start()
        if not raw:
            answer = self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                             "clientInfo": {"name": "mcp_client_test", "version": "1"}})
            self.server = answer["result"]
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def listen(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def listen_to_errors(self):
        for line in self.process.stderr:
            self.errors.append(line.decode(errors="replace"))

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        self.write(json.dumps(message).encode() + b"\n")

    def read(self, seconds=PATIENCE):
        """The next message. Whatever is no message fails the test."""
        line = self.lines.get(timeout=seconds)
        assert line is not None, "the server ended: " + "".join(self.errors)
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0", line
        return message

    def request(self, method, parameters=None):
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": parameters or {}})
        return self.number

    def ask(self, method, parameters=None):
        wanted = self.request(method, parameters)
        message = self.read()
        assert message["id"] == wanted, message
        return message

    def call(self, tool, **arguments):
        """The result of a call that is answered, its text told."""
        begin = time.monotonic()
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        seconds = time.monotonic() - begin
        assert "result" in answer, answer
        result = answer["result"]
        text = result["content"][0]["text"]
        first = text.split("\n")[0][:100]
        print(f"  {tool:<14} {seconds:6.2f} s  {'ERROR ' if result['isError'] else ''}{first}")
        return result

    def data(self, tool, **arguments):
        result = self.call(tool, **arguments)
        assert not result["isError"], result
        return result["structuredContent"]

    def code(self, method, parameters=None):
        return self.ask(method, parameters).get("error", {}).get("code")

    def end(self, seconds=60.0):
        self.process.stdin.close()
        code = self.process.wait(timeout=seconds)
        assert code == 0, (code, self.errors)

    def kill(self):
        self.process.kill()
        self.process.wait()


class Tests:
    def __init__(self, options):
        self.options = options
        self.folder = None

    @contextlib.contextmanager
    def client(self, *options, **more):
        client = Client(self.options.program, "--device", "h200", "--evaluator", "model", *options,
                        workspace=more.pop("workspace", self.folder), **more)
        try:
            yield client
            client.end()
        finally:
            client.kill()

    def every_tool(self):
        with self.client("--most-evaluations", "12") as client:
            assert client.server["capabilities"] == {"tools": {}}, client.server
            assert client.server["serverInfo"]["name"] == "regraph"
            names = [tool["name"] for tool in client.ask("tools/list")["result"]["tools"]]
            assert names == ["open_problem", "compile", "verify", "profile", "score", "propose_steps", "apply_step",
                             "search"], names
            opened = client.data("open_problem", source=SOFTMAX, manifest=SOFTMAX_MANIFEST)
            problem = opened["problem"]
            assert opened["kernel"] == "softmax" and opened["time"]["method"] == "predicted" and opened["rewritable"]
            assert client.data("open_problem", source=SOFTMAX, manifest=SOFTMAX_MANIFEST)["problem"] == problem

            compiled = client.data("compile", problem=problem, source=FAST_SOFTMAX, launch=FAST_LAUNCH)
            assert compiled["compiles"] and compiled["kernels"][0]["registers_per_thread"] > 0, compiled
            rejected = client.data("compile", problem=problem, source=FAST_SOFTMAX.replace("float sum", "flaot sum"))
            assert not rejected["compiles"] and "flaot" in rejected["log"], rejected

            assert client.data("verify", problem=problem, source=FAST_SOFTMAX, launch=FAST_LAUNCH)["equal"]
            wrong = client.data("verify", problem=problem, source=WRONG_SOFTMAX, launch=FAST_LAUNCH)
            assert not wrong["equal"] and wrong["verdict"] == "wrong_result", wrong
            outside = client.data("verify", problem=problem, source=OUT_OF_BOUNDS, launch=FAST_LAUNCH)
            assert not outside["equal"] and outside["verdict"] == "out_of_bounds", outside
            other = client.data("verify", problem=problem, source=FAST_SOFTMAX.replace("int columns)", "int columns, int x)"))
            assert not other["equal"], other

            profiled = client.data("profile", problem=problem)
            assert profiled["time"]["seconds"] == opened["time"]["seconds"] and profiled["facts"], profiled
            scored = client.data("score", problem=problem, source=FAST_SOFTMAX, launch=FAST_LAUNCH)
            assert scored["equal"] and scored["faster"] and scored["speedup"]["interval"][0] > 1.0, scored
            print(f"    {scored['speedup']['ratio']:.2f}x {scored['speedup']['interval']}")
            same = client.data("score", problem=problem, source=SOFTMAX, depth="once")
            assert same["equal"] and not same["faster"], same
            assert not client.data("score", problem=problem, source=WRONG_SOFTMAX, launch=FAST_LAUNCH)["equal"]

            proposed = client.data("propose_steps", problem=problem)
            assert proposed["steps"] and proposed["refused"], proposed
            first = proposed["steps"][0]
            print(f"    {first['step']} {first['parameters']}, prior {first['prior']:.3f}")
            applied = client.data("apply_step", problem=problem, step=first["step"], parameters=first["parameters"])
            assert applied["applied"] and applied["source"] != opened["source"], applied
            assert client.data("verify", problem=problem, source=applied["source"], launch=applied["launch"])["equal"]
            again = client.data("propose_steps", problem=problem, source=applied["source"], launch=applied["launch"])
            assert again["steps"], again
            refused = client.data("apply_step", problem=problem, step="no_such_step", parameters={})
            assert not refused["applied"] and refused["reason"], refused

            found = client.data("search", problem=problem, evaluations=8)
            assert found["improved"] and found["speedup"]["ratio"] > 1.0 and found["steps"], found
            assert client.data("score", problem=problem, source=found["source"], launch=found["launch"])["faster"]
            assert (self.folder / found["run"] / "result.json").exists()
            too_many = client.call("search", problem=problem, evaluations=13)
            assert too_many["isError"] and "--most-evaluations" in too_many["content"][0]["text"]
        self.problem = problem

    def records(self):
        """What the session above left is whole, and makes a data set."""
        calls = [json.loads(line) for line in (self.folder / "calls.jsonl").read_text().splitlines()]
        assert len(calls) > 15 and all(call["schema"] == "regraph-call/1" for call in calls)
        assert calls[0]["arguments"]["source"] == SOFTMAX and calls[0]["client"] == "mcp_client_test 1"
        assert {call["outcome"] for call in calls} == {"answered", "failed"}
        pairs = (self.folder / "collected.txt").read_text()
        assert FAST_SOFTMAX.split("\n")[2].strip() in pairs
        print(f"  {len(calls)} calls in {sum(len(json.dumps(call)) for call in calls)} bytes")
        # Another server of the workspace knows the problem.
        with self.client() as client:
            assert client.data("verify", problem=self.problem)["equal"]
        if self.options.dataset:
            output = self.folder.parent / "set"
            made = subprocess.run([self.options.dataset, "build", self.folder, *sorted((self.folder / "runs").iterdir()),
                                   "--output", output, "--no-parquet", "-q"], capture_output=True, text=True)
            assert made.returncode == 0, made.stderr
            print("  regraph-dataset build:", made.stdout.splitlines()[0].split(": ", 1)[1])
            assert '"origin":"agent"' in (output / "items.txt").read_text()
            checked = subprocess.run([self.options.dataset, "verify", output, "--device", "h200"], capture_output=True, text=True)
            assert checked.returncode == 0, checked.stdout + checked.stderr
            print("  regraph-dataset verify:", checked.stdout.strip().splitlines()[-1])

    def files(self):
        """Kernels and manifests by their names in the workspace, and none elsewhere."""
        (self.folder / "mine").mkdir()
        (self.folder / "mine/scale.h").write_text("#define TWICE(x) ((x) + (x))\n")
        (self.folder / "mine/vecadd.cu").write_text('#include "scale.h"\n' + VECADD.replace("a[i] + b[i]", "TWICE(a[i])"))
        (self.folder / "mine/vecadd.regraph.yaml").write_text(VECADD_MANIFEST)
        secret = self.folder.parent / "secret.cu"
        secret.write_text(VECADD + "// hidden words\n")
        (self.folder / "link.cu").symlink_to(secret)
        (self.folder / "way").symlink_to(self.folder.parent)
        (self.folder / "sneaky.cu").write_text(f'#include "{secret}"\n' + VECADD)
        (self.folder / "climbing.cu").write_text('#include "../secret.cu"\n' + VECADD)
        with self.client() as client:
            opened = client.data("open_problem", file="mine/vecadd.cu")
            assert "TWICE" in opened["source"], opened
            for name in ["link.cu", "way/secret.cu", "../secret.cu", str(secret), "/etc/passwd", "mine", "nothing.cu",
                         "sneaky.cu", "climbing.cu"]:
                for tool, more in [("open_problem", {}), ("verify", {"problem": opened["problem"]})]:
                    result = client.call(tool, file=name, **more)
                    assert result["isError"] and "hidden words" not in json.dumps(result), result
            # What the compiler and the manifest could read.
            for source in [f'#include "{secret}"\n' + VECADD, '#include "/etc/passwd"\n' + VECADD,
                           '#include </etc/hostname>\n' + VECADD]:
                result = client.call("compile", problem=opened["problem"], source=source)
                told = json.dumps(result)
                assert "hidden words" not in told and "root:" not in told, told
                told = json.dumps(client.call("open_problem", source=source, manifest=VECADD_MANIFEST))
                assert "hidden words" not in told and "root:" not in told, told
            for manifest in [VECADD_MANIFEST.replace("a: {dir: in, shape: [n]}", "a: {dir: in, shape: [n], init: {file: /etc/passwd}}"),
                             VECADD_MANIFEST.replace("a: {dir: in, shape: [n]}", "a: {dir: in, shape: [n], init: x.npy}")]:
                result = client.call("open_problem", source=VECADD, manifest=manifest)
                assert result["isError"] and "files" in result["content"][0]["text"], result
                result = client.call("open_problem", source="/*@regraph\n" + manifest + "*/\n" + VECADD)
                assert result["isError"] and "files" in result["content"][0]["text"], result
            assert client.call("open_problem", source=VECADD, manifest=VECADD_MANIFEST, device="/etc/passwd.yaml")["isError"]
            assert client.call("verify", problem="../../../../etc")["isError"]
            assert client.call("verify", problem="0123456789abcdef")["isError"]
            assert client.call("open_problem", source=VECADD, file="mine/vecadd.cu")["isError"]

    def incomplete(self):
        """A manifest that cannot be inferred is asked for, and completed."""
        gather = ("__global__ void gather(const float* in, const int* at, float* out, int n) {\n"
                  "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) out[i] = in[at[i] - 20];\n}\n")
        with self.client() as client:
            opened = client.data("open_problem", source=gather)
            assert not opened["complete"] and opened["missing"] and "gather" in opened["manifest"], opened
            whole = ("sizes: {n: 1048576}\nargs:\n  in: {dir: in, shape: [n]}\n  at: {dir: in, shape: [n], init: \"int(20,n-1)\"}\n"
                     "  out: {dir: out, shape: [n]}\nlaunch: {block: 256, grid: \"cdiv(n, bx)\"}\ntests: [{n: 1000}, {n: 64}]\n")
            assert client.data("open_problem", source=gather, manifest=whole)["complete"]
            inferred = client.data("open_problem", source=VECADD, sizes={"n": 1 << 20}, block="128")
            assert inferred["complete"] and inferred["sizes"]["n"] == 1 << 20, inferred
            for bad in [{"source": "int main() {}"}, {"source": "__global__ void k( {"}, {"source": ""}, {},
                        {"source": VECADD, "manifest": "sizes: {n: [}"}, {"source": VECADD, "sizes": {"n": -4}},
                        {"source": VECADD, "manifest": VECADD_MANIFEST, "device": "no_such_gpu"}]:
                result = client.call("open_problem", **bad)
                assert result["isError"] and result["content"][0]["text"], result

    def errors(self):
        """Every code of JSON-RPC, and calls that cannot be done."""
        with self.client(raw=True) as client:
            assert client.code("tools/list") == -32600
            assert client.code("tools/call", {"name": "verify", "arguments": {"problem": "x"}}) == -32600
            assert client.ask("ping")["result"] == {}
            assert client.code("initialize", {}) == -32602
            assert client.ask("initialize", {"protocolVersion": "2024-11-05"})["result"]["protocolVersion"] == "2024-11-05"
            assert client.code("resources/list") == -32601
            assert client.code("tools/call", {"name": "rm", "arguments": {}}) == -32602
            assert client.code("tools/call", {"name": "verify", "arguments": {"problem": 1}}) == -32602
            assert client.code("tools/call", {"name": "verify", "arguments": {}}) == -32602
            client.write(b"{ nonsense\n")
            assert client.read()["error"]["code"] == -32700
            client.write(b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]\n')
            assert client.read()["error"]["code"] == -32600
            print("  -32700 -32600 -32601 -32602 as they should be")

    def cancellation(self):
        """A call that would take long is stopped; a ping is answered meanwhile; the next call is done."""
        with self.client("--most-evaluations", "1000000", "--call-seconds", "600") as client:
            problem = client.data("open_problem", source=SOFTMAX, manifest=SOFTMAX_MANIFEST)["problem"]
            begin = time.monotonic()
            running = client.request("tools/call", {"name": "search", "arguments": {"problem": problem, "evaluations": 900000}})
            waiting = client.request("tools/call", {"name": "verify", "arguments": {"problem": problem}})
            ping = client.request("ping")
            assert client.read()["id"] == ping
            print(f"  ping answered after {time.monotonic() - begin:.3f} s beside a search")
            time.sleep(2.0)
            begin = time.monotonic()
            client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": running}})
            answer = client.read()
            assert answer["id"] == waiting and answer["result"]["structuredContent"]["equal"], answer
            print(f"  cancelled, and the next call answered {time.monotonic() - begin:.2f} s later")
        outcomes = [json.loads(line)["outcome"] for line in (self.folder / "calls.jsonl").read_text().splitlines()]
        assert "cancelled" in outcomes

    def end_of_input(self):
        """Calls that are under way when the client has said all are answered before the server ends."""
        with self.client() as client:
            problem = client.data("open_problem", source=SOFTMAX, manifest=SOFTMAX_MANIFEST)["problem"]
            first = client.request("tools/call", {"name": "verify", "arguments": {"problem": problem}})
            second = client.request("tools/call", {"name": "search", "arguments": {"problem": problem, "evaluations": 3}})
            client.process.stdin.close()
            assert client.read()["id"] == first
            answer = client.read()
            assert answer["id"] == second and not answer["result"]["isError"], answer

    def limits(self):
        """Time, numbers and bytes."""
        with self.client("--call-seconds", "20", "--most-calls", "5", "--most-source-bytes", "20000",
                         "--most-evaluations", "1000000") as client:
            problem = client.data("open_problem", source=SOFTMAX, manifest=SOFTMAX_MANIFEST)["problem"]
            found = client.data("search", problem=problem, evaluations=900000)  # what was found until then
            assert found["stopped"] in ("budget", "cancelled") and found["evaluations"] > 0, found
            print(f"    {found['evaluations']} evaluations, {found['speedup']['ratio']:.2f}x")
            endless = client.call("verify", problem=problem, source=ENDLESS, launch=FAST_LAUNCH)
            assert endless["isError"] or endless["structuredContent"]["verdict"] == "timeout", endless
            large = client.call("verify", problem=problem, source=SOFTMAX + "//" + "x" * 20000)
            assert large["isError"] and "--most-source-bytes" in large["content"][0]["text"]
            client.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "' + b"x" * (8 << 20) + b'"}}\n')
            assert client.read()["error"]["code"] == -32700
            assert client.data("verify", problem=problem)["equal"]
            assert client.call("verify", problem=problem)["isError"]  # the sixth

    def lost_worker(self):
        """Whatever ends the process that does the calls ends one call; problems are there again."""
        with self.client() as client:
            problem = client.data("open_problem", source=SOFTMAX, manifest=SOFTMAX_MANIFEST)["problem"]
            running = client.request("tools/call", {"name": "search", "arguments": {"problem": problem, "evaluations": 200}})
            time.sleep(1.0)
            children = pathlib.Path(f"/proc/{client.process.pid}/task").glob("*/children")
            pids = [int(pid) for file in children for pid in file.read_text().split()]
            assert len(pids) == 1, pids
            os.kill(pids[0], signal.SIGKILL)
            answer = client.read()
            assert answer["id"] == running and answer["result"]["isError"], answer
            print("  " + answer["result"]["content"][0]["text"][:100])
            assert client.data("verify", problem=problem)["equal"]

    def hostile(self):
        """Bytes that are no messages, and sources that nest as deep as they can."""
        with self.client() as client:
            for line in [b"[" * 500000, b'{"a":' * 100000, b"\xff\xfe\x00", b'"' * 1000, b"null", b"0", b'{"jsonrpc":"2.0"}',
                         b'{"jsonrpc":"2.0","id":1e999,"method":"ping"}', b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
                         b'{"jsonrpc":"2.0","id":[],"method":[]}', b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":7}',
                         b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":{},"arguments":[]}}']:
                client.write(line + b"\n")
                assert "error" in client.read(), line[:80]
            problem = client.data("open_problem", source=VECADD, manifest=VECADD_MANIFEST)["problem"]
            deep = "(" * 50000 + "1.0f" + ")" * 50000
            blocks = "{" * 50000 + "}" * 50000
            for source in [VECADD.replace("a[i] + b[i]", deep), VECADD.replace("if (i < n)", blocks + "if (i < n)"),
                           VECADD.replace("a[i] + b[i]", "+".join(["a[i]"] * 20000)), "\x00" * 100, "#define A A A\n" * 3 + VECADD,
                           "#include __FILE__\n" + VECADD, "template<int N> struct S { static const int v = S<N-1>::v; };\n"
                           + VECADD.replace("a[i]", "S<100000>::v + a[i]"),
                           VECADD.replace("sum[i] = ", 'asm volatile("trap;"); sum[i] = ')]:
                result = client.call("score", problem=problem, source=source, depth="once")
                # Blocks in each other are no crime: what counts is that there is an answer, and no claim.
                assert result["isError"] or not result["structuredContent"].get("faster"), result["content"][0]["text"][:300]
                result = client.call("open_problem", source=source, manifest=VECADD_MANIFEST)
                assert result["content"][0]["text"]
            for launch in [{"block": [0]}, {"block": [4096]}, {"block": [-1]}, {"block": [256], "grid": ["1/0"]},
                           {"block": [256], "grid": ["(" * 400]}, {"block": [256], "grid": ["n * n * n * n"]},
                           {"block": [99999999999999999999]}]:
                answer = client.ask("tools/call", {"name": "verify", "arguments": {"problem": problem, "launch": launch}})
                assert "error" in answer or not answer["result"]["structuredContent"]["equal"], answer
            assert client.data("verify", problem=problem)["equal"]
        # It talks about nothing but messages, and ends when the client does, read or not.
        client = Client(self.options.program, "--device", "h200", raw=True, workspace=self.folder)
        client.write(b"".join(b'{"jsonrpc":"2.0","id":%d,"method":"ping"}\n' % i for i in range(1000)))
        for i in range(1000):
            assert client.read()["id"] == i
        client.end()
        # One that asks and never reads.
        process = subprocess.Popen([self.options.program, "--device", "h200", "--workspace", str(self.folder)],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        os.set_blocking(process.stdin.fileno(), False)
        full = 0
        while full < 10:  # it takes no more: it waits for its answers to be read
            try:
                os.write(process.stdin.fileno(), b'{"jsonrpc":"2.0","id":1,"method":"nothing"}\n' * 20)
                full = 0
            except BlockingIOError:
                full += 1
                time.sleep(0.1)
        assert select.select([process.stdout], [], [], PATIENCE)[0]
        process.send_signal(signal.SIGTERM)
        code = process.wait(timeout=30)
        process.stdout.close()
        process.stdin.close()
        print(f"  a client that never reads: ended with {code}")
        assert code == 130, code

    def tritongym(self):
        """Three calls with another system's names and rewards."""
        with self.client("--interface", "tritongym") as client:
            names = [tool["name"] for tool in client.ask("tools/list")["result"]["tools"]]
            assert names == ["open_problem", "compile", "verify", "profile"], names
            opened = client.data("open_problem", source=SOFTMAX, manifest=SOFTMAX_MANIFEST)
            problem = opened["problem"]
            broken = FAST_SOFTMAX.replace("float sum", "flaot sum")
            for tool, wanted in [("compile", (-10, 0, 0)), ("verify", (-10, -5, 0)), ("profile", (-10, -5, None))]:
                rewards = [client.data(tool, problem=problem, source=source, launch=FAST_LAUNCH)["reward"]
                           for source in (broken, WRONG_SOFTMAX, FAST_SOFTMAX)]
                if wanted[2] is None:
                    milliseconds = client.data("profile", problem=problem, source=FAST_SOFTMAX,
                                               launch=FAST_LAUNCH)["time"]["seconds"] * 1e3
                    wanted = (*wanted[:2], rewards[2])
                    assert abs(rewards[2] - 10 / milliseconds) < 1e-9 * rewards[2], (rewards, milliseconds)
                assert tuple(rewards) == wanted, (tool, rewards)

    def temporary_workspace(self):
        """Without a workspace there is a new one, which is said and kept."""
        environment = dict(os.environ, TMPDIR=str(self.folder.parent))
        process = subprocess.run([self.options.program, "--device", "h200"], input=b"", capture_output=True, env=environment)
        assert process.returncode == 0 and process.stdout == b"", process
        folder = process.stderr.decode().split("workspace: ")[1].strip()
        assert pathlib.Path(folder).is_dir() and folder.startswith(str(self.folder.parent)), folder
        assert subprocess.run([self.options.program, "--no-such"], capture_output=True).returncode == 2


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--dataset", help="regraph-dataset, to make a data set of what is left")
    parser.add_argument("--only", help="one of the parts")
    options = parser.parse_args()
    parts = ["every_tool", "records", "files", "incomplete", "errors", "cancellation", "end_of_input", "limits", "lost_worker", "hostile",
             "tritongym", "temporary_workspace"]
    with tempfile.TemporaryDirectory(prefix="regraph-mcp-test-") as place:
        tests = Tests(options)
        tests.folder = pathlib.Path(place) / "workspace"
        tests.folder.mkdir()
        for part in parts:
            if options.only and part not in options.only.split(","):
                continue
            print(part.replace("_", " ") + ": " + (getattr(tests, part).__doc__ or "what an agent would do"))
            getattr(tests, part)()
    print("all is as it should be")


if __name__ == "__main__":
    sys.exit(main())
