"""Extents as expressions of size symbols, each with its value at every size that was traced."""

from __future__ import annotations

import dataclasses
import re


@dataclasses.dataclass(frozen=True)
class Size:
    """An extent: `text` in terms of symbols (C and the manifest read it alike), and what it is at each traced size."""
    text: str
    values: tuple[int, ...]

    @property
    def is_one(self) -> bool:
        return self.text == "1"

    @property
    def constant(self) -> int | None:
        return int(self.text) if self.text.isdigit() else None

    def grouped(self) -> str:
        """The text as an operand."""
        return self.text if re.fullmatch(r"\w+", self.text) else f"({self.text})"


def number(value: int, count: int) -> Size:
    return Size(str(value), (value,) * count)


def add(size: Size, offset: int) -> Size:
    if offset == 0:
        return size
    values = tuple(value + offset for value in size.values)
    if size.constant is not None:
        return Size(str(values[0]), values)
    ending = re.fullmatch(r"(.+) ([+-]) (\d+)", size.text)
    if ending and ending[1].count("(") == ending[1].count(")"):  # n - 3 + 1 is n - 2
        total = offset + int(ending[3]) * (1 if ending[2] == "+" else -1)
        return add(Size(ending[1], tuple(value - total for value in values)), total)
    return Size(f"{size.text} {'+' if offset > 0 else '-'} {abs(offset)}", values)


def times(left: Size, right: Size) -> Size:
    values = tuple(one * other for one, other in zip(left.values, right.values))
    if left.constant is not None and right.constant is not None:
        return Size(str(values[0]), values)
    if left.is_one:
        return right
    if right.is_one:
        return left
    # Products are written flat: a * b * c.
    plain = r"[\w]+( \* [\w]+)*"
    texts = [size.text if re.fullmatch(plain, size.text) else f"({size.text})" for size in (left, right)]
    return Size(f"{texts[0]} * {texts[1]}", values)


def divided(size: Size, divisor: int) -> Size:
    """Rounded down; for sizes that are not negative."""
    if divisor == 1:
        return size
    values = tuple(value // divisor for value in size.values)
    if size.constant is not None:
        return Size(str(values[0]), values)
    return Size(f"{size.grouped()} / {divisor}", values)


def product(sizes: list[Size] | tuple[Size, ...], count: int) -> Size:
    result = number(1, count)
    for size in sizes:
        result = times(result, size)
    return result


class SymbolTable:
    """Names for extents: those of module constants with the same values, else d0, d1, ..."""

    KEYWORDS = {"auto", "bool", "break", "case", "char", "class", "const", "continue", "default", "do", "double", "else", "enum",
                "float", "for", "goto", "if", "int", "long", "new", "return", "short", "signed", "sizeof", "static", "struct",
                "switch", "template", "this", "typedef", "union", "unsigned", "void", "while", "bx", "by", "bz", "min", "max",
                "cdiv", "out"}

    def __init__(self, constants: list[dict[str, int]], taken: set[str]) -> None:
        self.constants = constants
        self.taken = set(taken) | self.KEYWORDS
        self.names: dict[tuple[int, ...], str] = {}

    def size(self, values: tuple[int, ...]) -> Size:
        """An extent that is the same at all sizes stays a number, unless only one size is known and it is no small one."""
        count = len(values)
        if len(set(values)) == 1 and (count > 1 or values[0] <= 32):
            return number(values[0], count)
        if values not in self.names:
            self.names[values] = self._fresh(values)
        return Size(self.names[values], values)

    def _fresh(self, values: tuple[int, ...]) -> str:
        for name in self.constants[0]:
            if all(table.get(name) == value for table, value in zip(self.constants, values)) and re.fullmatch(r"[A-Za-z]\w{0,30}", name, re.ASCII):
                wanted = name
                break
        else:
            wanted = f"d{len(self.names)}"
        while wanted in self.taken:
            wanted += "_"
        self.taken.add(wanted)
        return wanted

    def symbols(self, index: int) -> dict[str, int]:
        """Values of all symbols at the traced size `index`."""
        return {name: values[index] for values, name in self.names.items()}
