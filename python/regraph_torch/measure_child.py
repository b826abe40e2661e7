"""In a child with a GPU: how long a problem's model takes, eager and compiled. Needs torch."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import pathlib
import re
import statistics
import sys
from collections.abc import Callable, Iterator
from typing import Any

WARM_UPS = 3
MOST_SAMPLES, FEWEST_SAMPLES = 200, 5
GPU_SECONDS = 0.6


def main() -> None:
    request = json.load(sys.stdin)
    from regraph_torch.confine import confine
    confined = confine(request["folder"], request["memory_bytes"], request["seconds"], devices=True, wanted=request["confine"])
    import torch
    from regraph_torch.trace_child import build, in_type, load
    # fp32 products as fp32, as the kernels compute them.
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.manual_seed(1)
    answer: dict[str, Any] = {"gpu": torch.cuda.get_device_name(0), "torch": torch.__version__, "confined": confined}
    try:
        names = load(request["source"])
        model = build(names, request["mode"], request["dtype"]).cuda()
        inputs = [in_type(one, request["dtype"]).cuda() if isinstance(one, torch.Tensor) else one for one in names["get_inputs"]()]
        compiled = torch.compile(model)
        with torch.no_grad():
            for call in (model, compiled):
                for _ in range(WARM_UPS):
                    call(*inputs)
            with reserved(pathlib.Path(request["temporary"])):
                answer["eager"] = timed(lambda: model(*inputs))
                answer["compiled"] = timed(lambda: compiled(*inputs))
    except Exception as error:  # noqa: BLE001  (whatever the problem's source raises)
        answer["trouble"] = f"{type(error).__name__}: {str(error)[:300]}"
    pathlib.Path(request["folder"], "answer.json").write_text(json.dumps(answer))
    sys.stdout.flush()
    os._exit(0)


@contextlib.contextmanager
def reserved(folder: pathlib.Path) -> Iterator[None]:
    """The GPU for this process alone, as far as ReGraph's programs are concerned: the locks of src/eval/gpu/gpu_reservation.h, which
    whoever searched on this GPU has made. Nothing is locked where they are missing."""
    cuda, device, bus_id = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(), ctypes.create_string_buffer(64)
    cuda.cuDeviceGet(ctypes.byref(device), 0)
    cuda.cuDeviceGetPCIBusId(bus_id, 64, device)
    path = folder / ("regraph-gpu-" + re.sub("[^0-9A-Za-z]", "-", bus_id.value.decode()))
    with contextlib.ExitStack() as stack:
        files = []
        for one in (f"{path}.next", str(path)):
            with contextlib.suppress(OSError):
                files.append(stack.enter_context(open(one, "rb")))
                fcntl.flock(files[-1], fcntl.LOCK_EX)
        if len(files) == 2:
            fcntl.flock(files[0], fcntl.LOCK_UN)
        yield


def timed(call: Callable[[], Any]) -> dict[str, Any]:
    """Median seconds with a swept L2: events around the call, after reading twice the L2's size."""
    import torch
    for _ in range(WARM_UPS):
        call()
    torch.cuda.synchronize()
    l2 = torch.cuda.get_device_properties(0).L2_cache_size
    sweep = torch.empty(max(2 * l2, 64 << 20) // 4, dtype=torch.float32, device="cuda").normal_()
    samples: list[float] = []
    while len(samples) < FEWEST_SAMPLES or (len(samples) < MOST_SAMPLES and sum(samples) < GPU_SECONDS):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        sweep.sum()
        begin.record()
        call()
        end.record()
        end.synchronize()
        samples.append(begin.elapsed_time(end) / 1e3)
    samples.sort()
    return {"seconds": statistics.median(samples), "low": samples[0], "high": samples[(3 * len(samples)) // 4], "samples": len(samples)}
