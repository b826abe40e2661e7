"""Element-wise operators: for each the C expression of one element. One table; every entry is a small function."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from regraph_torch.element_types import closes_at_end
from regraph_torch.errors import Refused


def number(value: float | int | bool) -> str:
    """A literal of float."""
    value = float(value)
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    if math.isnan(value):
        return "NAN"
    text = repr(value)
    return f"{text}f" if value >= 0 else f"({text}f)"


def operand(text: str) -> str:
    """The text where a product or a sign may stand before it."""
    call = re.match(r"\w*\(", text)
    is_one = re.fullmatch(r"[\w.]+|\w+\[[^\[\]]*\]", text) or (call and closes_at_end(text[call.end():]))
    return text if is_one else f"({text})"


def _power(args: dict[str, Any]) -> Callable[[str], str]:
    exponent = args["exponent"]
    if exponent == 0.5:
        return lambda x: f"sqrtf({x})"
    if exponent in (-1, -1.0):
        return lambda x: f"1.0f / {operand(x)}"
    if float(exponent).is_integer() and 1 <= exponent <= 4:
        return lambda x: " * ".join([operand(x)] * int(exponent))
    return lambda x: f"powf({x}, {number(exponent)})"


def _gelu(args: dict[str, Any]) -> Callable[[str], str]:
    if args.get("approximate", "none") == "tanh":
        return lambda x: (f"0.5f * {operand(x)} * (1.0f + tanhf(0.7978845608028654f * ({x} + 0.044715f * {operand(x)} * "
                          f"{operand(x)} * {operand(x)})))")
    return lambda x: f"0.5f * {operand(x)} * (1.0f + erff({operand(x)} * 0.7071067811865476f))"


def _elu(args: dict[str, Any]) -> Callable[[str], str]:
    alpha, scale, inner = args.get("alpha", 1), args.get("scale", 1), args.get("input_scale", 1)
    factor, rise = number(scale), number(alpha * scale)
    grown = "{0}" if inner == 1 else f"{{0}} * {number(inner)}"
    up = "{0}" if scale == 1 else f"{factor} * {{0}}"
    return lambda x: f"({operand(x)} > 0.0f ? {up.format(operand(x))} : {rise} * expm1f({grown.format(operand(x))}))"


def _clamp(args: dict[str, Any]) -> Callable[[str], str]:
    low, high = args.get("min", args.get("min_val")), args.get("max", args.get("max_val"))

    def write(x: str) -> str:
        text = x if low is None else f"fmaxf({x}, {number(low)})"
        return text if high is None else f"fminf({text}, {number(high)})"
    return write


def _softplus(args: dict[str, Any]) -> Callable[[str], str]:
    beta, threshold = args.get("beta", 1), args.get("threshold", 20)
    scaled = (lambda x: operand(x)) if beta == 1 else (lambda x: f"{number(beta)} * {operand(x)}")
    whole = "log1pf(expf({0}))" if beta == 1 else f"log1pf(expf({{0}})) / {number(beta)}"
    return lambda x: f"({scaled(x)} > {number(threshold)} ? {x} : {whole.format(scaled(x))})"


def _fixed(text: str) -> Callable[[dict[str, Any]], Callable[[str], str]]:
    """{0} is the operand as an argument, {1} as a factor."""
    return lambda args: lambda x: text.format(x, operand(x))


SELU_SCALE, SELU_ALPHA = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717

# One operand.
UNARY: dict[str, Callable[[dict[str, Any]], Callable[[str], str]]] = {
    "relu": _fixed("fmaxf({0}, 0.0f)"),
    "relu6": _fixed("fminf(fmaxf({0}, 0.0f), 6.0f)"),
    "leaky_relu": lambda args: lambda x: f"({operand(x)} > 0.0f ? {x} : {number(args.get('negative_slope', 0.01))} * {operand(x)})",
    "sigmoid": _fixed("1.0f / (1.0f + expf(-{1}))"),
    "silu": _fixed("{1} / (1.0f + expf(-{1}))"),
    "tanh": _fixed("tanhf({0})"),
    "gelu": _gelu,
    "elu": _elu,
    "selu": lambda args: _elu({"alpha": SELU_ALPHA, "scale": SELU_SCALE}),
    "hardsigmoid": _fixed("fminf(fmaxf({1} / 6.0f + 0.5f, 0.0f), 1.0f)"),
    "hardswish": _fixed("{1} * fminf(fmaxf({1} + 3.0f, 0.0f), 6.0f) / 6.0f"),
    "hardtanh": lambda args: _clamp({"min": args.get("min_val", -1), "max": args.get("max_val", 1)}),
    "mish": _fixed("{1} * tanhf(log1pf(expf({0})))"),
    "softplus": _softplus,
    "clamp": _clamp,
    "clamp_min": _clamp,
    "clamp_max": _clamp,
    "abs": _fixed("fabsf({0})"),
    "neg": _fixed("-{1}"),
    "exp": _fixed("expf({0})"),
    "expm1": _fixed("expm1f({0})"),
    "log": _fixed("logf({0})"),
    "log1p": _fixed("log1pf({0})"),
    "sqrt": _fixed("sqrtf({0})"),
    "rsqrt": _fixed("rsqrtf({0})"),
    "reciprocal": _fixed("1.0f / {1}"),
    "sin": _fixed("sinf({0})"),
    "cos": _fixed("cosf({0})"),
    "erf": _fixed("erff({0})"),
    "square": _fixed("{1} * {1}"),
    "pow": _power,
}


def _scaled(sign: str) -> Callable[[dict[str, Any]], Callable[[str, str], str]]:
    def entry(args: dict[str, Any]) -> Callable[[str, str], str]:
        alpha = args.get("alpha", 1)
        if alpha == 1:
            return lambda x, y: f"{x} {sign} {y if sign == '+' else operand(y)}"
        return lambda x, y: f"{x} {sign} {number(alpha)} * {operand(y)}"
    return entry


def _reversed_difference(args: dict[str, Any]) -> Callable[[str, str], str]:
    if args.get("alpha", 1) != 1:
        raise Refused("rsub with another factor than 1")
    return lambda x, y: f"{y} - {operand(x)}"


def _quotient(args: dict[str, Any]) -> Callable[[str, str], str]:
    if args.get("rounding_mode"):
        raise Refused("a quotient that is rounded to an integer")
    return lambda x, y: f"{operand(x)} / {operand(y)}"


def _smooth_l1(args: dict[str, Any]) -> Callable[[str, str], str]:
    beta = args.get("beta", 1.0)
    return lambda x, y: (f"(fabsf({x} - {operand(y)}) < {number(beta)} ? 0.5f * ({x} - {operand(y)}) * ({x} - {operand(y)}) / "
                         f"{number(beta)} : fabsf({x} - {operand(y)}) - {number(0.5 * beta)})")


def _huber(args: dict[str, Any]) -> Callable[[str, str], str]:
    delta = args.get("delta", 1.0)
    return lambda x, y: (f"(fabsf({x} - {operand(y)}) < {number(delta)} ? 0.5f * ({x} - {operand(y)}) * ({x} - {operand(y)}) : "
                         f"{number(delta)} * (fabsf({x} - {operand(y)}) - {number(0.5 * delta)}))")


def _kl_div(args: dict[str, Any]) -> Callable[[str, str], str]:
    if args.get("log_target"):
        return lambda x, y: f"expf({y}) * ({y} - {operand(x)})"
    return lambda x, y: f"({operand(y)} > 0.0f ? {operand(y)} * (logf({y}) - {operand(x)}) : 0.0f)"


# Two operands, broadcast.
BINARY: dict[str, Callable[[dict[str, Any]], Callable[[str, str], str]]] = {
    "add": _scaled("+"),
    "sub": _scaled("-"),
    "rsub": _reversed_difference,
    "mul": lambda args: lambda x, y: f"{operand(x)} * {operand(y)}",
    "div": _quotient,
    "maximum": lambda args: lambda x, y: f"fmaxf({x}, {y})",
    "minimum": lambda args: lambda x, y: f"fminf({x}, {y})",
}

# Element-wise losses of two operands, then a mean, a sum or neither by their `reduction`.
LOSSES: dict[str, Callable[[dict[str, Any]], Callable[[str, str], str]]] = {
    "mse_loss": lambda args: lambda x, y: f"({x} - {operand(y)}) * ({x} - {operand(y)})",
    "l1_loss": lambda args: lambda x, y: f"fabsf({x} - {operand(y)})",
    "smooth_l1_loss": _smooth_l1,
    "huber_loss": _huber,
    "kl_div": _kl_div,
}
