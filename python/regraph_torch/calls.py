"""A node as the tables of operators see it, and what their entries share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from regraph_torch.anchors import Reduction
from regraph_torch.errors import Refused
from regraph_torch.sizes import Size
from regraph_torch.sizes import number as size_of
from regraph_torch.values import Pointwise, Value, in_type


class Call:
    """One node: its operator, arguments with Values in the place of references, shapes at the traced sizes, and the type of its result."""

    def __init__(self, title: str, args: dict[str, Any], shape: tuple[Size, ...], count: int, type_name: str = "float32") -> None:
        self.title, self.args, self.shape, self.count, self.type = title, args, shape, count, type_name

    def rounded(self, value: Value) -> Value:
        """As eager PyTorch leaves it between the operators that it makes this one of."""
        return in_type(value, self.type)

    def get(self, name: str, default: Any = None) -> Any:
        found = self.args.get(name)
        return default if found is None else found

    def fixed(self, name: str, default: Any = None) -> Any:
        """An argument that may not depend on the size."""
        found = self.get(name, default)
        if isinstance(found, Size) or (isinstance(found, list) and any(isinstance(one, Size) for one in found)):
            raise Refused(f"{self.title} whose {name} depends on the size")
        return found


def pointwise(name: str, operands: list[Value], write: Callable[..., str], count: int, needs_index: bool = False) -> Pointwise:
    """With the operands' shapes broadcast."""
    rank = max(len(one.shape) for one in operands)
    shape = []
    for k in range(rank):
        extents = [one.shape[k - rank + len(one.shape)] for one in operands if k - rank + len(one.shape) >= 0]
        shape.append(next((one for one in extents if not one.is_one), size_of(1, count)))
    return Pointwise(name, "float32", tuple(shape), operands, write, needs_index)


def axes_of(call: Call, rank: int, name: str = "dim") -> list[int]:
    found = call.get(name)
    if found is None or found == []:
        return list(range(rank))
    return sorted({one + rank if one < 0 else one for one in (found if isinstance(found, list) else [found])})


def reduce(title: str, kind: str, x: Value, axes: list[int], keep: bool) -> Reduction:
    count = len(x.shape[0].values) if x.shape else 1
    shape = tuple(size_of(1, count) if k in axes else one for k, one in enumerate(x.shape) if keep or k not in axes)
    return Reduction(title, kind, x, axes, keep, shape)
