"""Changes of a Triton kernel's code that a person would make by hand. None of the code is run.

    python -I rewrite.py < JOB.json

The job: kernel, module (text), grid (three expressions). Without "step" the steps that apply are printed:
[{"step": ..., "parameters": {...}}]. With step and parameters: {"module": ..., "grid": [...]}. Exit status 1 with a
message on standard error where the step does not apply.
"""
import ast
import copy
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from module_rules import dotted, is_device_function  # noqa: E402

GROUPS = ("4", "8", "16")
UNROLL_FACTORS = ("2", "4")
PRECISIONS = ("tf32", "tf32x3")


class Refused(Exception):
    """The step does not apply."""


def kernel_of(tree: ast.Module, name: str) -> ast.FunctionDef:
    """The kernel's function in the module."""
    for node in tree.body:
        if is_device_function(node) and node.name == name:
            return node
    raise Refused(f"there is no kernel '{name}'")


def is_program_id(node: ast.AST, axis: int) -> bool:
    """tl.program_id(axis)"""
    if not isinstance(node, ast.Call) or dotted(node.func) not in ("tl.program_id", "triton.language.program_id"):
        return False
    values = [*node.args, *(word.value for word in node.keywords if word.arg == "axis")]
    return len(values) == 1 and isinstance(values[0], ast.Constant) and values[0].value == axis


def assigned_name(statement: ast.AST) -> str:
    """x of `x = ...`, else empty."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id
    return ""


def times_assigned(function: ast.AST, name: str) -> int:
    """How often a function gives the variable a value."""
    count = 0
    for part in ast.walk(function):
        if isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store):
            count += 1
    return count


# ---- grouped_order ---------------------------------------------------------------------------------------------------

def program_ids(function: ast.FunctionDef) -> tuple[str, str, int]:
    """Names of the two program numbers and the index of the statement behind both. Raises Refused."""
    names: dict[int, str] = {}
    last = 0
    for index, statement in enumerate(function.body):
        for axis in (0, 1):
            name = assigned_name(statement)
            if name and is_program_id(statement.value, axis):
                names[axis] = name
                last = index
    if len(names) != 2:
        raise Refused("the kernel keeps no two program numbers in variables of its own")
    calls = [part for part in ast.walk(function) if isinstance(part, ast.Call)
             and dotted(part.func).endswith(("program_id", "num_programs", "swizzle2d"))]
    if len(calls) != 2:
        raise Refused("program numbers are used elsewhere, or renumbered already")
    for name in names.values():
        if times_assigned(function, name) != 1:
            raise Refused(f"'{name}' changes")
    for statement in function.body[:last]:
        for name in names.values():
            if assigned_name(statement) not in names.values() and name in read_names(statement):
                raise Refused(f"'{name}' is used before both numbers are known")
    return names[0], names[1], last + 1


def read_names(node: ast.AST) -> set[str]:
    """Names that are read."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}


def grouped_order(function: ast.FunctionDef, parameters: dict, _grid: list) -> None:
    """Renumbers the programs in groups of rows."""
    first, second, at = program_ids(function)
    group = parameters.get("group", "")
    if group not in GROUPS:
        raise Refused("'group' is one of " + ", ".join(GROUPS))
    line = f"{first}, {second} = tl.swizzle2d({first}, {second}, tl.num_programs(0), tl.num_programs(1), {group})"
    function.body[at:at] = ast.parse(line).body


def offer_grouped_order(function: ast.FunctionDef, grid: list):
    """Where a grid of two axes is numbered plainly."""
    if grid[1] == "1":
        return
    program_ids(function)
    for group in GROUPS:
        yield {"group": group}


# ---- unmask ----------------------------------------------------------------------------------------------------------

def range_loop(node: ast.AST):
    """(variable, begin, end, step) of `for k in range(begin, end, step)`, else None."""
    if not isinstance(node, ast.For) or not isinstance(node.target, ast.Name) or node.orelse:
        return None
    call = node.iter
    if not isinstance(call, ast.Call) or dotted(call.func) not in ("range", "tl.range") or len(call.args) != 3:
        return None
    return node.target.id, *call.args


def same(left: ast.AST, right: ast.AST) -> bool:
    """Whether two expressions are written alike."""
    return ast.unparse(left) == ast.unparse(right)


class Scope:
    """What variables hold in a loop: the one value that the loop's body gives them, or the function before it."""

    def __init__(self, function: ast.FunctionDef, loop: ast.For):
        self.function, self.loop = function, loop

    def value(self, name: str):
        """The expression that the variable is made of; None where there is not just one."""
        within = times_assigned(self.loop, name)
        if within > 1 or (within == 0 and times_assigned(self.function, name) != 1):
            return None
        for statement in self.loop.body if within else ast.walk(self.function):
            if assigned_name(statement) == name:
                return statement.value
        return None


def is_lane(node: ast.AST, extent: ast.AST, scope: Scope) -> bool:
    """Whether an expression is tl.arange(0, extent), with axes put in: below the extent everywhere."""
    if isinstance(node, ast.Subscript):
        return is_lane(node.value, extent, scope)
    if isinstance(node, ast.Name):
        value = scope.value(node.id)
        return value is not None and is_lane(value, extent, scope)
    return isinstance(node, ast.Call) and dotted(node.func) in ("tl.arange", "triton.language.arange") \
        and len(node.args) == 2 and isinstance(node.args[0], ast.Constant) and node.args[0].value == 0 \
        and same(node.args[1], extent)


class Unmasker(ast.NodeTransformer):
    """Takes `k + lane < end` out of masks."""

    def __init__(self, scope: Scope, variable: str, end: ast.AST, step: ast.AST):
        self.scope, self.variable, self.end, self.step = scope, variable, end, step
        self.removed = 0

    def holds(self, node: ast.AST) -> bool:
        """Whether a condition holds in every whole turn."""
        if isinstance(node, ast.Name):
            value = self.scope.value(node.id)
            return value is not None and self.holds(value)
        if isinstance(node, ast.Subscript):
            return self.holds(node.value)
        if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.ops[0], ast.Lt):
            return False
        return self.below(node.left) and same(node.comparators[0], self.end)

    def below(self, node: ast.AST) -> bool:
        """k + lane, in either order, with axes put in."""
        if isinstance(node, ast.Subscript):
            return self.below(node.value)
        if isinstance(node, ast.Name):
            value = self.scope.value(node.id)
            return value is not None and self.below(value)
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add):
            return False
        for one, other in ((node.left, node.right), (node.right, node.left)):
            if isinstance(one, ast.Name) and one.id == self.variable and is_lane(other, self.step, self.scope):
                return True
        return False

    def rest_of(self, node: ast.AST):
        """A mask without what holds; None where nothing is left of it."""
        if self.holds(node):
            self.removed += 1
            return None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd):
            left, right = self.rest_of(node.left), self.rest_of(node.right)
            if left is None or right is None:
                return right if left is None else left
            node.left, node.right = left, right
        return node

    def visit_Call(self, node: ast.Call):
        self.generic_visit(node)
        if dotted(node.func) not in ("tl.load", "tl.store"):
            return node
        for word in list(node.keywords):
            if word.arg != "mask":
                continue
            rest = self.rest_of(word.value)
            if rest is not None:
                word.value = rest
                continue
            node.keywords = [one for one in node.keywords if one.arg not in ("mask", "other")]
        return node


def loops_to_unmask(function: ast.FunctionDef):
    """Statement lists with a loop in them whose masks can go, and what is left of the loop."""
    for holder in ast.walk(function):
        body = getattr(holder, "body", None)
        if not isinstance(body, list):
            continue
        for statement in body:
            loop = range_loop(statement)
            if loop is None or not isinstance(loop[1], ast.Constant) or loop[1].value != 0:
                continue
            variable, _, end, step = loop
            if times_assigned(statement, variable) != 1:
                continue
            if (read_names(end) | read_names(step)) & stored_in(statement):
                continue
            whole = copy.deepcopy(statement)
            unmasker = Unmasker(Scope(function, statement), variable, end, step)
            unmasker.visit(whole)
            if unmasker.removed:
                yield body, statement, whole, end, step


def stored_in(node: ast.AST) -> set[str]:
    """Names that get values in a statement."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}


def unmask(function: ast.FunctionDef, _parameters: dict, _grid: list) -> None:
    """Splits such loops in whole turns and the rest."""
    found = False
    for body, loop, whole, end, step in list(loops_to_unmask(function)):
        if is_split(end):
            continue
        found = True
        index = next(at for at, statement in enumerate(body) if statement is loop)
        last = copy.deepcopy(body[index])
        full = ast.parse(f"({ast.unparse(end)}) // ({ast.unparse(step)}) * ({ast.unparse(step)})", mode="eval").body
        whole.iter.args[1] = full
        last.iter.args[0] = copy.deepcopy(full)
        body[index:index + 1] = [whole, last]
    if not found:
        raise Refused("no loop has a mask that holds in all its whole turns")


def is_split(end: ast.AST) -> bool:
    """Whether a loop's bound is one that unmask wrote."""
    return "//" in ast.unparse(end)


def offer_unmask(function: ast.FunctionDef, _grid: list):
    """Where there is such a loop that was not split before."""
    for _, _, _, end, _ in loops_to_unmask(function):
        if not is_split(end):
            yield {}
            return


# ---- unroll ----------------------------------------------------------------------------------------------------------

def innermost_loops(function: ast.FunctionDef):
    """Loops over ranges without loops in them and without a factor yet."""
    for part in ast.walk(function):
        if isinstance(part, ast.For) and isinstance(part.iter, ast.Call) and \
                dotted(part.iter.func) in ("range", "tl.range"):
            inner = any(isinstance(other, ast.For) for other in ast.walk(part) if other is not part)
            factor = any(word.arg == "loop_unroll_factor" for word in part.iter.keywords)
            if not inner and not factor:
                yield part


def unroll(function: ast.FunctionDef, parameters: dict, _grid: list) -> None:
    """Gives every innermost loop a factor."""
    factor = parameters.get("factor", "")
    if factor not in UNROLL_FACTORS:
        raise Refused("'factor' is one of " + ", ".join(UNROLL_FACTORS))
    loops = list(innermost_loops(function))
    if not loops:
        raise Refused("there is no loop over a range")
    for loop in loops:
        loop.iter.func = ast.parse("tl.range", mode="eval").body
        loop.iter.keywords.append(ast.keyword("loop_unroll_factor", ast.Constant(int(factor))))


def offer_unroll(function: ast.FunctionDef, _grid: list):
    """Where there is a loop."""
    if any(True for _ in innermost_loops(function)):
        for factor in UNROLL_FACTORS:
            yield {"factor": factor}


# ---- dot_precision ---------------------------------------------------------------------------------------------------

def exact_dots(function: ast.FunctionDef):
    """tl.dot(..., input_precision="ieee")"""
    for part in ast.walk(function):
        if isinstance(part, ast.Call) and dotted(part.func) == "tl.dot":
            for word in part.keywords:
                if word.arg == "input_precision" and isinstance(word.value, ast.Constant) and word.value.value == "ieee":
                    yield word


def dot_precision(function: ast.FunctionDef, parameters: dict, _grid: list) -> None:
    """Products of shorter inputs."""
    value = parameters.get("value", "")
    if value not in PRECISIONS:
        raise Refused("'value' is one of " + ", ".join(PRECISIONS))
    words = list(exact_dots(function))
    if not words:
        raise Refused("no product asks for exact inputs")
    for word in words:
        word.value = ast.Constant(value)


def offer_dot_precision(function: ast.FunctionDef, _grid: list):
    """Where products are exact."""
    if any(True for _ in exact_dots(function)):
        for value in PRECISIONS:
            yield {"value": value}


STEPS = {
    "unmask": (unmask, offer_unmask),
    "grouped_order": (grouped_order, offer_grouped_order),
    "unroll": (unroll, offer_unroll),
    "dot_precision": (dot_precision, offer_dot_precision),
}


def proposals(module: str, kernel: str, grid: list) -> list[dict]:
    """All steps that apply."""
    function = kernel_of(ast.parse(module), kernel)
    found = []
    for name, (_, offer) in STEPS.items():
        try:
            found += [{"step": name, "parameters": parameters} for parameters in offer(function, grid)]
        except Refused:
            continue
    return found


def apply(job: dict) -> dict:
    """The module and grid after a step. Raises Refused."""
    if job["step"] not in STEPS:
        raise Refused(f"'{job['step']}' is no step of Triton's")
    tree = ast.parse(job["module"])
    grid = list(job["grid"])
    function = kernel_of(tree, job["kernel"])
    STEPS[job["step"]][0](function, job["parameters"], grid)
    lines = job["module"].splitlines()
    original = kernel_of(ast.parse(job["module"]), job["kernel"])
    first = min([original.lineno, *(decorator.lineno for decorator in original.decorator_list)])
    text = ast.unparse(ast.fix_missing_locations(function)).splitlines()
    lines[first - 1:original.end_lineno] = text
    return {"module": "\n".join(lines) + "\n", "grid": grid}


def main() -> int:
    job = json.load(sys.stdin)
    try:
        result = apply(job) if "step" in job else proposals(job["module"], job["kernel"], job["grid"])
    except Refused as error:
        print(error, file=sys.stderr)
        return 1
    except (SyntaxError, RecursionError) as error:
        print(f"the module cannot be read: {error}", file=sys.stderr)
        return 1
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
