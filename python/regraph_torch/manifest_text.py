"""The manifest beside a lowered kernel (docs/manifest.md)."""

from __future__ import annotations

from regraph_torch.element_types import TYPES, size_of
from regraph_torch.kernels import Kernel
from regraph_torch.sizes import product
from regraph_torch.short_tests import soon_done
from regraph_torch.values import Buffer


def _shape(buffer: Buffer) -> str:
    extents = [one.text for one in buffer.shape] or ["1"]
    return "[" + ", ".join(text if text.isidentifier() or text.isdigit() else f'"{text}"' for text in extents) + "]"


def _map(sizes: dict[str, int]) -> str:
    return "{" + ", ".join(f"{name}: {value}" for name, value in sizes.items()) + "}"


def _launch(kernel: Kernel) -> str:
    block = kernel.block[0] if len(kernel.block) == 1 else f"[{', '.join(map(str, kernel.block))}]"
    grid = ", ".join(f'"{one}"' for one in kernel.grid)
    return f"block: {block}, grid: [{grid}]"


def _bytes(buffers: list[Buffer], count: int) -> str:
    terms = []
    for one in buffers:
        size = product(one.shape, count)
        terms.append(f"{size_of(one.type)}*{size.grouped()}" if one.shape else str(size_of(one.type)))
    return " + ".join(terms)


def manifest_text(kernels: list[Kernel], inputs: list[Buffer], out: Buffer, scratch: list[Buffer], inits: dict[str, str],
                  sizes: list[dict[str, int]], count: int) -> str:
    """`sizes` are of the bench size, then of each test, which may become smaller (short_tests.py)."""
    lines = []
    if len(kernels) > 1:
        lines.append(f"kernel: {kernels[0].name}")
    if sizes[0]:
        lines.append(f"sizes: {_map(sizes[0])}")
    lines.append("args:")
    for one in inputs:
        init = f', init: "{inits[one.name]}"' if inits.get(one.name) else ""
        lines.append(f"  {one.name}: {{dir: in, shape: {_shape(one)}{init}}}")
    lines.append(f"  {out.name}: {{dir: out, shape: {_shape(out)}}}")
    if scratch:
        lines.append("scratch:")
        lines += [f"  {one.name}: {{type: {TYPES[one.type].c_type}, shape: {_shape(one)}}}" for one in scratch]
    if len(kernels) == 1:
        lines.append(f"launch: {{{_launch(kernels[0])}}}")
    else:
        lines.append("launches:")
        lines += [f"  - {{kernel: {kernel.name}, {_launch(kernel)}}}" for kernel in kernels]
    smaller = [soon_done(kernels, one) for one in sizes[1:]]
    tests = [one for k, one in enumerate(smaller) if one and one not in smaller[:k]]
    if tests:
        lines.append("tests:")
        lines += [f"  - {_map(one)}" for one in tests]
    lines.append("assume: {noalias: true, reassociate: true}")
    lines.append(f'counters: {{bytes: "{_bytes([*inputs, out], count)}"}}')
    return "\n".join(lines) + "\n"
