"""Times of PyTorch on a GPU, eager and compiled, by a child in the way in which regraph-search times kernels."""

from __future__ import annotations

import pathlib
import subprocess
import sys
import tempfile
from typing import Any

from regraph_torch import child
from regraph_torch.errors import Lacking


def need_gpu() -> int:
    """Bytes that are free on the GPU. Lacking: PyTorch sees no GPU."""
    code = "import torch; print(torch.cuda.mem_get_info()[0] if torch.cuda.is_available() else 0)"
    probe = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    free = int(probe.stdout) if probe.stdout.strip().isdigit() else 0
    if not free:
        raise Lacking("--measure needs a GPU that PyTorch can use; without --measure times are predicted")
    return free


def pytorch_times(path: pathlib.Path, folder: pathlib.Path, mode: str, type_name: str, limits: child.Limits) -> dict[str, Any]:
    """{"eager": {"seconds", "low", "high", "samples"}, "compiled": ...}, or {"trouble": ...}."""
    request = {"source": path.read_text(encoding="utf-8"), "mode": mode, "dtype": type_name, "temporary": tempfile.gettempdir()}
    answer = child.ask("measure_child", request, folder, limits, gpu=True)
    return answer.content if answer.content is not None else {"trouble": answer.trouble}
