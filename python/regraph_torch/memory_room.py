"""Work side by side as far as memory goes."""

from __future__ import annotations

import concurrent.futures
import pathlib
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

# Measured for an element-wise kernel of 12.9 GB in and out: 57 GB on the GPU and 32 GB here at once, while results are compared. An original whose sums
# err is run in double precision beside it, on buffers twice as large.
GPU_TIMES, HOST_TIMES = 4.5 + 2.0, 2.6
USED_AT_MOST = 0.9  # of what is free
# Of any problem, however small: half a gigabyte for each of three processes on the GPU, and PyTorch with what its libraries set aside.
FIXED_BYTES = 1 << 29


def bytes_of(manifest: str) -> int:
    """Of a lowered kernel's buffers at the bench size, from the manifest that was written beside it; 0: it does not say."""
    counters = re.search(r'^counters: \{bytes: "([\w\s*+\-/()]+)"\}', manifest, flags=re.M)
    if counters is None:
        return 0
    sizes = re.search(r"^sizes: \{(.*)\}", manifest, flags=re.M)
    values = {name: int(value) for name, value in re.findall(r"(\w+): (\d+)", sizes[1] if sizes else "")}
    try:
        return int(eval(counters[1].replace("/", "//"), {"__builtins__": {}}, values))  # noqa: S307  (numbers, names and operators only)
    except (ArithmeticError, NameError, SyntaxError, TypeError):
        return 0


def free_here() -> int:
    """Bytes of memory that processes may still take, on this machine and in this container."""
    free = re.search(r"^MemAvailable:\s+(\d+) kB", pathlib.Path("/proc/meminfo").read_text(encoding="ascii"), flags=re.M)
    known = [int(free[1]) << 10] if free else []
    try:
        limit = pathlib.Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii").strip()
        used = int(pathlib.Path("/sys/fs/cgroup/memory.current").read_text(encoding="ascii"))
        known += [int(limit) - used] if limit.isdigit() else []
    except OSError:
        pass
    return min(known, default=0)


def side_by_side(works: list[Any], needs: list[int], room: float, jobs: int, call: Callable[[Any], None]) -> Iterator[Any]:
    """Calls `call(work)` for all works, at most `jobs` at a time and no more together than `room` bytes by what each of them `needs`;
    what needs more than that goes alone. The first that fits goes next. Yields works as they end, and raises what a call raised."""
    waiting = list(zip(works, needs))
    taken = [0]  # by each call that runs
    changed = threading.Condition()

    def next_work() -> tuple[Any, int] | None:
        with changed:
            while waiting:
                for index, (_, need) in enumerate(waiting):
                    if len(taken) == 1 or sum(taken) + need <= room:
                        taken.append(need)
                        return waiting.pop(index)
                changed.wait()
            return None

    def one(_: int) -> Any:
        if (chosen := next_work()) is None:
            return None
        work, need = chosen
        try:
            call(work)
        finally:
            with changed:
                taken.remove(need)
                changed.notify_all()
        return work

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for ended in concurrent.futures.as_completed([pool.submit(one, index) for index in range(len(works))]):
            yield ended.result()
