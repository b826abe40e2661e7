"""Tensors as functions of their index, and the kernel bodies that their elements are written into.

Element-wise operators and views compose such functions; nothing is computed until a kernel asks for an element.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from regraph_torch.element_types import COMPUTED_IN_FLOAT, TYPES
from regraph_torch.sizes import Size, product


class Body:
    """Statements of a kernel, with what is already in a variable in the blocks around."""

    def __init__(self, index_type: str = "int") -> None:
        self.lines: list[str] = []
        self.depth = 1
        self.known: list[dict[object, str]] = [{}]
        self.names: list[set[str]] = [set()]  # visible, by block
        self.buffers: list[Buffer] = []
        self.index_type = index_type
        self.sizes: list[Size] = []
        self.together = 0  # threads of the one block that reduces to one element; 0: each thread has an element of its own

    def name(self, wanted: str) -> str:
        """A name that no variable in this block or one around has, and from now on one that has it."""
        found, number = wanted, 1
        while any(found in names for names in self.names):
            number += 1
            found = f"{wanted}{number}"
        self.names[-1].add(found)
        return found

    def _begin(self) -> None:
        self.known.append({})
        self.names.append(set())

    def _end(self) -> None:
        self.known.pop()
        self.names.pop()

    def add(self, line: str) -> None:
        self.lines.append("  " * self.depth + line)

    def let(self, key: object, wanted: str, c_type: str, expression: str) -> str:
        """A variable that holds the expression, the same one for the same key in this block or one around."""
        found = self.find(key)
        if found is None:
            found = self.name(wanted)
            self.add(f"{c_type} {found} = {expression};")
            self.known[-1][key] = found
        return found

    def find(self, key: object) -> str | None:
        return next((scope[key] for scope in reversed(self.known) if key in scope), None)

    def remember(self, key: object, name: str) -> None:
        self.known[-1][key] = name

    def loop(self, wanted: str, extent: Size, first: str = "0", step: str = "1") -> str:
        """Opens a loop over the extent, or over every `step`th element of it, and returns its counter; "0" for an extent of one, where
        there is none."""
        self._begin()
        if extent.is_one:
            return "0"
        counter = self.name(wanted)
        self.note(extent)
        on = f"++{counter}" if step == "1" else f"{counter} += {step}"
        self.add(f"for ({self.index_type} {counter} = {first}; {counter} < {extent.text}; {on}) {{")
        self.depth += 1
        return counter

    def close(self, counter: str) -> None:
        self._end()
        if counter != "0":
            self.depth -= 1
            self.add("}")

    def open(self, condition: str) -> None:
        self.add(f"if ({condition}) {{")
        self.depth += 1
        self._begin()

    def close_condition(self) -> None:
        self._end()
        self.depth -= 1
        self.add("}")

    def note(self, size: Size) -> None:
        """The kernel needs the symbols of this extent."""
        self.sizes.append(size)


class Value:
    """A tensor. `type` is torch's name of its elements."""

    def __init__(self, type_name: str, shape: tuple[Size, ...]) -> None:
        self.type = type_name
        self.shape = shape
        self.shared = False  # several operators use it
        self.classes: Size | None = None  # its elements are classes, below this

    def load(self, body: Body, index: tuple[str, ...]) -> str:
        raise NotImplementedError

    def anchors(self) -> list[Value]:
        """Operators in it that compute more than one element from one, each once, in order."""
        return []


def merged_anchors(operands: list[Value]) -> list[Value]:
    result: list[Value] = []
    for operand in operands:
        result += [one for one in operand.anchors() if one not in result]
    return result


def flat_index(body: Body, shape: tuple[Size, ...], index: tuple[str, ...]) -> str:
    """Place of an element in row-major order."""
    text = ""
    for extent, one in zip(shape, index):
        if extent.is_one:
            continue
        if text not in ("", "0"):
            body.note(extent)
            text = f"({text})" if re.search(r" [-+] ", text) else text
            text = f"{text} * {extent.grouped()}" + ("" if one == "0" else f" + {one}")
        else:
            text = one
    return text or "0"


class Buffer(Value):
    """An argument, or what an earlier kernel left."""

    def __init__(self, name: str, type_name: str, shape: tuple[Size, ...]) -> None:
        super().__init__(type_name, shape)
        self.name = name

    def load(self, body: Body, index: tuple[str, ...]) -> str:
        if self not in body.buffers:
            body.buffers.append(self)
        text = TYPES[self.type].loaded(f"{self.name}[{flat_index(body, self.shape, index)}]")
        if not self.shared:
            return text
        return body.let((id(self), index), f"{self.name}_value", TYPES[self.type].in_registers, text)


class Number(Value):
    """A scalar that is known."""

    def __init__(self, text: str, type_name: str = "float32") -> None:
        super().__init__(type_name, ())
        self.text = text

    def load(self, body: Body, index: tuple[str, ...]) -> str:
        return self.text


class Pointwise(Value):
    """Each element is made of the operands' elements at the same, broadcast, index. `write` gets their texts, and the
    index where it needs that."""

    def __init__(self, name: str, type_name: str, shape: tuple[Size, ...], operands: list[Value], write: Callable[..., str],
                 needs_index: bool = False) -> None:
        super().__init__(type_name, shape)
        self.name, self.operands, self.write, self.needs_index = name, operands, write, needs_index

    def load(self, body: Body, index: tuple[str, ...]) -> str:
        found = body.find((id(self), index))
        if found is not None:
            return found
        texts = [operand.load(body, broadcast(operand, index)) for operand in self.operands]
        more = (index,) if self.needs_index else ()
        written = self.write(*(f"OPERAND{k}" for k in range(len(texts))), *more)
        for k, (operand, one) in enumerate(zip(self.operands, texts)):
            # What is needed more than once gets a name.
            if written.count(f"OPERAND{k}") > 1 and not re.fullmatch(r"[\w.]+", one):
                texts[k] = body.let((id(operand), broadcast(operand, index)), _variable_of(operand), TYPES[operand.type].in_registers, one)
        text = self.write(*texts, *more)
        return body.let((id(self), index), self.name, TYPES[self.type].in_registers, text) if self.shared else text

    def anchors(self) -> list[Value]:
        return merged_anchors(self.operands)


class Rounded(Pointwise):
    """The operand's elements in another type that is computed with in float, rounded to what that can hold. Eager PyTorch does so with the
    result of every operator."""

    def __init__(self, operand: Value, type_name: str) -> None:
        super().__init__(_variable_of(operand), type_name, operand.shape, [operand], TYPES[type_name].rounded)


def _variable_of(value: Value) -> str:
    """What a variable for its elements is called."""
    return f"{value.name}_value" if isinstance(value, Buffer) else getattr(value, "name", "value")


def unrounded(value: Value) -> Value:
    """What is rounded."""
    return value.operands[0] if isinstance(value, Rounded) else value


def broadcast(operand: Value, index: tuple[str, ...]) -> tuple[str, ...]:
    """The operand's index where the result's is `index`."""
    kept = index[len(index) - len(operand.shape):]
    return tuple("0" if extent.is_one else one for extent, one in zip(operand.shape, kept))


class View(Value):
    """Elements of another tensor at other places."""

    def __init__(self, base: Value, shape: tuple[Size, ...], place: Callable[[Body, tuple[str, ...]], tuple[str, ...]]) -> None:
        super().__init__(base.type, shape)
        self.base, self.place = base, place
        self.is_reshape = False  # the same elements in the same order

    def load(self, body: Body, index: tuple[str, ...]) -> str:
        return self.base.load(body, self.place(body, index))

    def anchors(self) -> list[Value]:
        return self.base.anchors()


def in_type(value: Value, type_name: str) -> Value:
    """The value in that type, as far as both are computed with in float; else as it is."""
    if value.type == type_name or not {value.type, type_name} <= set(COMPUTED_IN_FLOAT):
        return value
    if not isinstance(value, View):
        return Rounded(value, type_name)
    result = View(in_type(value.base, type_name), value.shape, value.place)
    result.is_reshape = value.is_reshape
    return result


def reshaped(base: Value, shape: tuple[Size, ...], count: int) -> Value:
    """The same elements in row-major order in another shape. Extents that only one of the two splits are divided."""

    parts = _parts(base.shape, shape, count)

    def place(body: Body, index: tuple[str, ...]) -> tuple[str, ...]:
        result: list[str] = []
        for own, other in parts:
            result += _unflattened(body, base.shape[own], shape[other], index[other], count)
        return tuple(result)

    result = View(base, shape, place)
    result.is_reshape = True
    return result


def _parts(first: tuple[Size, ...], second: tuple[Size, ...], count: int) -> list[tuple[slice, slice]]:
    """Stretches of both shapes with equally many elements, as short as can be."""
    result = []
    i = j = 0
    while i < len(first) or j < len(second):
        begin = (i, j)
        i, j = min(i + 1, len(first)), min(j + 1, len(second))
        while product(first[begin[0]:i], count).values != product(second[begin[1]:j], count).values and (i < len(first) or j < len(second)):
            small = product(first[begin[0]:i], count).values[0] < product(second[begin[1]:j], count).values[0]
            if (small and i < len(first)) or j == len(second):
                i += 1
            else:
                j += 1
        result.append((slice(begin[0], i), slice(begin[1], j)))
    return result


def _unflattened(body: Body, base: tuple[Size, ...], shape: tuple[Size, ...], index: tuple[str, ...], count: int) -> list[str]:
    """The index in `base` of an element whose index in `shape` is given; both have equally many."""
    present = [k for k, one in enumerate(base) if not one.is_one]
    flat = flat_index(body, shape, index)
    if len(present) <= 1:
        text = f"({flat})" if re.search(r" [-+] ", flat) else flat
        return [text if k in present else "0" for k in range(len(base))]
    result = ["0"] * len(base)
    for position, k in enumerate(present):
        inner = product([base[m] for m in present[position + 1:]], count)
        body.note(inner)
        text = f"({flat})" if re.search(r"\W", flat) else flat
        text = text if inner.is_one else f"{text} / {inner.grouped()}"
        if position > 0:
            body.note(base[k])
            text = f"{text} % {base[k].grouped()}"
        result[k] = f"({text})"
    return result
