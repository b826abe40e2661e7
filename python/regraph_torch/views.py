"""Operators that only say where elements are: the index in the operand for an index in the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from regraph_torch.errors import Refused
from regraph_torch.sizes import Size, add, divided, number, product
from regraph_torch.values import Body, Value, View, reshaped


def _axis(axis: int, rank: int) -> int:
    return axis + rank if axis < 0 else axis


def _permuted(base: Value, order: list[int]) -> Value:
    """Dimension k of the result is dimension order[k] of the base."""
    order = [_axis(one, len(order)) for one in order]
    inverse = [order.index(k) for k in range(len(order))]
    return View(base, tuple(base.shape[k] for k in order), lambda body, index: tuple(index[k] for k in inverse))


def _swapped(base: Value, first: int, second: int) -> Value:
    order = list(range(len(base.shape)))
    first, second = _axis(first, len(order)), _axis(second, len(order))
    order[first], order[second] = second, first
    return _permuted(base, order)


def _unsqueezed(base: Value, axis: int, count: int) -> Value:
    axis = _axis(axis, len(base.shape) + 1)
    shape = base.shape[:axis] + (number(1, count),) + base.shape[axis:]
    return View(base, shape, lambda body, index: index[:axis] + index[axis + 1:])


def _squeezed(base: Value, axes: list[int]) -> Value:
    gone = {_axis(axis, len(base.shape)) for axis in axes}
    gone = {axis for axis in gone if base.shape[axis].is_one}

    def place(body: Body, index: tuple[str, ...]) -> tuple[str, ...]:
        rest = iter(index)
        return tuple("0" if k in gone else next(rest) for k in range(len(base.shape)))

    return View(base, tuple(one for k, one in enumerate(base.shape) if k not in gone), place)


def _expanded(base: Value, node_shape: tuple[Size, ...], wanted: list[Any], count: int) -> Value:
    lead = len(wanted) - len(base.shape)
    shape = []
    for k, one in enumerate(wanted):
        extent = base.shape[k - lead] if k >= lead else None
        if extent is not None and (one == -1 or extent.values == node_shape[k].values):
            shape.append(extent)
        else:
            shape.append(one if isinstance(one, Size) else number(one, count))

    def place(body: Body, index: tuple[str, ...]) -> tuple[str, ...]:
        return tuple("0" if extent.is_one else one for extent, one in zip(base.shape, index[lead:]))

    return View(base, tuple(shape), place)


def _narrowed(base: Value, axis: int, start: Any, length: Any, count: int) -> Value:
    axis = _axis(axis, len(base.shape))
    if not isinstance(start, int) or start < 0:
        raise Refused("a slice whose begin depends on the size")
    extent = length if isinstance(length, Size) else number(length, count)
    for cut in range(4):  # n - 1 rather than a symbol of its own
        if add(base.shape[axis], -cut).values == extent.values:
            extent = add(base.shape[axis], -cut)
            break
    shape = base.shape[:axis] + (extent,) + base.shape[axis + 1:]

    def place(body: Body, index: tuple[str, ...]) -> tuple[str, ...]:
        moved = index[axis] if start == 0 else f"{index[axis]} + {start}"
        return index[:axis] + (moved,) + index[axis + 1:]

    return View(base, shape, place)


def _selected(base: Value, axis: int, place_of: Any) -> Value:
    axis = _axis(axis, len(base.shape))
    if not isinstance(place_of, int) or place_of < 0:
        raise Refused("one element of a dimension, counted from its end")
    return View(base, base.shape[:axis] + base.shape[axis + 1:],
                lambda body, index: index[:axis] + (str(place_of),) + index[axis:])


def _flipped(base: Value, axes: list[int]) -> Value:
    gone = {_axis(axis, len(base.shape)) for axis in axes}

    def place(body: Body, index: tuple[str, ...]) -> tuple[str, ...]:
        result = []
        for k, (extent, one) in enumerate(zip(base.shape, index)):
            if k in gone and not extent.is_one:
                body.note(extent)
                one = mirrored(extent, one)
            result.append(one)
        return tuple(result)

    return View(base, base.shape, place)


def mirrored(extent: Size, index: str) -> str:
    """Counted from the other end; twice is what it was."""
    before = f"({extent.text} - 1 - "
    if index.startswith(before) and index.endswith(")"):
        return index[len(before):-1]
    return f"{before}{index})"


def _reshaped_to(base: Value, wanted: list[Any], node_shape: tuple[Size, ...], count: int) -> Value:
    """Extents of the result: the base's own where they are equal, else what was asked for; -1 is what remains."""
    sizes: list[Size | None] = []
    for one, extent in zip(wanted, node_shape):
        own = next((size for size in base.shape if size.values == extent.values), None)
        if own is not None:
            sizes.append(own)
        elif isinstance(one, Size):
            sizes.append(one)
        elif one != -1:
            sizes.append(number(one, count))
        else:
            sizes.append(None)
    for k, size in enumerate(sizes):
        if size is None:
            sizes[k] = _remaining(base, [one for j, one in enumerate(sizes) if j != k and one is not None], node_shape[k], count)
    return reshaped(base, tuple(size for size in sizes if size is not None), count)


def _remaining(base: Value, others: list[Size], wanted: Size, count: int) -> Size:
    whole = list(base.shape)
    rest = 1
    for one in others:
        match = next((size for size in whole if size.text == one.text), None)
        if match is not None:
            whole.remove(match)
        elif one.constant is not None:
            rest *= one.constant
        else:
            raise Refused("a reshape whose extents are not parts of one another")
    found = divided(product(whole, count), rest)
    if found.values != wanted.values:
        raise Refused("a reshape whose extents are not parts of one another")
    return found


def _flattened(base: Value, start: int, end: int, count: int) -> Value:
    start, end = _axis(start, len(base.shape)), _axis(end, len(base.shape))
    return reshaped(base, base.shape[:start] + (product(base.shape[start:end + 1], count),) + base.shape[end + 1:], count)


Entry = Callable[[Value, dict[str, Any], tuple[Size, ...], int], Value]


def _list(args: dict[str, Any], *names: str) -> list[Any]:
    found = next(args[name] for name in names if name in args)
    return found if isinstance(found, list) else [found]


# (operand, arguments, shape of the result at the traced sizes, number of sizes) -> value
VIEWS: dict[str, Entry] = {
    "t": lambda x, args, shape, count: _permuted(x, list(range(len(x.shape)))[::-1]),
    "numpy_T": lambda x, args, shape, count: _permuted(x, list(range(len(x.shape)))[::-1]),
    "mT": lambda x, args, shape, count: _swapped(x, -1, -2),
    "transpose": lambda x, args, shape, count: _swapped(x, args["dim0"], args["dim1"]),
    "permute": lambda x, args, shape, count: _permuted(x, args["dims"]),
    "unsqueeze": lambda x, args, shape, count: _unsqueezed(x, args["dim"], count),
    "squeeze": lambda x, args, shape, count: _squeezed(x, _list(args, "dim") if "dim" in args else list(range(len(x.shape)))),
    "expand": lambda x, args, shape, count: _expanded(x, shape, args["size"], count),
    "expand_as": lambda x, args, shape, count: _expanded(x, shape, list(args["other"].shape), count),
    "narrow": lambda x, args, shape, count: _narrowed(x, args["dim"], args["start"], args["length"], count),
    "select": lambda x, args, shape, count: _selected(x, args["dim"], args["index"]),
    "flip": lambda x, args, shape, count: _flipped(x, args["dims"]),
    "view": lambda x, args, shape, count: _reshaped_to(x, _list(args, "size"), shape, count),
    "reshape": lambda x, args, shape, count: _reshaped_to(x, args["shape"], shape, count),
    "flatten": lambda x, args, shape, count: _flattened(x, args.get("start_dim", 0), args.get("end_dim", -1), count),
}
# What leaves every element as it is, where the type stays.
IDENTITIES = {"contiguous", "clone", "detach", "alias", "dropout", "to", "_to_copy", "type_as", "lift_fresh_copy", "feature_dropout", "detach_"}
