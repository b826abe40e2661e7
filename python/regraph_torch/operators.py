"""The table of operators that compute an element from many: each entry makes a Value of ATen's arguments."""

from __future__ import annotations

from collections.abc import Callable

from regraph_torch.anchors import Contraction, Scan
from regraph_torch.calls import Call, axes_of, pointwise, reduce
from regraph_torch.elementwise import operand
from regraph_torch.errors import Refused
from regraph_torch.row_operators import ROWS
from regraph_torch.sizes import Size
from regraph_torch.values import Value
from regraph_torch.window_operators import WINDOWS

LETTERS = "abcdefghijklmnop"


# Contractions.

def _contract(title: str, left: Value, right: Value, letters: tuple[str, str, str]) -> Contraction:
    extents: dict[str, Size] = {}
    for value, text in ((left, letters[0]), (right, letters[1])):
        for extent, one in zip(value.shape, text):
            if one not in extents or extents[one].is_one:
                extents[one] = extent
    return Contraction(title, left, right, letters, extents)


def _matmul(call: Call) -> Value:
    left, right = (call.args[name] for name in (("self", "other") if "other" in call.args else ("self", "mat2")))
    a, b = len(left.shape), len(right.shape)
    batch = LETTERS[:max(a, b, 2) - 2]
    rows, columns = ("" if a == 1 else "x"), ("" if b == 1 else "y")
    of_left = (batch[len(batch) - (a - 2):] if a > 2 else "") + rows + "z"
    of_right = (batch[len(batch) - (b - 2):] if b > 2 else "") + "z" + columns
    return _contract(call.title, left, right, (of_left, of_right, batch + rows + columns))


def _linear(call: Call) -> Value:
    x, weight, bias = call.args["input"], call.args["weight"], call.get("bias")
    lead = LETTERS[:len(x.shape) - 1]
    product_of = _contract(call.title, x, weight, (lead + "z", "yz", lead + "y"))
    return product_of if bias is None else pointwise("shifted", [product_of, bias], lambda p, q: f"{p} + {q}", call.count)


def _addmm(call: Call) -> Value:
    if call.get("alpha", 1) != 1 or call.get("beta", 1) != 1:
        raise Refused(f"{call.title} with alpha or beta")
    product_of = _contract(call.title, call.args["mat1"], call.args["mat2"], ("xz", "zy", "xy"))
    return pointwise("shifted", [product_of, call.args["self"]], lambda p, q: f"{p} + {q}", call.count)


def _einsum(call: Call) -> Value:
    equation, operands = call.args["equation"].replace(" ", ""), call.args["tensors"]
    left, arrow, result = equation.partition("->")
    terms = left.split(",")
    if len(terms) != 2 or not arrow or "." in equation or any(len(set(one)) != len(one) for one in [*terms, result]):
        raise Refused(f"einsum '{equation}': two operands, '->' and each letter once a term are lowered")
    return _contract(call.title, operands[0], operands[1], (terms[0], terms[1], result))


# Reductions.

def _reduction(kind: str) -> Callable[[Call], Value]:
    def entry(call: Call) -> Value:
        x = call.args["self"]
        return reduce(call.title, kind, x, axes_of(call, len(x.shape)), bool(call.get("keepdim", False)))
    return entry


def _place_reduction(kind: str) -> Callable[[Call], Value]:
    def entry(call: Call) -> Value:
        if call.get("dim") is None:
            raise Refused(f"{call.title} over all elements")
        return _reduction(kind)(call)
    return entry


def _vector_norm(call: Call) -> Value:
    x, order = call.args["self"], call.get("ord", call.get("p", 2))
    axes, keep = axes_of(call, len(x.shape)), bool(call.get("keepdim", False))
    if order == 2:
        squares = pointwise("square", [x], lambda p: f"{operand(p)} * {operand(p)}", call.count)
        return reduce(call.title, "norm", squares, axes, keep)
    magnitudes = pointwise("magnitude", [x], lambda p: f"fabsf({p})", call.count)
    if order == 1:
        return reduce(call.title, "sum", magnitudes, axes, keep)
    if order == float("inf"):
        return reduce(call.title, "max", magnitudes, axes, keep)
    raise Refused(f"{call.title} of order {order}")


# Scans.

def _scan(kind: str) -> Callable[[Call], Value]:
    def entry(call: Call) -> Value:
        x = call.args["self"]
        axis = call.fixed("dim")
        return Scan(call.title, kind, x, axis + len(x.shape) if axis < 0 else axis)
    return entry


def _triangle(relation: str) -> Callable[[Call], Value]:
    def entry(call: Call) -> Value:
        offset = call.fixed("diagonal", 0)

        def write(x: str, index: tuple[str, ...]) -> str:
            column = index[-1] if offset == 0 else f"{index[-1]} - {offset}" if offset > 0 else f"{index[-1]} + {-offset}"
            return f"({column} {relation} {index[-2]} ? {x} : 0.0f)"
        return pointwise("kept", [call.args["self"]], write, call.count, needs_index=True)
    return entry


def _matrix_vector(call: Call) -> Value:
    return _matmul(Call(call.title, {"self": call.args["self"], "other": call.args["vec"]}, call.shape, call.count))


OPERATORS: dict[str, Callable[[Call], Value]] = {
    **WINDOWS, **ROWS,
    "matmul": _matmul, "mm": _matmul, "bmm": _matmul, "mv": _matrix_vector, "linear": _linear, "addmm": _addmm, "einsum": _einsum,
    "sum": _reduction("sum"), "mean": _reduction("mean"), "prod": _reduction("prod"), "amax": _reduction("max"), "amin": _reduction("min"),
    "argmax": _place_reduction("argmax"), "argmin": _place_reduction("argmin"), "linalg_vector_norm": _vector_norm,
    "cumsum": _scan("sum"), "cumprod": _scan("product"), "triu": _triangle(">="), "tril": _triangle("<="),
}
