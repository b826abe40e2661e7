"""Starts a Python child for one request in a folder of its own, with limits, and reads its answer."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
from typing import Any

from regraph_torch import confine

PACKAGE = pathlib.Path(__file__).resolve().parent
MOST_ANSWER_BYTES = 64 << 20


@dataclasses.dataclass(frozen=True)
class Limits:
    seconds: int = 180
    memory_gib: float = 8.0


@dataclasses.dataclass(frozen=True)
class Answer:
    """`content` is what the child wrote, None where it did not come so far; `trouble` says why."""
    content: dict[str, Any] | None
    trouble: str = ""


# In a child: confined so, can the driver start?
PROBE = """import sys, ctypes; sys.path.insert(0, sys.argv[1]); from regraph_torch.confine import confine
confine(sys.argv[2], 0, 60, devices=True, wanted=sys.argv[3:])
count, cuda = ctypes.c_int(), ctypes.CDLL("libcuda.so.1")
sys.exit(cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count)))"""


@functools.cache
def gpu_confinement() -> tuple[str, ...]:
    """What a child that uses the GPU can give up: some systems let no driver start in a namespace of its own, say."""
    for wanted in (confine.KINDS, ("files",), ("network",)):
        with tempfile.TemporaryDirectory(prefix="regraph-probe-") as folder:
            try:
                probe = subprocess.run([sys.executable, "-c", PROBE, str(PACKAGE.parent), folder, *wanted], capture_output=True, timeout=60, check=False)
            except subprocess.TimeoutExpired:
                continue
        if probe.returncode == 0:
            return tuple(wanted)
    return ()


def ask(worker: str, request: dict[str, Any], folder: pathlib.Path, limits: Limits, gpu: bool = False) -> Answer:
    """Runs the module regraph_torch/<worker>.py on the request; files that it writes are in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    answer = folder / "answer.json"
    answer.unlink(missing_ok=True)
    whole = {**request, "folder": str(folder.resolve()), "seconds": limits.seconds, "memory_bytes": int(limits.memory_gib * 2**30), "gpu": gpu,
             "confine": gpu_confinement() if gpu else confine.KINDS}
    environment = {"PATH": os.environ.get("PATH", ""), "HOME": str(folder.resolve()), "TMPDIR": str(folder.resolve()), "LC_ALL": "C.UTF-8",
                   "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    if gpu:
        kept = ("CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH")
        environment.update({name: os.environ[name] for name in kept if name in os.environ})
        environment["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # no pool of processes that outlives this one
    else:
        environment["CUDA_VISIBLE_DEVICES"] = ""
    program = f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r}); from regraph_torch.{worker} import main; main()"
    with open(folder / "log.txt", "wb") as log:
        child = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=log, stderr=log, cwd=folder, env=environment,
                                 start_new_session=True)
        try:
            child.communicate(json.dumps(whole).encode(), timeout=limits.seconds)
            ended = ""
        except subprocess.TimeoutExpired:
            ended = f"it takes more than {limits.seconds} s"
        except BrokenPipeError:
            ended = ""
        finally:
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            code = child.wait()
    if ended:
        return Answer(None, ended)
    if not answer.is_file() or answer.stat().st_size > MOST_ANSWER_BYTES:
        return Answer(None, f"its process ended with {_ending(code)}: {_last_line(folder / 'log.txt')}")
    try:
        content = json.loads(answer.read_text(encoding="utf-8"))
    except ValueError:
        content = None
    if not isinstance(content, dict):
        return Answer(None, "its process left an answer that cannot be read")
    return Answer(content, str(content.get("trouble", ""))[:500])


def _ending(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 and -code in signal.valid_signals() else f"exit code {code}"


def _last_line(path: pathlib.Path) -> str:
    lines = path.read_bytes()[-4096:].decode("utf-8", "replace").strip().splitlines()
    return "".join(c for c in (lines[-1] if lines else "it said nothing") if c.isprintable())[:300]
