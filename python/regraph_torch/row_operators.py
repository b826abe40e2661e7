"""Softmax, normalisations and losses, made of reductions and element-wise parts: entries of the table of operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from regraph_torch.calls import Call, axes_of, pointwise, reduce
from regraph_torch.elementwise import LOSSES, number, operand
from regraph_torch.errors import Refused
from regraph_torch.sizes import Size, divided
from regraph_torch.sizes import number as size_of
from regraph_torch.values import Value, View, reshaped


def _softmax(logarithm: bool) -> Callable[[Call], Value]:
    def entry(call: Call) -> Value:
        x = call.args["self"]
        axes = axes_of(call, len(x.shape))
        largest = reduce(call.title, "max", x, axes, True)
        shifted = pointwise("shifted", [x, largest], lambda p, q: f"{p} - {q}", call.count)
        exponential = pointwise("exponential", [shifted], lambda p: f"expf({p})", call.count)
        total = reduce(call.title, "sum", exponential, axes, True)
        if logarithm:
            return pointwise("result", [shifted, total], lambda p, q: f"{p} - logf({q})", call.count)
        return pointwise("result", [exponential, total], lambda p, q: f"{operand(p)} / {q}", call.count)
    return entry


def _normalised(title: str, x: Value, axes: list[int], epsilon: float, count: int) -> Value:
    mean = reduce(title, "mean", x, axes, True)
    deviation = pointwise("deviation", [x, mean], lambda p, q: f"{p} - {q}", count)
    squares = pointwise("square", [deviation], lambda p: f"{operand(p)} * {operand(p)}", count)
    variance = reduce(title, "mean", squares, axes, True)
    return pointwise("normalised", [deviation, variance], lambda p, q: f"{operand(p)} * rsqrtf({q} + {number(epsilon)})", count)


def _scaled_and_shifted(x: Value, weight: Value | None, bias: Value | None, count: int) -> Value:
    if weight is not None:
        x = pointwise("scaled", [x, weight], lambda p, q: f"{operand(p)} * {q}", count)
    if bias is not None:
        x = pointwise("shifted", [x, bias], lambda p, q: f"{p} + {q}", count)
    return x


def _layer_norm(call: Call) -> Value:
    x = call.args["input"]
    first = len(x.shape) - len(call.args["normalized_shape"])
    result = _normalised(call.title, x, list(range(first, len(x.shape))), call.get("eps", 1e-5), call.count)
    return _scaled_and_shifted(result, call.get("weight"), call.get("bias"), call.count)


def _rms_norm(call: Call) -> Value:
    x = call.args["input"]
    axes = list(range(len(x.shape) - len(call.args["normalized_shape"]), len(x.shape)))
    squares = pointwise("square", [x], lambda p: f"{operand(p)} * {operand(p)}", call.count)
    mean = reduce(call.title, "mean", squares, axes, True)
    epsilon = call.get("eps", 1.1920928955078125e-07)
    result = pointwise("normalised", [x, mean], lambda p, q: f"{operand(p)} * rsqrtf({q} + {number(epsilon)})", call.count)
    return _scaled_and_shifted(result, call.get("weight"), None, call.count)


def _per_channel(value: Value | None, rank: int, count: int) -> Value | None:
    """One number a channel, beside tensors whose second dimension is channels."""
    if value is None:
        return None
    return View(value, value.shape + (size_of(1, count),) * (rank - 2), lambda body, index: index[:1])


def _batch_norm(call: Call) -> Value:
    if call.get("training", False):
        raise Refused("batch_norm in training mode: statistics of the batch")
    x, count = call.args["input"], call.count
    rank = len(x.shape)
    mean, variance = (_per_channel(call.args[name], rank, count) for name in ("running_mean", "running_var"))
    deviation = pointwise("deviation", [x, mean], lambda p, q: f"{p} - {q}", count)
    result = pointwise("normalised", [deviation, variance], lambda p, q: f"{operand(p)} * rsqrtf({q} + {number(call.get('eps', 1e-5))})", count)
    return _scaled_and_shifted(result, _per_channel(call.get("weight"), rank, count), _per_channel(call.get("bias"), rank, count), count)


def _instance_norm(call: Call) -> Value:
    if not call.get("use_input_stats", True):
        raise Refused("instance_norm with running statistics")
    x, count = call.args["input"], call.count
    rank = len(x.shape)
    result = _normalised(call.title, x, list(range(2, rank)), call.get("eps", 1e-5), count)
    return _scaled_and_shifted(result, _per_channel(call.get("weight"), rank, count), _per_channel(call.get("bias"), rank, count), count)


def _group_norm(call: Call) -> Value:
    x, groups, count = call.args["input"], call.fixed("num_groups"), call.count
    rank = len(x.shape)
    each = divided(x.shape[1], groups)
    split = reshaped(x, (x.shape[0], size_of(groups, count), each, *x.shape[2:]), count)
    result = _normalised(call.title, split, list(range(2, rank + 1)), call.get("eps", 1e-5), count)
    weight, bias = (None if value is None else _per_group(value, groups, each, rank, count) for value in (call.get("weight"), call.get("bias")))
    return reshaped(_scaled_and_shifted(result, weight, bias, count), x.shape, count)


def _per_group(value: Value, groups: int, each: Size, rank: int, count: int) -> Value:
    return View(reshaped(value, (size_of(groups, count), each), count), (size_of(groups, count), each, *((size_of(1, count),) * (rank - 2))),
                lambda body, index: index[:2])


def _reduced(call: Call, terms: Value) -> Value:
    kind = {0: "", 1: "mean", 2: "sum", None: "mean"}[call.get("reduction", 1)]
    return reduce(call.title, kind, terms, list(range(len(terms.shape))), False) if kind else terms


def _loss(call: Call) -> Value:
    terms = pointwise("term", [call.args["self"], call.args["target"]], LOSSES[call.title](call.args), call.count)
    return _reduced(call, call.rounded(terms))


def _cross_entropy(call: Call) -> Value:
    x, target = call.args["self"], call.args["target"]
    if call.get("weight") is not None or call.get("label_smoothing", 0.0) != 0.0:
        raise Refused("cross_entropy_loss with weights or smoothing")
    if target.type != "int64" or len(x.shape) != 2 or len(target.shape) != 1:
        raise Refused("cross_entropy_loss whose targets are no classes of rows")
    if call.get("ignore_index", -100) >= 0:
        raise Refused("cross_entropy_loss that leaves a class out")
    largest = reduce(call.title, "max", x, [1], False)
    spread = View(largest, (x.shape[0], size_of(1, call.count)), lambda body, index: index[:1])
    exponential = pointwise("exponential", [x, spread], lambda p, q: f"expf({p} - {q})", call.count)
    total = reduce(call.title, "sum", exponential, [1], False)
    chosen = Gathered(x, target)
    terms = pointwise("term", [largest, total, chosen], lambda m, s, c: f"{m} + logf({s}) - {c}", call.count)
    return _reduced(call, call.rounded(terms))


class Gathered(Value):
    """The element of each row that a buffer of classes names."""

    def __init__(self, x: Value, target: Value) -> None:
        super().__init__(x.type, target.shape)
        self.x, self.target = x, target
        target.classes = x.shape[1]

    def load(self, body: Any, index: tuple[str, ...]) -> str:
        return self.x.load(body, (index[0], self.target.load(body, index)))

    def anchors(self) -> list[Value]:
        return self.x.anchors()


def _triplet(call: Call) -> Value:
    if call.get("p", 2.0) != 2.0 or call.get("swap", False):
        raise Refused("triplet_margin_loss of another order than 2, or with swap")
    anchor, count, epsilon = call.args["anchor"], call.count, number(call.get("eps", 1e-6))
    axis = [len(anchor.shape) - 1]

    def distance(other: Value) -> Value:
        off = call.rounded(pointwise("off", [anchor, other], lambda p, q: f"{p} - {operand(q)} + {epsilon}", count))
        squares = pointwise("square", [off], lambda p: f"{operand(p)} * {operand(p)}", count)
        off.shared = True
        return call.rounded(reduce(call.title, "norm", squares, axis, False))

    margin = number(call.get("margin", 1.0))
    terms = pointwise("term", [distance(call.args["positive"]), distance(call.args["negative"])],
                      lambda p, q: f"fmaxf({p} - {q} + {margin}, 0.0f)", count)
    return _reduced(call, call.rounded(terms))


ROWS: dict[str, Callable[[Call], Value]] = {
    "softmax": _softmax(False), "log_softmax": _softmax(True),
    "layer_norm": _layer_norm, "rms_norm": _rms_norm, "batch_norm": _batch_norm, "instance_norm": _instance_norm, "group_norm": _group_norm,
    "mse_loss": _loss, "l1_loss": _loss, "smooth_l1_loss": _loss, "huber_loss": _loss, "kl_div": _loss,
    "cross_entropy_loss": _cross_entropy, "triplet_margin_loss": _triplet,
}
