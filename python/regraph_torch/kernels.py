"""Kernels in one clear style: a thread an element of the result, or a thread a row that loops over it."""

from __future__ import annotations

import dataclasses
import math
import re

from regraph_torch.anchors import Anchor, Reduction, Scan, Window
from regraph_torch.element_types import TYPES
from regraph_torch.errors import Refused
from regraph_torch.sizes import Size, product
from regraph_torch.values import Body, Buffer, Pointwise, Value, View, flat_index, unrounded

INDEX_NAMES = {1: ["i"], 2: ["row", "column"], 3: ["n", "row", "column"], 4: ["n", "c", "h", "w"], 5: ["n", "c", "d", "h", "w"]}
MOST_INT = 2**31 - 1
MOST_GRID = 65535


@dataclasses.dataclass
class Kernel:
    name: str
    buffers: list[Buffer]  # that it reads, then the one it writes
    symbols: list[str]
    text: str
    block: list[int]
    grid: list[str]


class KernelWriter:
    """Writes one kernel into `out`. `symbols` are all names of sizes."""

    def __init__(self, name: str, out: Buffer, symbols: list[str], inputs: list[Buffer]) -> None:
        self.name, self.out, self.symbols = name, out, symbols
        elements = max(math.prod(extent.values[0] for extent in one.shape) for one in [out, *inputs])
        self.body = Body("int" if elements <= MOST_INT else "long long")
        for taken in [*symbols, out.name, *(one.name for one in inputs)]:
            self.body.names[0].add(taken)
        self.block: list[int] = [1]
        self.grid: list[str] = ["1"]

    def total(self, value: Value, threads: int) -> Kernel:
        """One block for the one element: its threads, a power of two, reduce together."""
        self.block, self.body.together = [threads], threads
        text = value.load(self.body, tuple("0" for _ in value.shape))
        self.body.open("threadIdx.x == 0")
        self._store("0", text)
        return self._finished()

    def elements(self, value: Value) -> Kernel:
        """A thread an element."""
        if _is_flat(value, value.shape) and len([one for one in value.shape if not one.is_one]) > 1:
            count = len(value.shape[0].values)
            total = product(value.shape, count)
            index = self._threads([total], ["i"])
            text = _load_flat(value, self.body, index[0])
            self._store(index[0], text)
        elif isinstance(whole := unrounded(value), Reduction) and _is_of_rows(whole):
            rows = _as_rows(whole)
            index = self._threads([rows.shape[0]], ["row"])
            text = rows.load(self.body, index)
            self._store(index[0], text)
        else:
            index = self._threads(list(value.shape), _names(len(value.shape)), sums_channels=_sums_channels(value))
            text = value.load(self.body, index)
            self._store(self._place(index), text)
        return self._finished()

    def rows(self, value: Value, axes: list[int], anchors: list[Value]) -> Kernel:
        """A thread a row: the dimensions `axes` are loops, after the reductions over them."""
        names = _names(len(value.shape))
        threads = [one for k, one in enumerate(value.shape) if k not in axes]
        found = iter(self._threads(threads, [name for k, name in enumerate(names) if k not in axes]))
        index = [("0" if k in axes else next(found)) for k in range(len(value.shape))]
        for anchor in anchors:
            kept = tuple(index) if anchor.keep else tuple(one for k, one in enumerate(index) if k not in axes)
            anchor.load(self.body, kept)
        for axis in axes:
            index[axis] = self.body.loop(names[axis], value.shape[axis])
        text = value.load(self.body, tuple(index))
        self._store(self._place(tuple(index)), text)
        for axis in reversed(axes):
            self.body.close(index[axis])
        return self._finished()

    def scan(self, value: Value, scan: Scan) -> Kernel:
        """A thread a row, in order."""
        names = _names(len(scan.shape))
        threads = [one for k, one in enumerate(scan.shape) if k != scan.axis]
        found = iter(self._threads(threads, [name for k, name in enumerate(names) if k != scan.axis]))
        index = [("" if k == scan.axis else next(found)) for k in range(len(scan.shape))]
        running = self.body.name("running")
        self.body.add(f"float {running} = {'0.0f' if scan.kind == 'sum' else '1.0f'};")
        index[scan.axis] = self.body.loop(names[scan.axis], scan.shape[scan.axis])
        self.body.add(f"{running} {'+' if scan.kind == 'sum' else '*'}= {scan.operands[0].load(self.body, tuple(index))};")
        place = _result_index(value, scan, tuple(index))
        self.body.remember((id(scan), tuple(index)), running)
        text = value.load(self.body, place)
        self._store(self._place(place), text)
        self.body.close(index[scan.axis])
        return self._finished()

    def _store(self, place: str, text: str) -> None:
        self.body.add(f"{self.out.name}[{place}] = {TYPES[self.out.type].stored(text)};")

    def _place(self, index: tuple[str, ...]) -> str:
        return flat_index(self.body, self.out.shape if len(self.out.shape) == len(index) else (), index)

    def _threads(self, extents: list[Size], names: list[str], sums_channels: bool = False) -> tuple[str, ...]:
        """The index of the thread in these extents: the last along x, the one before along y, the rest along z. Where a
        result sums over all channels of its input, blocks that follow each other are of one place, for other channels."""
        present = [k for k, one in enumerate(extents) if not one.is_one]
        if not present:
            return tuple("0" for _ in extents)
        count = len(extents[0].values)
        used = {k: self.body.name(names[k]) for k in present}
        inner, middle = present[-1], (present[-2] if len(present) > 1 else None)
        outer = present[:-2]
        depth = product([extents[k] for k in outer], count)
        self.block = [256] if middle is None else [32, 8]
        if middle is not None and (extents[middle].values[0] > MOST_GRID * 8 or max(depth.values) > MOST_GRID):
            return self._flat_threads(extents, present, used, count)
        kind = self.body.index_type
        self.body.add(f"{kind} {used[inner]} = blockIdx.x * blockDim.x + threadIdx.x;")
        self.grid = [f"cdiv({extents[inner].text}, bx)"]
        guard = [f"{used[inner]} < {extents[inner].text}"]
        if middle is not None:
            self.body.add(f"{kind} {used[middle]} = blockIdx.y * blockDim.y + threadIdx.y;")
            self.grid.append(f"cdiv({extents[middle].text}, by)")
            guard.insert(0, f"{used[middle]} < {extents[middle].text}")
        if outer:
            self.grid.append(depth.text)
            by_place = sums_channels and len(outer) == 3
            self._split("blockIdx.z", [outer[0], outer[2], outer[1]] if by_place else outer, extents, used, count)
        self.body.open(" && ".join(guard))
        return tuple(used.get(k, "0") for k in range(len(extents)))

    def _flat_threads(self, extents: list[Size], present: list[int], used: dict[int, str], count: int) -> tuple[str, ...]:
        total = product([extents[k] for k in present], count)
        flat = self.body.name("thread")
        self.block, self.grid = [256], [f"cdiv({total.text}, bx)"]
        self.body.add(f"{self.body.index_type} {flat} = blockIdx.x * blockDim.x + threadIdx.x;")
        self.body.open(f"{flat} < {total.text}")
        self._split(flat, present, extents, used, count)
        return tuple(used.get(k, "0") for k in range(len(extents)))

    def _split(self, flat: str, axes: list[int], extents: list[Size], used: dict[int, str], count: int) -> None:
        """Declares the indices along `axes` of a flat one."""
        for position, axis in enumerate(axes):
            inner = product([extents[k] for k in axes[position + 1:]], count)
            text = flat if inner.is_one else f"{flat} / {inner.grouped()}"
            if position > 0:
                text = f"{text} % {extents[axis].grouped()}"
            self.body.add(f"{self.body.index_type} {used[axis]} = {text};")

    def _finished(self) -> Kernel:
        body = self.body
        while body.depth > 1:
            body.close_condition()
        text = "\n".join(body.lines)
        words = set(re.findall(r"[A-Za-z_]\w*", text))
        symbols = [name for name in self.symbols if name in words]
        kind = body.index_type
        parameters = [f"const {TYPES[one.type].c_type}* {one.name}" for one in body.buffers]
        parameters += [f"{TYPES[self.out.type].c_type}* {self.out.name}"]
        parameters += [f"{kind} {name}" for name in symbols]
        head = f"__global__ void {self.name}({', '.join(parameters)}) {{"
        return Kernel(self.name, [*body.buffers, self.out], symbols, f"{_wrapped(head)}\n{text}\n}}\n", self.block, self.grid)


def _wrapped(head: str) -> str:
    if len(head) <= 100:
        return head
    start, rest = head.split("(", 1)
    lines, line = [], f"{start}("
    for part in rest.split(", "):
        if len(line) + len(part) > 96:
            lines.append(line.rstrip())
            line = " " * (len(start) + 1)
        line += part + ("" if part.endswith("{") else ", ")
    return "\n".join([*lines, line])


def _names(rank: int) -> list[str]:
    return INDEX_NAMES.get(rank, [f"i{k}" for k in range(rank)])


def _sums_channels(value: Value) -> bool:
    return any(isinstance(one, Window) and one.mode in ("plain", "transposed") for one in value.anchors())


def _is_flat(value: Value, shape: tuple[Size, ...]) -> bool:
    """Whether element i of the result is made of element i of every operand, in row-major order."""
    if isinstance(value, Pointwise):
        return not value.needs_index and all(_is_flat(one, shape) for one in value.operands)
    if isinstance(value, Buffer):
        return all(one.is_one for one in value.shape) or [one.text for one in value.shape] == [one.text for one in shape]
    if isinstance(value, Anchor) and isinstance(value.kept, Buffer):
        return all(one.is_one for one in value.kept.shape)
    return not isinstance(value, (View, Anchor)) and value.shape == () and not value.anchors()


def _load_flat(value: Value, body: Body, index: str) -> str:
    """The element, with all buffers taken as rows of one dimension."""
    total = {}
    pending, buffers = [value], []
    while pending:
        one = pending.pop()
        pending += getattr(one, "operands", [])
        if isinstance(one, Buffer) and one not in buffers and not all(extent.is_one for extent in one.shape):
            buffers.append(one)
    whole = product(value.shape, len(value.shape[0].values))
    pointwise: list[Value] = [value]
    for one in buffers:
        total[id(one)], one.shape = one.shape, (whole,)
    pending = [value]
    shapes = {}
    while pending:
        one = pending.pop()
        if isinstance(one, Pointwise) and id(one) not in shapes:
            shapes[id(one)] = (one, one.shape)
            one.shape = (whole,) if one.shape else ()
            pending += one.operands
    text = pointwise[0].load(body, (index,))
    for one in buffers:
        one.shape = total[id(one)]
    for one, shape in shapes.values():
        one.shape = shape
    return text


def _is_of_rows(value: Reduction) -> bool:
    """Whether it is over the last dimension of elements that lie side by side, and not by place."""
    last = len(value.operand.shape) - 1
    kept = [one for one in value.operand.shape[:last] if not one.is_one]
    return value.axes == [last] and not value.keep and not value.kind.startswith("arg") and len(kept) > 1 and \
        _is_flat(value.operand, value.operand.shape)


class _Rows(Value):
    """Elements that lie side by side, as rows."""

    def __init__(self, base: Value) -> None:
        rows = product(base.shape[:-1], len(base.shape[0].values))
        super().__init__(base.type, (rows, base.shape[-1]))
        self.base = base

    def load(self, body: Body, index: tuple[str, ...]) -> str:
        return _load_flat(self.base, body, flat_index(body, self.shape, index))


def _as_rows(value: Reduction) -> Reduction:
    rows = _Rows(value.operand)
    return Reduction(value.title, value.kind, rows, [1], False, rows.shape[:1])


class _Probe(Value):
    """Stands for an operator, and remembers at which index it was asked."""

    def __init__(self, like: Value) -> None:
        super().__init__(like.type, like.shape)
        self.asked: set[tuple[str, ...]] = set()

    def load(self, body: Body, index: tuple[str, ...]) -> str:
        self.asked.add(index)
        return "probe"


def _result_index(value: Value, scan: Scan, index: tuple[str, ...]) -> tuple[str, ...]:
    """Where the result has what is made of the scan's element `index`."""

    def asked_for(at: tuple[str, ...]) -> tuple[str, ...]:
        probe = _Probe(scan)
        scan.kept = probe
        try:
            value.load(Body(), at)
        finally:
            scan.kept = None
        if len(probe.asked) != 1:
            raise Refused(f"{scan.title}, then an operator that takes several of its elements")
        return next(iter(probe.asked))

    if len(value.shape) != len(scan.shape):
        raise Refused(f"{scan.title}, then an operator of another shape")
    place = asked_for(index)
    if place == index or asked_for(place) == index:
        return place
    raise Refused(f"{scan.title}, then an operator that moves its elements")
