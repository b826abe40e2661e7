"""Serves a model's folder by OpenAI's protocol: POST /v1/chat/completions, GET /v1/models, GET /health.

    python/regraph_serve.py MODEL_FOLDER [--port 8000] [--name NAME]
    regraph-search KERNEL --expander llm --llm-url http://localhost:8000/v1 --llm-model NAME

Requests of up to 20 ms are answered together, up to 64 rows at once. `seed` makes an answer repeatable;
across batches of other shapes products round otherwise, which can change a token: bitwise repeatable
are regraph-search's recordings. It listens on this machine alone unless --host says otherwise, and asks for
no key.
"""

from __future__ import annotations

import argparse
import http.server
import json
import pathlib
import socketserver
import sys
import time
import uuid
from typing import Any

from regraph_training.chat_request import Refused, read_request
from regraph_training.errors import BadInput, run_main

LARGEST_BODY = 8 << 20


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 600
    server: Server

    def do_GET(self) -> None:
        if self.path == "/health":
            from regraph_training.static_decoder import decoder_text
            self.reply(200, {"status": "ok", "model": self.server.name,
                             "decoder": decoder_text(self.server.answerer.model)})
        elif self.path.rstrip("/") == "/v1/models":
            self.reply(200, {"object": "list", "data": [{"id": self.server.name, "object": "model",
                                                         "created": self.server.begun, "owned_by": "regraph"}]})
        else:
            self.refuse(Refused(404, f"no such path: {self.path}"))

    def do_POST(self) -> None:
        try:
            length = int(self.headers.get("Content-Length", ""))
        except ValueError:
            return self.refuse(Refused(411, "a request needs Content-Length"), close=True)
        if length < 0 or length > LARGEST_BODY:
            return self.refuse(Refused(413, f"a request may have {LARGEST_BODY} bytes: too long"), close=True)
        body = self.rfile.read(length)
        if self.path.rstrip("/") != "/v1/chat/completions":
            return self.refuse(Refused(404, f"no such path: {self.path}"))
        try:
            self.complete(body)
        except Refused as refused:
            self.refuse(refused)

    def complete(self, body: bytes) -> None:
        answerer = self.server.answerer
        answers, prompt_tokens = answerer.answer(read_request(body, self.server.name))
        count = sum(len(answer.tokens) for answer in answers)
        self.reply(200, {
            "id": f"chatcmpl-{uuid.uuid4().hex}", "object": "chat.completion", "created": int(time.time()),
            "model": self.server.name,
            "choices": [{"index": number, "finish_reason": answer.finish, "logprobs": None,
                         "message": {"role": "assistant", "content": answerer.text(answer)}}
                        for number, answer in enumerate(answers)],
            "usage": {"prompt_tokens": prompt_tokens, "completion_tokens": count,
                      "total_tokens": prompt_tokens + count}})

    def refuse(self, refused: Refused, close: bool = False) -> None:
        self.close_connection = self.close_connection or close
        kind = "invalid_request_error" if refused.status < 500 else "server_error"
        code = "context_length_exceeded" if refused.status == 413 else None
        self.reply(refused.status, {"error": {"message": refused.message, "type": kind, "param": refused.parameter,
                                              "code": code}})

    def reply(self, status: int, value: Any) -> None:
        data = json.dumps(value).encode("utf-8")
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, address: tuple[str, int], answerer: Any, name: str):
        super().__init__(address, Handler)
        self.answerer, self.name, self.begun = answerer, name, int(time.time())


def make_server(folder: pathlib.Path, name: str = "", host: str = "127.0.0.1", port: int = 0, rows: int = 64,
                device: str = "") -> Server:
    """A server that is bound but does not serve yet. Raises BadInput for a folder that is no model."""
    from regraph_training.model_folder import check_model_folder, load_model, load_tokenizer
    check_model_folder(folder)
    import torch
    from regraph_training.answerer import Answerer
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    model = load_model(folder, "bfloat16" if device.startswith("cuda") else "float32", device)
    try:
        return Server((host, port), Answerer(model, load_tokenizer(folder), rows), name or folder.resolve().name)
    except OSError as error:
        raise BadInput(f"{host}:{port}: cannot listen: {error.strerror}; another --port?") from None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=pathlib.Path, help="the model's folder")
    parser.add_argument("--name", default="", help="how requests call it; default: the folder's name")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000, help="0: any free one")
    parser.add_argument("--port-file", type=pathlib.Path, help="file to write the port to once it listens")
    parser.add_argument("--rows", type=int, default=64, help="answers at once (%(default)s)")
    parser.add_argument("--device", default="", help="cuda, cpu, ...; default: the GPU if there is one")
    options = parser.parse_args()
    server = make_server(options.model, options.name, options.host, options.port, options.rows, options.device)
    print(f"http://{options.host}:{server.server_port}/v1 model {server.name}", flush=True)
    if options.port_file:
        options.port_file.write_text(f"{server.server_port}\n", encoding="utf-8")
    server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(run_main(main))
