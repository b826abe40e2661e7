"""Operators that compute an element from many: contractions, windows, reductions, scans.

Each is a Value whose load writes a loop. An element does not depend on how others are computed, except of a scan.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable

from regraph_torch.errors import Refused
from regraph_torch.element_types import TYPES
from regraph_torch.sizes import Size, product
from regraph_torch.values import Body, Value, broadcast, merged_anchors


class Anchor(Value):
    """`title` names the operator for people."""

    def __init__(self, title: str, type_name: str, shape: tuple[Size, ...], operands: list[Value]) -> None:
        super().__init__(type_name, shape)
        self.title, self.operands = title, operands
        self.kept: Value | None = None  # what an earlier kernel left of it

    def anchors(self) -> list[Value]:
        return [] if self.kept is not None else [*merged_anchors(self.operands), self]

    def load(self, body: Body, index: tuple[str, ...]) -> str:
        if self.kept is not None:
            return self.kept.load(body, broadcast(self.kept, index))
        found = body.find((id(self), index))
        if found is None:
            found = self.compute(body, index)
            body.remember((id(self), index), found)
        return found

    def compute(self, body: Body, index: tuple[str, ...]) -> str:
        raise NotImplementedError


class Contraction(Anchor):
    """A sum of products: dimensions of both operands and the result have letters, and letters that the result lacks are
    summed over."""

    def __init__(self, title: str, left: Value, right: Value, letters: tuple[str, str, str], extents: dict[str, Size]) -> None:
        super().__init__(title, "float32", tuple(extents[one] for one in letters[2]), [left, right])
        self.letters, self.extents = letters, extents

    def compute(self, body: Body, index: tuple[str, ...]) -> str:
        at = dict(zip(self.letters[2], index))
        total = body.name("sum")
        body.add(f"float {total} = 0.0f;")
        summed = [one for one in dict.fromkeys(self.letters[0] + self.letters[1]) if one not in self.letters[2]]
        counters = []
        for one in summed:
            at[one] = body.loop("k" if len(summed) == 1 else f"k{len(counters)}", self.extents[one])
            counters.append(at[one])
        texts = [operand.load(body, tuple("0" if extent.is_one else at[one] for one, extent in zip(letters, operand.shape)))
                 for operand, letters in zip(self.operands, self.letters)]
        body.add(f"{total} += {' * '.join(texts)};")
        for counter in reversed(counters):
            body.close(counter)
        return total


@dataclasses.dataclass(frozen=True)
class Axis:
    """One spatial dimension of a window: result at o, tap at k, so the operand at o * stride - padding + k * dilation; of a
    transposed convolution the operand is where stride divides o + padding - k * dilation."""
    extent: Size  # of the operand
    taps: Size
    stride: int
    padding: int
    dilation: int
    padded_end: bool = True  # taps may lie beyond the end


def _moved(index: str, factor: int, offset: int) -> str:
    text = index if factor == 1 else ("0" if index == "0" else f"{index} * {factor}")
    if offset:
        text = f"{text} {'+' if offset > 0 else '-'} {abs(offset)}" if text != "0" else str(offset)
    return text


def _sum_text(text: str, more: str) -> str:
    if more == "0":
        return text
    return more if text == "0" else f"{text} + {more}"


class Window(Anchor):
    """Convolutions and pools. `lead` says how many operand channels a result takes (None: a pool, its own), and
    `finish` what is made of the accumulator."""

    AXES = "dhw"

    def __init__(self, title: str, operands: list[Value], shape: tuple[Size, ...], axes: list[Axis], mode: str,
                 groups: int | str = 1, count_padding: bool = True, divisor: int | None = None) -> None:
        super().__init__(title, "float32", shape, operands)
        self.axes, self.mode, self.groups = axes, mode, groups
        self.count_padding, self.divisor = count_padding, divisor

    def _position(self, body: Body, name: str, axis: Axis, at: str, tap: str) -> tuple[str, list[str]]:
        """The operand's index, and what must hold for it to exist."""
        if self.mode != "transposed":
            moved = "0" if tap == "0" else _moved(tap, axis.dilation, 0)
            text = _sum_text(_moved(at, axis.stride, -axis.padding), moved)
            checks = ["{0} >= 0"] if axis.padding else []
            if axis.padding or axis.padded_end:
                body.note(axis.extent)
                checks.append(f"{{0}} < {axis.extent.text}")
            if not checks:
                return text, []
            variable = body.let((id(self), name, text), f"in_{name}", body.index_type, text)
            return variable, [one.format(variable) for one in checks]
        text = _moved(at, 1, axis.padding)
        if tap != "0":
            text = f"{text} - {_moved(tap, axis.dilation, 0)}"
        shifted = body.let((id(self), name, text), f"shifted_{name}", body.index_type, text)
        body.note(axis.extent)
        checks = [f"{shifted} >= 0"]
        place = shifted
        if axis.stride > 1:
            checks.append(f"{shifted} % {axis.stride} == 0")
            place = f"{shifted} / {axis.stride}"
        checks.append(f"{place} < {axis.extent.text}")
        return place, checks

    def compute(self, body: Body, index: tuple[str, ...]) -> str:
        names = self.AXES[len(self.AXES) - len(self.axes):]
        total = body.name("largest" if self.mode == "max" else "sum")
        body.add(f"float {total} = {'-INFINITY' if self.mode == 'max' else '0.0f'};")
        counts = self.mode == "average" and not self.count_padding and any(axis.padding for axis in self.axes)
        terms = body.name("terms") if counts else ""
        if counts:
            body.add(f"int {terms} = 0;")
        channel, counters = self._channels(body, index)
        taps = []
        for name, axis in zip(names, self.axes):
            taps.append(body.loop(f"k{name}", axis.taps))
        places, checks = [], []
        for name, axis, at, tap in zip(names, self.axes, index[2:], taps):
            place, needed = self._position(body, name, axis, at, tap)
            places.append(place)
            checks += needed
        if checks:
            body.open(" && ".join(checks))
        self._accumulate(body, total, index, channel, tuple(places), tuple(taps))
        if counts:
            body.add(f"++{terms};")
        if checks:
            body.close_condition()
        for counter in reversed(taps):
            body.close(counter)
        for counter in reversed(counters):
            body.close(counter)
        if self.mode == "average":
            taken = product([axis.taps for axis in self.axes], len(self.shape[0].values)).text
            divisor = terms if counts else f"{self.divisor or taken}.0f"
            return f"{total} / {divisor}"
        return total

    def _channels(self, body: Body, index: tuple[str, ...]) -> tuple[tuple[str, str, str], list[str]]:
        """(channel of the input, first and second index of the weight), and the loop over channels, if there is one."""
        if self.mode in ("max", "average"):
            return (index[1], "", ""), []
        weight = self.operands[1]
        if self.mode == "plain":
            counter = body.loop("channel", weight.shape[1])
            if self.groups == 1:
                return (counter, index[1], counter), [counter]
            groups = self.operands[0].shape[1].values[0] if self.groups == "each" else self.groups
            each = self.shape[1].values[0] // groups
            if self.groups == "each" and any(out != each * own for out, own in zip(self.shape[1].values, self.operands[0].shape[1].values)):
                raise Refused(f"{self.title} whose channels a group depend on the size")
            group = index[1] if each == 1 else f"{index[1]} / {each if self.groups == 'each' else _group_size(self.shape[1], self.groups)}"
            if weight.shape[1].is_one:
                return (group, index[1], "0"), [counter]
            body.note(weight.shape[1])
            group = f"({group})" if " " in group else group
            return (f"{group} * {weight.shape[1].grouped()} + {counter}", index[1], counter), [counter]
        inputs = self.operands[0].shape[1]
        if self.groups == 1:
            counter = body.loop("channel", inputs)
            return (counter, counter, index[1]), [counter]
        body.note(weight.shape[1])
        own = Size(_group_size(inputs, self.groups), tuple(value // self.groups for value in inputs.values))
        counter = body.loop("channel", own if own.values[0] > 1 else Size("1", own.values))
        from_group = f"{index[1]} / {weight.shape[1].grouped()} * {own.grouped()}" if not weight.shape[1].is_one else index[1]
        place = body.let((id(self), "channel", counter), "source", body.index_type, _sum_text(from_group, counter))
        inner = "0" if weight.shape[1].is_one else f"{index[1]} % {weight.shape[1].grouped()}"
        return (place, place, inner), [counter]

    def _accumulate(self, body: Body, total: str, index: tuple[str, ...], channel: tuple[str, str, str], places: tuple[str, ...],
                    taps: tuple[str, ...]) -> None:
        source = self.operands[0].load(body, (index[0], channel[0], *(_grouped(one) for one in places)))
        if self.mode == "max":
            body.add(f"{total} = fmaxf({total}, {source});")
        elif self.mode == "average":
            body.add(f"{total} += {source};")
        else:
            body.add(f"{total} += {source} * {self.operands[1].load(body, (channel[1], channel[2], *taps))};")


def _grouped(text: str) -> str:
    return f"({text})" if re.search(r" [/%] ", text) else text


def _group_size(extent: Size, groups: int) -> str:
    if extent.constant is not None:
        return str(extent.constant // groups)
    return f"({extent.grouped()} / {groups})"


@dataclasses.dataclass(frozen=True)
class Reducer:
    """How a reduction goes: start, one term (accumulator and element to statement), and what is made of the result."""
    variable: str
    start: str
    step: Callable[[str, str], str]
    finish: Callable[[str, Size], str]


def _mean(total: str, extent: Size) -> str:
    return f"{total} / {extent.text}.0f" if extent.constant is not None else f"{total} / (float)({extent.text})"


REDUCERS: dict[str, Reducer] = {
    "sum": Reducer("sum", "0.0f", lambda acc, x: f"{acc} += {x};", lambda acc, extent: acc),
    "mean": Reducer("sum", "0.0f", lambda acc, x: f"{acc} += {x};", _mean),
    "prod": Reducer("product", "1.0f", lambda acc, x: f"{acc} *= {x};", lambda acc, extent: acc),
    "max": Reducer("largest", "-INFINITY", lambda acc, x: f"{acc} = fmaxf({acc}, {x});", lambda acc, extent: acc),
    "min": Reducer("smallest", "INFINITY", lambda acc, x: f"{acc} = fminf({acc}, {x});", lambda acc, extent: acc),
    "norm": Reducer("squares", "0.0f", lambda acc, x: f"{acc} += {x};", lambda acc, extent: f"sqrtf({acc})"),
}


class Reduction(Anchor):
    """Over dimensions `axes` of the operand. The result keeps the others, and with `keep` those as extents of one.
    `kind` is one of REDUCERS, or argmax or argmin over one dimension."""

    def __init__(self, title: str, kind: str, operand: Value, axes: list[int], keep: bool, shape: tuple[Size, ...]) -> None:
        super().__init__(title, "int64" if kind.startswith("arg") else "float32", shape, [operand])
        self.kind, self.axes, self.keep = kind, axes, keep

    @property
    def operand(self) -> Value:
        return self.operands[0]

    def operand_index(self, index: tuple[str, ...], inner: dict[int, str]) -> tuple[str, ...]:
        rest = iter(index)
        result = []
        for k in range(len(self.operand.shape)):
            if k in self.axes:
                result.append(inner[k])
                if self.keep:
                    next(rest)
            else:
                result.append(next(rest))
        return tuple(result)

    def compute(self, body: Body, index: tuple[str, ...]) -> str:
        if self.kind.startswith("arg"):
            return self._place(body, index)
        reducer = REDUCERS[self.kind]
        total = body.name(reducer.variable)
        body.add(f"float {total} = {reducer.start};")
        # One dimension of it: a block that works together takes every so-manyth element.
        together = body.together if sum(not self.operand.shape[axis].is_one for axis in self.axes) == 1 else 0
        spread = {"first": "threadIdx.x", "step": str(together)} if together else {}
        inner = {axis: body.loop("j", self.operand.shape[axis], **spread) for axis in self.axes}
        body.add(reducer.step(total, self.operand.load(body, self.operand_index(index, inner))))
        for axis in reversed(self.axes):
            body.close(inner[axis])
        if together:
            self._join(body, reducer, total)
        extent = product([self.operand.shape[axis] for axis in self.axes], len(self.operand.shape[0].values))
        result = reducer.finish(total, extent)
        if result == total:
            return total
        body.note(extent)
        return body.let((id(self), "result", index), {"mean": "mean", "norm": "norm"}[self.kind], "float", result)

    @staticmethod
    def _join(body: Body, reducer: Reducer, total: str) -> None:
        """What the block's threads have each becomes what the first has."""
        parts, half = body.name("parts"), body.name("half")
        body.add(f"__shared__ float {parts}[{body.together}];")
        body.add(f"{parts}[threadIdx.x] = {total};")
        body.add("__syncthreads();")
        body.add(f"for (int {half} = {body.together // 2}; {half} > 0; {half} /= 2) {{")
        body.depth += 1
        body.add(f"if (threadIdx.x < {half}) {reducer.step(f'{parts}[threadIdx.x]', f'{parts}[threadIdx.x + {half}]')}")
        body.add("__syncthreads();")
        body.depth -= 1
        body.add("}")
        body.add(f"{total} = {parts}[0];")

    def _place(self, body: Body, index: tuple[str, ...]) -> str:
        sign = ">" if self.kind == "argmax" else "<"
        extreme, place = body.name("extreme"), body.name("place")
        axis = self.axes[0]
        first = self.operand.load(body, self.operand_index(index, {axis: "0"}))
        body.add(f"float {extreme} = {first};")
        body.add(f"{TYPES[self.type].in_registers} {place} = 0;")
        counter = body.loop("j", self.operand.shape[axis])
        value = self.operand.load(body, self.operand_index(index, {axis: counter}))
        value = body.let((id(self), "value", index), "value", "float", value)
        body.open(f"{value} {sign} {extreme}")
        body.add(f"{extreme} = {value};")
        body.add(f"{place} = {counter};")
        body.close_condition()
        body.close(counter)
        return place


class Scan(Anchor):
    """Running sums or products along one dimension, from the other end with `backwards`. Loads are of the element that the
    kernel's loop has just reached."""

    def __init__(self, title: str, kind: str, operand: Value, axis: int, backwards: bool = False) -> None:
        super().__init__(title, "float32", operand.shape, [operand])
        self.kind, self.axis, self.backwards = kind, axis, backwards

    def compute(self, body: Body, index: tuple[str, ...]) -> str:
        raise AssertionError("a scan's elements are written in order")

