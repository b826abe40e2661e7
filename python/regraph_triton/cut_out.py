"""Cuts a Triton kernel out of a Python file, with the device functions and constants that it mentions, and says what
can be seen of its parameters and launches. Nothing of the file is run.

    python -I cut_out.py NAME < FILE          NAME may be empty: the only kernel that is launched, or the only one

Prints JSON: kernel, module (text that compiles alone), parameters, launches, configs. Exit status 1 with a message on
standard error where the file is at fault.
"""
import ast
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from module_rules import (  # noqa: E402
    DROPPED_DECORATORS, JIT_NAMES, NotAllowed, check_module, decorator_name, dotted, import_is_allowed, is_constant,
    is_device_function)

LOADS = {"load"}
STORES = {"store", "atomic_add", "atomic_max", "atomic_min", "atomic_and", "atomic_or", "atomic_xor", "atomic_xchg",
          "atomic_cas"}


class Unusable(Exception):
    """The file has no such kernel, or one that cannot be cut out."""


def is_constant_parameter(argument: ast.arg) -> bool:
    """Whether a parameter is a tl.constexpr."""
    return argument.annotation is not None and dotted(argument.annotation).split(".")[-1] == "constexpr"


def names_in(node: ast.AST) -> set[str]:
    """All plain names that an expression or a function mentions."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def memory_calls(function: ast.FunctionDef, operations: set[str]):
    """Address expressions of the function's loads or stores."""
    for part in ast.walk(function):
        if not isinstance(part, ast.Call) or not isinstance(part.func, ast.Attribute):
            continue
        if part.func.attr in operations and dotted(part.func.value) in ("tl", "triton.language"):
            arguments = part.args or [word.value for word in part.keywords if word.arg in ("pointer", "ptr")]
            if arguments:
                yield arguments[0]


def bases(address: ast.AST, made_of: dict[str, set[str]], parameters: set[str]) -> set[str]:
    """Parameters that an address may begin with: the leftmost name of a sum, or what that was made of."""
    while isinstance(address, ast.BinOp):
        # `x_ptr + i` and, rarely, `i + x_ptr`
        right = address.right
        if isinstance(right, ast.Name) and right.id in parameters and right.id.endswith("ptr"):
            return {right.id}
        address = address.left
    if isinstance(address, ast.Call):
        found: set[str] = set()
        for argument in address.args[:1]:
            found |= bases(argument, made_of, parameters)
        return found
    if not isinstance(address, ast.Name):
        return set()
    if address.id in made_of:
        return made_of[address.id] | ({address.id} & parameters)
    return {address.id} & parameters


def address_variables(function: ast.FunctionDef, parameters: set[str]) -> dict[str, set[str]]:
    """Variables with the parameters that an address kept in them may begin with."""
    made_of: dict[str, set[str]] = {}
    for _ in range(3):  # chains of assignments settle at once or in the next round
        for part in ast.walk(function):
            target = None
            if isinstance(part, ast.Assign) and len(part.targets) == 1 and isinstance(part.targets[0], ast.Name):
                target = part.targets[0].id
            if isinstance(part, ast.AugAssign):
                continue
            if target is not None:
                found = bases(part.value, made_of, parameters)
                if found:
                    made_of.setdefault(target, set()).update(found)
    return made_of


def describe_parameters(function: ast.FunctionDef) -> list[dict]:
    """Name, kind and direction of each parameter, as the function's body shows them."""
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    defaults = dict(zip([one.arg for one in reversed([*function.args.posonlyargs, *function.args.args])],
                        reversed(function.args.defaults)))
    defaults |= {one.arg: value for one, value in zip(function.args.kwonlyargs, function.args.kw_defaults) if value}
    names = {argument.arg for argument in arguments}
    made_of = address_variables(function, names)
    loaded, stored = set(), set()
    for address in memory_calls(function, LOADS):
        loaded |= bases(address, made_of, names)
    for address in memory_calls(function, STORES):
        stored |= bases(address, made_of, names)
    result = []
    for argument in arguments:
        name = argument.arg
        default = defaults.get(name)
        annotation = argument.annotation
        result.append({
            "name": name,
            "constant": is_constant_parameter(argument),
            "pointer": name in loaded or name in stored or name.endswith("_ptr"),
            "loaded": name in loaded,
            "stored": name in stored,
            "annotation": annotation.value if isinstance(annotation, ast.Constant) else
                          dotted(annotation) if annotation is not None else "",
            "default": default.value if isinstance(default, ast.Constant) else None,
        })
    return result


def grid_text(node: ast.AST, meta: str, passed: dict[str, str]) -> str:
    """One extent of a grid as an expression of sizes and constants; raises Unusable where it is none. `passed` has
    the parameters by what the host passes for them."""
    if ast.unparse(node) in passed:
        return passed[ast.unparse(node)]
    operators = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "/"}
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return str(node.value)
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and dotted(node.value) == meta:
        return str(node.slice.value)
    if isinstance(node, ast.BinOp) and type(node.op) in operators:
        return f"({grid_text(node.left, meta, passed)} {operators[type(node.op)]} {grid_text(node.right, meta, passed)})"
    if isinstance(node, ast.Call) and dotted(node.func).split(".")[-1] == "cdiv" and len(node.args) == 2:
        return f"cdiv({grid_text(node.args[0], meta, passed)}, {grid_text(node.args[1], meta, passed)})"
    raise Unusable("")


def grid_axes(tree: ast.Module, grid: ast.AST, passed: dict[str, str]) -> list[str]:
    """The extents of a launch's grid; empty where they cannot be read."""
    if isinstance(grid, ast.Name):
        values = [part.value for part in ast.walk(tree) if isinstance(part, ast.Assign) and len(part.targets) == 1
                  and dotted(part.targets[0]) == grid.id]
        if len(values) != 1:
            return []
        grid = values[0]
    meta = ""
    if isinstance(grid, ast.Lambda):
        meta = grid.args.args[0].arg if grid.args.args else ""
        grid = grid.body
    extents = grid.elts if isinstance(grid, (ast.Tuple, ast.List)) else [grid]
    try:
        return [grid_text(extent, meta, passed) for extent in extents]
    except Unusable:
        return []


def launches_of(tree: ast.Module, kernel: ast.FunctionDef) -> list[dict]:
    """The places where the file launches the kernel: kernel[grid](arguments)."""
    parameters = [*kernel.args.posonlyargs, *kernel.args.args]
    found = []
    for part in ast.walk(tree):
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Subscript) and dotted(part.func.value) == kernel.name:
            # A pointer's name may be anything, and a literal nobody's.
            passed = {ast.unparse(value): one.arg for one, value in zip(parameters, part.args)
                      if not isinstance(value, ast.Constant) and not is_constant_parameter(one)}
            found.append({
                "line": part.lineno,
                "grid": grid_axes(tree, part.func.slice, passed),
                "arguments": [ast.unparse(one) for one in part.args],
                "words": {word.arg: word.value.value for word in part.keywords
                          if word.arg and isinstance(word.value, ast.Constant)},
            })
    return sorted(found, key=lambda one: one["line"])


def configs_of(function: ast.FunctionDef) -> list[dict]:
    """What @triton.autotune chooses from, where it is written out."""
    found = []
    for decorator in function.decorator_list:
        if decorator_name(decorator).split(".")[-1] != "autotune" or not isinstance(decorator, ast.Call):
            continue
        for part in ast.walk(decorator):
            if isinstance(part, ast.Call) and dotted(part.func).split(".")[-1] == "Config" and part.args:
                try:
                    constants = ast.literal_eval(part.args[0])
                    words = {word.arg: ast.literal_eval(word.value) for word in part.keywords if word.arg}
                except ValueError:
                    continue
                found.append({"constants": constants, "num_warps": words.get("num_warps"),
                              "num_stages": words.get("num_stages"), "num_ctas": words.get("num_ctas")})
    return found


def text_of_function(function: ast.FunctionDef, lines: list[str]) -> str:
    """The function's own lines under triton.jit alone. Raises Unusable for other decorators."""
    jit = "@triton.jit"
    for decorator in function.decorator_list:
        name = decorator_name(decorator)
        if name in JIT_NAMES:
            jit = "@" + ast.unparse(decorator)
        elif name not in DROPPED_DECORATORS:
            raise Unusable(f"line {decorator.lineno}: '{function.name}' is under the decorator "
                           f"'{ast.unparse(decorator)[:60]}', which would run on the host")
    return jit + "\n" + "\n".join(lines[function.lineno - 1:function.end_lineno])


def cut_out(text: str, wanted: str) -> dict:
    """The kernel as a module of its own, and what is seen of it. Raises Unusable, SyntaxError."""
    tree = ast.parse(text)
    lines = text.splitlines()
    functions = {node.name: node for node in tree.body if is_device_function(node)}
    if not functions:
        raise Unusable("the file holds no function under @triton.jit")
    kernel = choose(tree, functions, wanted)
    constants = {}
    imports = []
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)) and import_is_allowed(node):
            imports.append(ast.unparse(node))
        targets = node.targets if isinstance(node, ast.Assign) else \
            [node.target] if isinstance(node, ast.AnnAssign) and node.value is not None else []
        for target in targets:
            if isinstance(target, ast.Name) and is_constant(node.value):
                constants[target.id] = node
    needed, open_names = set(), {kernel}
    while open_names:
        name = open_names.pop()
        needed.add(name)
        node = functions.get(name) or constants.get(name)
        open_names |= {other for other in names_in(node) if other in functions or other in constants} - needed
    parts = sorted((node for name, node in [*functions.items(), *constants.items()] if name in needed),
                   key=lambda node: node.lineno)
    pieces = [text_of_function(node, lines) if isinstance(node, ast.FunctionDef)
              else "\n".join(lines[node.lineno - 1:node.end_lineno]) for node in parts]
    if "import triton" not in imports:
        imports.insert(0, "import triton")
    module = "\n".join(dict.fromkeys(imports)) + "\n\n\n" + "\n\n\n".join(pieces) + "\n"
    check_module(module)
    return {
        "kernel": kernel,
        "module": module,
        "parameters": describe_parameters(functions[kernel]),
        "launches": launches_of(tree, functions[kernel]),
        "configs": configs_of(functions[kernel]),
    }


def choose(tree: ast.Module, functions: dict, wanted: str) -> str:
    """The kernel that is meant."""
    if wanted:
        if wanted not in functions:
            raise Unusable(f"there is no kernel '{wanted}'; the file has: {', '.join(functions)}")
        return wanted
    called = set()
    for name, node in functions.items():
        called |= names_in(node) & set(functions) - {name}
    candidates = [name for name in functions if name not in called]
    launched = [name for name in candidates if launches_of(tree, functions[name])]
    if len(launched) == 1:
        return launched[0]
    if len(candidates) == 1:
        return candidates[0]
    raise Unusable(f"the file has several kernels: {', '.join(candidates or functions)}; choose one with --kernel")


def main(wanted: str = "") -> int:
    try:
        print(json.dumps(cut_out(sys.stdin.read(), wanted)))
    except NotAllowed as error:
        print(f"{error.message} (line {error.line} of what was cut out)", file=sys.stderr)
        return 1
    except Unusable as error:
        print(error, file=sys.stderr)
        return 1
    except SyntaxError as error:
        print(f"line {error.lineno}: {error.msg}", file=sys.stderr)
        return 1
    except RecursionError:
        print("the file is nested too deep", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
