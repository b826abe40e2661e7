"""What the tests share: the path of python/, whether the training packages are there, a fake reward server."""

import contextlib
import http.server
import importlib.util
import io
import json
import os
import pathlib
import sys
import threading
from unittest import mock

os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = ROOT / "python"
if str(PYTHON) not in sys.path:
    sys.path.insert(0, str(PYTHON))

TORCH_PACKAGES = ("torch", "transformers", "tokenizers", "safetensors")
TRL_PACKAGES = (*TORCH_PACKAGES, "trl", "datasets", "peft", "accelerate")


def lacking(packages):
    """Why tests that need these are skipped, or nothing."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    return f"not installed: {', '.join(missing)} (python/requirements.txt)" if missing else ""


def run_main(module, *arguments):
    """A script's main in this process, which has loaded torch already: (exit code, its lines)."""
    import importlib
    from regraph_training.errors import run_main as run
    out = io.StringIO()
    with mock.patch.object(sys, "argv", [f"{module}.py", *map(str, arguments)]), contextlib.redirect_stdout(out), \
            contextlib.redirect_stderr(out):
        code = run(importlib.import_module(module).main)
    return code, out.getvalue()


def one_thread():
    """Toy models are quickest so, and other tests may run beside."""
    import torch
    torch.set_num_threads(1)


def toy_preset(path, **changes):
    """presets/toy.json with changes by section, written to a file."""
    preset = json.loads((PYTHON / "presets" / "toy.json").read_text())
    for section, values in changes.items():
        if isinstance(values, dict):
            preset.setdefault(section, {}).update(values)
        else:
            preset[section] = values
    path.write_text(json.dumps(preset))
    return path


def write_rows(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def journal(folder, kind="step"):
    lines = [json.loads(line) for line in (folder / "training.jsonl").read_text().splitlines()]
    return [line for line in lines if line["kind"] == kind]


class FakeRewardServer:
    """Scores with a function item -> result, or answers with scripted (status, headers, body) first."""

    def __init__(self, score, script=()):
        self.score = score
        self.script = list(script)
        self.requests = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append((self.path, body))
                if outer.script:
                    status, headers, text = outer.script.pop(0)
                else:
                    results = [dict(outer.score(item), id=item["id"]) for item in body["items"]]
                    # Backwards: a client must go by the ids.
                    status, headers, text = 200, {}, json.dumps({"results": results[::-1]})
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
