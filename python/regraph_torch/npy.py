"""NumPy files without NumPy: elements of the types that kernels have, in C order."""

from __future__ import annotations

import array
import ast
import dataclasses
import math
import pathlib
import struct
import sys

from regraph_torch.element_types import TYPES

MAGIC = b"\x93NUMPY"
MOST_HEADER_BYTES = 1 << 16


class Damaged(ValueError):
    """It is no file that can be read; the message says why."""


@dataclasses.dataclass(frozen=True)
class Tensor:
    """Elements with their shape; `type` is torch's name of it. Those of half precision are floats in `values`."""
    type: str
    shape: tuple[int, ...]
    values: array.array


def header(type_name: str, shape: tuple[int, ...]) -> bytes:
    extents = "".join(f"{extent}, " for extent in shape)
    text = f"{{'descr': '{TYPES[type_name].numpy[0]}', 'fortran_order': False, 'shape': ({extents}), }}"
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
    names = [name for name, known in TYPES.items() if code in known.numpy]
    if not names or found.get("fortran_order") or any(extent < 0 for extent in shape):
        raise Damaged(f"{path}: elements of {code!r}, or in Fortran order, are not read")
    values = array.array(TYPES[names[0]].array)
    content = data[8 + width + length:]
    if len(content) != math.prod(shape) * values.itemsize:
        raise Damaged(f"{path}: it holds {len(content)} bytes, and its shape needs {math.prod(shape) * values.itemsize}")
    values.frombytes(content)
    if sys.byteorder == "big":
        values.byteswap()
    return Tensor(names[0], shape, _widened(names[0], values))


def _widened(type_name: str, bits: array.array) -> array.array:
    """The elements as Python has them: it has no numbers of half precision."""
    if type_name == "bfloat16":  # the upper half of a float
        return array.array("f", struct.unpack(f"={len(bits)}f", array.array("I", (one << 16 for one in bits)).tobytes()))
    if type_name == "float16":
        return array.array("f", struct.unpack(f"={len(bits)}e", bits.tobytes()))
    return bits
