"""Sizes for a manifest's tests at which an interpreter is soon done."""

from __future__ import annotations

import math
import re

from regraph_torch.kernels import Kernel

# Iterations of innermost loops, over all threads. A test runs with several inputs, and with each several times.
MOST_STEPS = 600_000
LEAST = 4  # an extent is not made smaller


def _value(text: str, sizes: dict[str, int]) -> int | None:
    """Of an expression of sizes as C has it; None where it asks for anything else."""
    if any(name not in sizes for name in re.findall(r"[A-Za-z_]\w*", text)) or not re.fullmatch(r"[\w\s+\-*/%()]+", text):
        return None
    return int(eval(text.replace("/", "//"), {"__builtins__": {}}, dict(sizes)))


def steps(kernels: list[Kernel], sizes: dict[str, int]) -> int:
    """How often the kernels' innermost loops run, about: each nest counts as one."""
    total = 0
    for kernel in kernels:
        trips = [_value(limit, sizes) for limit in re.findall(r"for \(\w[\w ]* (?:\w+) = 0; \w+ < ([^;]+);", kernel.text)]
        elements = math.prod(_value(extent.text, sizes) or 1 for extent in kernel.buffers[-1].shape)
        total += elements * math.prod(trip for trip in trips if trip is not None)
    return total


def _is_possible(kernels: list[Kernel], sizes: dict[str, int]) -> bool:
    extents = [_value(extent.text, sizes) for kernel in kernels for buffer in kernel.buffers for extent in buffer.shape]
    return all(extent is None or extent > 0 for extent in extents)


def soon_done(kernels: list[Kernel], sizes: dict[str, int]) -> dict[str, int]:
    """The sizes, with the largest ones halved while the kernels take too many steps; odd numbers stay odd."""
    fixed: set[str] = set()
    while steps(kernels, sizes) > MOST_STEPS:
        movable = [name for name, value in sizes.items() if value > LEAST and name not in fixed]
        if not movable:
            break
        name = max(movable, key=lambda one: sizes[one])
        less = max(LEAST, sizes[name] // 2 | sizes[name] % 2)
        smaller = {**sizes, name: less}
        if _is_possible(kernels, smaller) and steps(kernels, smaller) < steps(kernels, sizes):
            sizes = smaller
        else:
            fixed.add(name)
    return sizes
