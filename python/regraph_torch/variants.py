"""Smaller shapes for a problem: its source with other numbers in its module-level integer constants."""

from __future__ import annotations

import ast
import dataclasses

# Up to this a constant is taken for structure (a filter's width, a number of groups, a dimension) and stays.
STRUCTURAL = 16
ODD = (37, 29, 43, 23, 31, 19, 41, 53)
MULTIPLES = (48, 32, 64, 80, 96, 112)
# Where there are more than three constants, tensors have many dimensions.
SMALL_ODD = (19, 17, 23, 21, 25, 27, 29, 31)
SMALL_MULTIPLES = (32, 16, 24, 40, 48, 56)
RATIO_LARGEST = 64
# A constant so much larger than all others counts what blocks of threads go along: its small ones are larger, too.
FAR_LARGER, LONGER = 16, 16


@dataclasses.dataclass(frozen=True)
class Variant:
    """`cut`: numbers that extents of the inputs are cut down to, as `cut_kind` says; None: inputs stay as they are.
    "extents": every large extent, equal ones equally; "outer": the first dimension, and those from the third on."""
    name: str
    source: str
    cut: tuple[int, ...] | None = None
    cut_kind: str = ""


def constants_of(source: str) -> dict[str, int]:
    """Module-level names that a constant integer expression is assigned to, with their values."""
    found: dict[str, int] = {}
    for statement in ast.parse(source).body:
        for name, value in _assignments(statement):
            known = _integer(value)
            if known is not None:
                found[name] = known
    return found


def variants(source: str) -> list[Variant]:
    """The full size first, then attempts at small ones."""
    constants = constants_of(source)
    large = sorted({value for value in constants.values() if value > STRUCTURAL})
    result = [Variant("full", source)]
    scaled = [Variant(name, replaced(source, scheme)) for name, scheme in _schemes(constants, large)] if large else []
    result += scaled
    result += [Variant("cut extents odd", source, ODD, "extents"), Variant("cut extents even", source, MULTIPLES, "extents"),
               Variant("cut odd", source, (3, 37), "outer"), Variant("cut even", source, (2, 32), "outer"),
               Variant("cut one", source, (1, 37), "outer"),
               Variant("cut small", source, (3, 13), "outer"), Variant("cut smaller", source, (2, 8), "outer"),
               Variant("cut smallest", source, (2, 5), "outer"), Variant("cut least", source, (1, 4), "outer")]
    result += [Variant(f"{one.name} cut", one.source, (3 - k, 13 - 5 * k), "outer") for k, one in enumerate(scaled[:2])]
    return result


def _schemes(constants: dict[str, int], large: list[int]) -> list[tuple[str, dict[str, int]]]:
    many = sum(value > STRUCTURAL for value in constants.values()) > 3
    plain = [("odd", _each_its_own(constants, SMALL_ODD if many else ODD)),
             ("multiples", _each_its_own(constants, SMALL_MULTIPLES if many else MULTIPLES))]
    longest = [name for name, value in constants.items() if value == large[-1]]
    is_longer = len(longest) == 1 and len(large) > 1 and large[-1] >= FAR_LARGER * large[-2]
    longer = [(f"long {scheme}", {**values, longest[0]: min(large[-1], LONGER * values[longest[0]])}) for scheme, values in plain] if is_longer else []
    return [*longer, *plain, ("ratio", _in_ratio(constants, large))]


def _each_its_own(constants: dict[str, int], numbers: tuple[int, ...]) -> dict[str, int]:
    """Names with one value keep one only if they are the same name: others may differ at another size."""
    names = [name for name, value in constants.items() if value > STRUCTURAL]
    return {name: min(constants[name], numbers[k % len(numbers)] + (k // len(numbers))) for k, name in enumerate(names)}


def _in_ratio(constants: dict[str, int], large: list[int]) -> dict[str, int]:
    factor = 1
    while large[-1] // factor > RATIO_LARGEST:
        factor *= 2
    return {name: max(STRUCTURAL, value // factor) for name, value in constants.items() if value > STRUCTURAL}


def replaced(source: str, values: dict[str, int]) -> str:
    """The source with these constants in the place of the first expressions assigned to the names."""
    tree = ast.parse(source)
    for statement in tree.body:
        if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
            continue
        for name, value in _assignments(statement):
            if name in values and _integer(value) is not None:
                _put(statement, value, values[name])
    return ast.unparse(tree) + "\n"


def _put(statement: ast.stmt, old: ast.expr, number: int) -> None:
    new = ast.copy_location(ast.Constant(number), old)
    if statement.value is old:
        statement.value = new
    elif isinstance(statement.value, (ast.Tuple, ast.List)):
        statement.value.elts = [new if one is old else one for one in statement.value.elts]


def _assignments(statement: ast.stmt) -> list[tuple[str, ast.expr]]:
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value is not None:
        return [(statement.target.id, statement.value)]
    if not isinstance(statement, ast.Assign):
        return []
    found = []
    for target in statement.targets:
        if isinstance(target, ast.Name):
            found.append((target.id, statement.value))
            if isinstance(statement.value, (ast.Tuple, ast.List)):  # input_shape = (32768,)
                found += [(f"{target.id}{k}", one) for k, one in enumerate(statement.value.elts)]
        elif isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple) and len(target.elts) == len(statement.value.elts):
            found += [(one.id, value) for one, value in zip(target.elts, statement.value.elts) if isinstance(one, ast.Name)]
    return found


def _integer(node: ast.expr) -> int | None:
    """The value of an expression of integer literals; None for any other."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, int) and not isinstance(node.value, bool) else None
    if isinstance(node, ast.BinOp):
        left, right = _integer(node.left), _integer(node.right)
        if left is None or right is None:
            return None
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.FloorDiv) and right > 0:
            return left // right
        if isinstance(node.op, ast.Pow) and 0 <= right <= 32 and abs(left) <= 1024:
            return left**right
    return None
