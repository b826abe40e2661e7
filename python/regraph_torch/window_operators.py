"""Convolutions, transposed ones and pools: entries of the table of operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from regraph_torch.anchors import Axis, Contraction, Window
from regraph_torch.calls import Call, pointwise
from regraph_torch.errors import Refused
from regraph_torch.sizes import Size, add, divided, product, times
from regraph_torch.sizes import number as size_of
from regraph_torch.values import Buffer, Value, View, reshaped


def _each(value: Any, rank: int) -> list[int]:
    values = value if isinstance(value, list) else [value]
    return values * rank if len(values) == 1 else values


def _convolution(call: Call) -> Value:
    x, weight, bias = call.args["input"], call.args["weight"], call.get("bias")
    rank = len(weight.shape) - 2
    if len(x.shape) != rank + 2:
        raise Refused(f"{call.title} of an input without a batch")
    if isinstance(call.get("padding"), str):
        raise Refused(f"{call.title} with padding given in words")
    stride, padding, dilation = (_each(call.fixed(name, default), rank) for name, default in (("stride", 1), ("padding", 0), ("dilation", 1)))
    groups = _groups(call, x)
    if groups == 1 and all(extent.is_one for extent in weight.shape[2:]) and set(stride) == {1} and set(padding) == {0}:
        return _product_of_channels(call, x, weight, bias)
    axes = [Axis(x.shape[k + 2], weight.shape[k + 2], stride[k], padding[k], dilation[k], padding[k] > 0) for k in range(rank)]
    extents = [add(divided(add(axis.extent, 2 * axis.padding - axis.dilation * (_taps(call, axis) - 1) - 1), axis.stride), 1) for axis in axes]
    shape = (x.shape[0], weight.shape[0], *extents)
    window = Window(call.title, [x, weight], shape, axes, "plain", groups)
    while _is_one_place(window):
        window = _with_last_merged(window, call.count)
    result = _with_bias(window, bias, call.count)
    return result if len(window.shape) == len(shape) else reshaped(result, shape, call.count)


def _is_one_place(window: Window) -> bool:
    """Whether windows take one place along the last dimension, whose extent is a number, and go along the one before it step by step."""
    before, last = window.axes[-2:] if len(window.axes) > 1 else (None, window.axes[-1])
    return before is not None and before.stride == 1 and last.taps.is_one and last.stride == 1 and last.padding == 0 and last.extent.constant is not None


def _with_last_merged(window: Window, count: int) -> Window:
    """The last two dimensions as one: a step along the first of them is a row of the second."""
    before, last = window.axes[-2:]
    row = last.extent.constant or 1
    axis = Axis(times(before.extent, last.extent), before.taps, 1, before.padding * row, before.dilation * row, before.padded_end)
    x, weight = window.operands
    operands = [_merged(x, (*x.shape[:-2], axis.extent), count), _merged(weight, weight.shape[:-1], count)]
    shape = (*window.shape[:-2], times(window.shape[-2], last.extent))
    return Window(window.title, operands, shape, [*window.axes[:-2], axis], window.mode, window.groups)


def _product_of_channels(call: Call, x: Value, weight: Value, bias: Value | None) -> Value:
    """Windows of one place: at each place a matrix times the place's channels, so a product of matrices for each image."""
    places = product(x.shape[2:], call.count)
    matrix = _merged(weight, weight.shape[:2], call.count)
    images = _merged(x, (*x.shape[:2], places), call.count)
    extents = {"n": x.shape[0], "x": weight.shape[0], "y": places, "z": x.shape[1]}
    result: Value = Contraction(call.title, matrix, images, ("xz", "nzy", "nxy"), extents)
    if bias is not None:
        spread = View(bias, (*bias.shape, size_of(1, call.count)), lambda body, index: index[:1])
        result = pointwise("shifted", [result, spread], lambda p, q: f"{p} + {q}", call.count)
    return reshaped(result, (x.shape[0], weight.shape[0], *x.shape[2:]), call.count)


def _merged(value: Value, shape: tuple[Size, ...], count: int) -> Value:
    """In a shape with the last dimensions as one: a buffer is asked at that one's place, without taking it apart."""
    return Buffer(value.name, value.type, shape) if isinstance(value, Buffer) else reshaped(value, shape, count)


def _groups(call: Call, x: Value) -> int | str:
    """"each" where there is a group for each channel of the input, however many they are."""
    groups = call.get("groups", 1)
    if isinstance(groups, Size):
        if groups.values != x.shape[1].values:
            raise Refused(f"{call.title} whose groups depend on the size")
        return "each"
    return groups


def _taps(call: Call, axis: Axis) -> int:
    if axis.taps.constant is None:
        raise Refused(f"{call.title} whose window depends on the size")
    return axis.taps.constant


def _with_bias(window: Window, bias: Value | None, count: int) -> Value:
    if bias is None:
        return window
    rank = len(window.shape) - 2
    ones = (size_of(1, count),) * rank
    spread = View(bias, bias.shape + ones, lambda body, index: index[:1])
    return pointwise("shifted", [window, spread], lambda p, q: f"{p} + {q}", count)


def _transposed_convolution(call: Call) -> Value:
    x, weight, bias = call.args["input"], call.args["weight"], call.get("bias")
    rank = len(weight.shape) - 2
    if len(x.shape) != rank + 2:
        raise Refused(f"{call.title} of an input without a batch")
    stride, padding, more, dilation = (_each(call.fixed(name, default), rank) for name, default in
                                       (("stride", 1), ("padding", 0), ("output_padding", 0), ("dilation", 1)))
    groups = _groups(call, x)
    if isinstance(groups, str):
        raise Refused(f"{call.title} with as many groups as channels")
    axes = [Axis(x.shape[k + 2], weight.shape[k + 2], stride[k], padding[k], dilation[k]) for k in range(rank)]
    extents = []
    for axis, extra in zip(axes, more):
        offset = -2 * axis.padding + axis.dilation * (_taps(call, axis) - 1) + extra + 1
        grown = _times(add(axis.extent, -1), axis.stride) if axis.stride > 1 else add(axis.extent, -1)
        extents.append(add(axis.extent, offset - 1) if axis.stride == 1 else add(grown, offset))
    channels = weight.shape[1] if groups == 1 else _times(weight.shape[1], groups)
    window = Window(call.title, [x, weight], (x.shape[0], channels, *extents), axes, "transposed", groups)
    return _with_bias(window, bias, call.count)


def _times(size: Size, factor: int) -> Size:
    values = tuple(value * factor for value in size.values)
    return Size(str(values[0]) if size.constant is not None else f"{size.grouped()} * {factor}", values)


def _pool(mode: str) -> Callable[[Call], Value]:
    def entry(call: Call) -> Value:
        x = call.args["self"]
        kernel = call.fixed("kernel_size")
        rank = int(call.title[-2])
        if len(x.shape) != rank + 2:
            raise Refused(f"{call.title} of an input without a batch")
        if call.get("ceil_mode", False):
            raise Refused(f"{call.title} with ceil_mode")
        taps = _each(kernel, rank)
        stride = _each(call.fixed("stride", []) or kernel, rank)
        padding, dilation = _each(call.fixed("padding", 0), rank), _each(call.fixed("dilation", 1), rank)
        axes = [Axis(x.shape[k + 2], size_of(taps[k], call.count), stride[k], padding[k], dilation[k], padding[k] > 0) for k in range(rank)]
        extents = [add(divided(add(axis.extent, 2 * axis.padding - axis.dilation * (_taps(call, axis) - 1) - 1), axis.stride), 1) for axis in axes]
        return Window(call.title, [x], (x.shape[0], x.shape[1], *extents), axes, mode,
                      count_padding=call.get("count_include_pad", True), divisor=call.get("divisor_override"))
    return entry


WINDOWS: dict[str, Callable[[Call], Value]] = {
    "conv1d": _convolution, "conv2d": _convolution, "conv3d": _convolution,
    "conv_transpose1d": _transposed_convolution, "conv_transpose2d": _transposed_convolution, "conv_transpose3d": _transposed_convolution,
    "max_pool1d": _pool("max"), "max_pool2d": _pool("max"), "max_pool3d": _pool("max"),
    "avg_pool1d": _pool("average"), "avg_pool2d": _pool("average"), "avg_pool3d": _pool("average"),
}
