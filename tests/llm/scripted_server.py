#!/usr/bin/env python3
"""An OpenAI-compatible server whose answers come from files: see answers/README.md.

    tests/llm/scripted_server.py [--answers FOLDER] [--port N] [--port-file FILE] [--delay SECONDS]
                                 [--status CODE] [--repeat-key] [--log FILE] [--faults SHARE]
                                 [--character declining|inventive|circling|satisfied]
                                 [--conversation FILE [--misses FILE]]
    tests/llm/scripted_server.py --keep RECORDING KERNEL

--character: instead of the files a model that declines every step, one that names nothing but steps of its own (and
answers with what is on file for one), one that goes from the original to another form and back, one that says at once
that nothing will pay.

--conversation: instead of the files what a real model answered to the same task about the same code, whatever else a prompt says
by now (tests/llm/conversations); a choice that is not there is an empty list, other tasks are declined, and both are noted
in the file of misses. --keep prints such a conversation of a recording (--llm-record).

Listens on loopback and prints its address. What it chooses depends on the request alone, so equal requests
get equal answers. Tokens are counted as bytes / 4.
"""
import argparse
import hashlib
import http.server
import json
import pathlib
import random
import re
import sys
import threading
import time

FOLDER = pathlib.Path(__file__).resolve().parent / "answers"


FAULTS = ("429", "500", "503", "close", "cut", "hang", "not json", "not utf-8", "no choice", "no content", "html")


def answer_to(folder, messages, seed):
    """The text of the answer, and why the server stops there."""
    asked = "\n".join(message["content"] for message in messages)
    kernel = re.search(r"^# Kernel (\w+)", asked, re.MULTILINE)
    kernel = kernel.group(1) if kernel else "none"
    step = re.search(r"^# Task: apply one step to this code\n(\w+):", asked, re.MULTILINE)
    if not step:
        file = folder / kernel / "propose.json"
        return (file.read_text(encoding="utf-8") if file.exists() else '{"steps": []}'), "stop"
    step = step.group(1)
    repair = folder / kernel / f"{step}.repair.md"
    # A request for a fix shows the candidate that failed, or goes on with a conversation.
    wants_fix = len(messages) > 2 or re.search(r"^# This kernel fails", asked, re.MULTILINE)
    if wants_fix and repair.exists():
        return repair.read_text(encoding="utf-8"), "stop"
    files = sorted((folder / kernel).glob(f"{step}.[0-9]*.md"))
    if not files:
        return "This step does not apply to the kernel: there is nothing to change.", "stop"
    text = files[seed % len(files)].read_text(encoding="utf-8")
    return text, "length" if text.count("```") % 2 else "stop"


def code_of(messages):
    """The code that the first request showed."""
    shown = re.search(r"^\[begin device code (\w+)\]\n(.*?)^\[end device code \1\]", messages[1]["content"], re.MULTILINE | re.DOTALL)
    return shown.group(2) if shown else ""


def task_of(messages):
    """What is asked, as far as another wording of it would ask the same."""
    last = messages[-1]["content"]
    if len(messages) > 2:
        return "repair " + hashlib.sha256(messages[-2]["content"].encode()).hexdigest()[:16]
    task = last[last.rfind("# Task: "):]
    step = re.search(r"^(\w+): ", task, re.MULTILINE)
    values = re.search(r"^Parameters that were chosen: (.*)$", task, re.MULTILINE)
    plan = re.findall(r"^\d+\. (\w+):", task, re.MULTILINE)
    other = re.search(r"^\[begin other state.*?^\[end other state", task, re.MULTILINE | re.DOTALL)
    if task.startswith("# Task: choose"):
        return "choose"
    if other:
        return "combine " + hashlib.sha256("".join(other.group(0).split("\n")[1:-1]).encode()).hexdigest()[:16]
    if plan and "plan of several steps" in task.split("\n")[0]:
        return "leap " + " ".join(plan)
    return f"apply {step.group(1) if step else '?'} {values.group(1) if values else ''}".strip()


def code_key(code):
    return hashlib.sha256(" ".join(code.split()).encode()).hexdigest()[:32]


def conversation_of(file):
    """Answers by task and code."""
    answers = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        answers.setdefault((entry["task"], entry["code"]), entry["answer"])
    return answers


def answer_in_conversation(server, messages):
    """As answer_to."""
    task = task_of(messages)
    known = server.conversation.get((task, code_key(code_of(messages))))
    if known is not None:
        return known, "stop"
    if server.misses:
        with server.lock, open(server.misses, "a", encoding="utf-8") as misses:
            misses.write(task + "\n")
    return ('{"steps": []}' if task == "choose" else "DECLINE: nobody answered this"), "stop"


def keep(recording, kernel):
    """Prints the answers of a recording, a line of JSON each."""
    for line in pathlib.Path(recording).read_text(encoding="utf-8").splitlines()[1:]:
        entry = json.loads(line)
        if "answer" not in entry:
            continue
        messages = [{"role": message["role"], "content": message["text"]} for message in entry["request"]["messages"]]
        print(json.dumps({"kernel": kernel, "task": task_of(messages), "code": code_key(code_of(messages)),
                          "answer": entry["answer"]["choices"][0]["text"]}))


def answer_in_character(character, folder, messages, seed):
    """As answer_to."""
    asked = "\n".join(message["content"] for message in messages)
    chooses = "# Task: choose" in asked
    code = code_of(messages)
    if character == "satisfied":
        return '{"steps": []}', "stop"
    if character == "declining":
        steps = [{"step": step, "why": "who knows"} for step in ("smem_transpose", "cache_hints", "split_k")]
        return (json.dumps({"steps": steps}) if chooses else "DECLINE: this cannot pay"), "stop"
    if character == "inventive":
        number = hashlib.sha256(code.encode()).hexdigest()[:6]
        steps = [{"step": f"{word} trick {number}", "why": f"of my own: {word}"} for word in ("first", "second")]
        file = next(iter(sorted((folder / "transpose").glob("smem_transpose.0.md"))))
        return (json.dumps({"steps": steps}) if chooses else file.read_text(encoding="utf-8")), "stop"
    # circling
    if chooses:
        return '{"steps": [{"step": "go round in circles", "why": "for a change"}]}', "stop"
    there, back = "*pointer = value;", "out[x * height + y] = in[y * width + x];"
    other = code.replace(back, "float value = in[y * width + x]; float* pointer = out + x * height + y; " + there)
    if there in code:
        other = re.sub(r"float value.*?\*pointer = value;", back, code, flags=re.DOTALL)
    return f"```cuda\n{other}```", "stop"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.server.log:
            with self.server.lock, open(self.server.log, "a", encoding="utf-8") as log:
                log.write(hashlib.sha256(body).hexdigest() + "\n")
        if self.server.status != 200:
            key = self.headers.get("Authorization", "")
            return self.reply(self.server.status, {"error": {"message": f"not you: {key}"}})
        # The same request meets another fate when it is sent again.
        with self.server.lock:
            self.server.requests += 1
            random = self.server.random
            fault = random.choice(FAULTS) if random.random() < self.server.faults else None
        if fault:
            return self.misbehave(fault)
        try:
            request = json.loads(body)
            details = (self.server.answers, request["messages"], request.get("seed", 0))
            character = self.server.character
            if self.server.conversation:
                text, finish = answer_in_conversation(self.server, request["messages"])
            else:
                text, finish = answer_in_character(character, *details) if character else answer_to(*details)
        except (ValueError, KeyError, TypeError) as error:
            return self.reply(400, {"error": {"message": f"bad request: {error}"}})
        if self.server.repeat_key:
            text += "\n// " + self.headers.get("Authorization", "")
        time.sleep(self.server.delay)
        self.reply(200, {
            "id": "scripted", "object": "chat.completion", "model": request.get("model", ""),
            "choices": [{"index": 0, "finish_reason": finish,
                         "message": {"role": "assistant", "content": text}}],
            "usage": {"prompt_tokens": len(body) // 4, "completion_tokens": len(text) // 4,
                      "total_tokens": len(body) // 4 + len(text) // 4}})

    def misbehave(self, fault):
        if fault.isdigit():
            return self.reply(int(fault), {"error": {"message": "busy"}})
        if fault == "close":
            self.close_connection = True
            return self.connection.close()
        if fault == "hang":
            time.sleep(5)
            return self.reply(503, {})
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": None}}
        body = {"not json": b"{'choices': ", "not utf-8": b'{"choices": [{"message": {"content": "\xff\xfe"}}]}',
                "no choice": b'{"choices": []}', "html": b"<html><body>Bad gateway</body></html>",
                "no content": json.dumps({"choices": [choice]}).encode(), "cut": b'{"choices": ['}[fault]
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body) + (100 if fault == "cut" else 0)))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = fault == "cut"

    def reply(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--answers", type=pathlib.Path, default=FOLDER)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--port-file", type=pathlib.Path, help="file to write the port to once it listens")
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--status", type=int, default=200, help="of every reply")
    parser.add_argument("--repeat-key", action="store_true", help="put the client's key into every answer")
    parser.add_argument("--faults", type=float, default=0.0, help="share of requests that something goes wrong with")
    parser.add_argument("--character", choices=("declining", "inventive", "circling", "satisfied"))
    parser.add_argument("--conversation", type=pathlib.Path)
    parser.add_argument("--misses", type=pathlib.Path)
    parser.add_argument("--keep", nargs=2, metavar=("RECORDING", "KERNEL"))
    parser.add_argument("--log", help="file to write a hash of every request to")
    options = parser.parse_args()
    if options.keep:
        return keep(*options.keep)
    server = Server(("127.0.0.1", options.port), Handler)
    server.answers = options.answers
    server.delay = options.delay
    server.status = options.status
    server.repeat_key = options.repeat_key
    server.log = options.log
    server.character = options.character
    server.conversation = conversation_of(options.conversation) if options.conversation else None
    server.misses = options.misses
    server.faults = options.faults
    server.random = random.Random(7)
    server.requests = 0
    server.lock = threading.Lock()
    print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
    if options.port_file:
        options.port_file.write_text(f"{server.server_port}\n", encoding="utf-8")
    server.serve_forever()


if __name__ == "__main__":
    sys.exit(main())
