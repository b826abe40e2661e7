"""NumPy files without NumPy: elements of the types that kernels have, in C order."""

from __future__ import annotations

import array
import ast
import dataclasses
import math
import pathlib
import sys

MAGIC = b"\x93NUMPY"
# torch's name -> (NumPy's code, array's code)
TYPES = {"float32": ("<f4", "f"), "float64": ("<f8", "d"), "int64": ("<i8", "q"), "int32": ("<i4", "i"),
         "bool": ("|b1", "B"), "uint8": ("|u1", "B")}
MOST_HEADER_BYTES = 1 << 16


class Damaged(ValueError):
    """It is no file that can be read; the message says why."""


@dataclasses.dataclass(frozen=True)
class Tensor:
    """Elements with their shape; `type` is torch's name of it."""
    type: str
    shape: tuple[int, ...]
    values: array.array


def header(type_name: str, shape: tuple[int, ...]) -> bytes:
    extents = "".join(f"{extent}, " for extent in shape)
    text = f"{{'descr': '{TYPES[type_name][0]}', 'fortran_order': False, 'shape': ({extents}), }}"
    length = len(MAGIC) + 4 + len(text) + 1
    text += " " * (-length % 64) + "\n"
    return MAGIC + b"\x01\x00" + len(text).to_bytes(2, "little") + text.encode("ascii")


def write(path: pathlib.Path, type_name: str, shape: tuple[int, ...], content: bytes) -> None:
    path.write_bytes(header(type_name, shape) + content)


def read(path: pathlib.Path) -> Tensor:
    data = path.read_bytes()
    if data[:6] != MAGIC or len(data) < 12:
        raise Damaged(f"{path}: no NumPy file")
    width = 2 if data[6] == 1 else 4
    length = int.from_bytes(data[8:8 + width], "little")
    if length > MOST_HEADER_BYTES:
        raise Damaged(f"{path}: its header is {length} bytes long")
    try:
        found = ast.literal_eval(data[8 + width:8 + width + length].decode("ascii").strip())
        code, shape = found["descr"], tuple(int(extent) for extent in found["shape"])
    except (ValueError, SyntaxError, KeyError, TypeError) as error:
        raise Damaged(f"{path}: its header cannot be read") from error
    names = [name for name, (known, _) in TYPES.items() if known == code]
    if not names or found.get("fortran_order") or any(extent < 0 for extent in shape):
        raise Damaged(f"{path}: elements of {code!r}, or in Fortran order, are not read")
    values = array.array(TYPES[names[0]][1])
    content = data[8 + width + length:]
    if len(content) != math.prod(shape) * values.itemsize:
        raise Damaged(f"{path}: it holds {len(content)} bytes, and its shape needs {math.prod(shape) * values.itemsize}")
    values.frombytes(content)
    if sys.byteorder == "big":
        values.byteswap()
    return Tensor(names[0], shape, values)
