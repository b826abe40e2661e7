"""Types of tensors' elements: what they are called in kernels and in files, how a kernel computes with them, how exact they are. One table.

Kernels compute with numbers of half precision in float, as PyTorch does: they are widened where they are loaded, and rounded once where
an operator's result is stored. So the text of such an element is one of float.
"""

from __future__ import annotations

import array
import dataclasses


@dataclasses.dataclass(frozen=True)
class ElementType:
    numpy: tuple[str, ...]  # codes in files; the first is what is written
    array: str  # the code of Python's array of what a file holds
    c_type: str = ""  # in memory; empty: kernels do not take it
    # Of results (docs/evaluation.md); None: bit for bit. PyTorch rounds in another order than a naive kernel does, and its functions differ in
    # the last places; a result that is zero, a mean or of a type with fewer digits is far outside. Those of half precision are what the verifier
    # grants sums: where the digits of float differ a result is rounded to its neighbour, and PyTorch rounds inside some operators, too.
    tolerance: float | None = None
    header: str = ""  # that declares the type
    widen: str = ""  # the function that makes a float of an element; empty where it is used as it is
    narrow: str = ""  # and back, rounded to the nearest

    @property
    def in_registers(self) -> str:
        """The type of variables for elements."""
        return "float" if self.widen else self.c_type

    def loaded(self, text: str) -> str:
        """An element in memory as kernels compute with it."""
        return f"{self.widen}({text})" if self.widen else text

    def stored(self, text: str) -> str:
        """Back in the type of memory; an element that was only widened is the element."""
        if not self.narrow:
            return text
        inner = text.removeprefix(f"{self.widen}(")
        if inner != text and closes_at_end(inner):
            return inner[:-1]
        return f"{self.narrow}({text})"

    def rounded(self, text: str) -> str:
        """The float as what memory would keep of it."""
        return self.loaded(self.stored(text))

    @property
    def words(self) -> tuple[str, ...]:
        """Names that the header declares and kernels use."""
        return (self.c_type, self.widen, self.narrow) if self.header else ()


def closes_at_end(text: str) -> bool:
    """Whether a parenthesis that was opened before the text is closed by its last character."""
    depth = 1
    for place, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0:
            return place == len(text) - 1
    return False


# By torch's names. NumPy has no bfloat16 of its own; files have the code that it writes for that of other packages, and "|V2" after they went
# through NumPy alone.
TYPES = {
    "float32": ElementType(("<f4",), "f", "float", 2e-5),
    "float64": ElementType(("<f8",), "d", tolerance=1e-9),
    "float16": ElementType(("<f2",), "H", "__half", 2e-3, "cuda_fp16.h", "__half2float", "__float2half"),
    "bfloat16": ElementType(("<V2", "|V2"), "H", "__nv_bfloat16", 8e-3, "cuda_bf16.h", "__bfloat162float", "__float2bfloat16"),
    "int64": ElementType(("<i8",), "q", "long long"),
    "int32": ElementType(("<i4",), "i", "int"),
    "bool": ElementType(("|b1",), "B", "bool"),
    "uint8": ElementType(("|u1",), "B"),
}
COMPUTED_IN_FLOAT = tuple(name for name, one in TYPES.items() if one.in_registers == "float")
# What a user calls them: `--dtype`.
BY_SHORT_NAME = {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16"}


def in_kernels(name: str) -> bool:
    return name in TYPES and bool(TYPES[name].c_type)


def size_of(name: str) -> int:
    """Bytes of an element."""
    return array.array(TYPES[name].array).itemsize


def headers_of(source: str) -> list[str]:
    """Headers that the source needs for the types in it."""
    return [one.header for one in TYPES.values() if any(word in source for word in one.words)]
