#!/usr/bin/env python3
"""An OpenAI-compatible server whose answers come from files: see answers/README.md.

    tests/llm/scripted_server.py [--answers FOLDER] [--port N] [--port-file FILE] [--delay SECONDS]
                                 [--status CODE] [--repeat-key] [--log FILE] [--faults SHARE]

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
            text, finish = answer_to(self.server.answers, request["messages"], request.get("seed", 0))
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
    parser.add_argument("--log", help="file to write a hash of every request to")
    options = parser.parse_args()
    server = Server(("127.0.0.1", options.port), Handler)
    server.answers = options.answers
    server.delay = options.delay
    server.status = options.status
    server.repeat_key = options.repeat_key
    server.log = options.log
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
