"""Cuts a Triton kernel out of a Python file, with the device functions and constants that it mentions, and says what
can be seen of its parameters and launches. Nothing of the file is run.

    python -I cut_out.py NAME GIVEN < FILE    NAME may be empty: the only kernel that is launched, or the only one

GIVEN is JSON of what the user says: {"sizes": {name: value}, "shapes": {pointer: [extent, ...]}}. Prints JSON: kernel,
module (text that compiles alone), parameters, launch (host_launch.py; null: there is none), configs. Exit status 1 with a message on
standard error where the file is at fault.
"""
import ast
import json
import pathlib
import sys
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from host_launch import LaunchReader, places_of  # noqa: E402
from module_rules import (  # noqa: E402
    DROPPED_DECORATORS, JIT_NAMES, NotAllowed, check_module, decorator_name, dotted, import_is_allowed, is_constant,
    is_constant_parameter, is_device_function)

LOADS = {"load"}
STORES = {"store", "atomic_add", "atomic_max", "atomic_min", "atomic_and", "atomic_or", "atomic_xor", "atomic_xchg",
          "atomic_cas"}


class Unusable(Exception):
    """The file has no such kernel, or one that cannot be cut out."""


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
        words = [word.value for word in address.keywords if word.arg in ("base", "ptr")]
        for argument in address.args[:1] or words:
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


def index_uses(function: ast.FunctionDef, made_of: dict[str, set[str]], parameters: set[str]) \
        -> dict[str, tuple[str, int]]:
    """Parameters through which places in others are loaded, with those others and the axis that they are places along:
    `rows` of `tl.load(table + tl.load(rows + i) * width)`, along the first, as something is multiplied by it."""
    loaded: dict[str, set[str]] = {}

    def loads_in(node: ast.AST) -> set[str]:
        """Parameters whose elements an expression is made of."""
        found: set[str] = set()
        for part in ast.walk(node):
            if isinstance(part, ast.Name):
                found |= loaded.get(part.id, set())
            if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr in LOADS and part.args:
                found |= bases(part.args[0], made_of, parameters)
        return found
    for _ in range(2):
        for part in ast.walk(function):
            if isinstance(part, ast.Assign) and len(part.targets) == 1 and isinstance(part.targets[0], ast.Name):
                found = loads_in(part.value)
                if found:
                    loaded.setdefault(part.targets[0].id, set()).update(found)
    uses: dict[str, tuple[str, int]] = {}
    for address in memory_calls(function, LOADS | STORES):
        scaled = set()
        for part in ast.walk(address):
            if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mult):
                scaled |= loads_in(part)
        for target in bases(address, made_of, parameters):
            for index in loads_in(address) - {target}:
                uses.setdefault(index, (target, 0 if index in scaled else -1))
    return uses


def arguments_of(function: ast.FunctionDef) -> list[ast.arg]:
    """Its parameters, in order."""
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def accesses(function: ast.FunctionDef, functions: dict[str, ast.FunctionDef], around=()) -> dict[str, set[str]]:
    """Parameters through which it loads, stores, and stores atomically, itself or by device functions that it calls;
    "typed" are those whose elements' type it asks for."""
    names = {argument.arg for argument in arguments_of(function)}
    made_of = address_variables(function, names)
    found: dict[str, set[str]] = {"loaded": set(), "stored": set(), "atomic": set(), "typed": set()}
    for kind, operations in (("loaded", LOADS), ("stored", STORES), ("atomic", STORES - {"store"})):
        for address in memory_calls(function, operations):
            found[kind] |= bases(address, made_of, names)
    for part in ast.walk(function):
        if isinstance(part, ast.Attribute) and part.attr == "element_ty":
            found["typed"] |= {dotted(part.value).split(".")[0]} & names
        if not isinstance(part, ast.Call) or not isinstance(part.func, ast.Name) or part.func.id in around:
            continue
        callee = functions.get(part.func.id)
        if callee is None or callee is function:
            continue
        inner = accesses(callee, functions, (*around, function.name))
        passed = dict(zip([one.arg for one in arguments_of(callee)], part.args)) | \
            {word.arg: word.value for word in part.keywords if word.arg}
        for kind, its in inner.items():
            for name in its & set(passed):
                found[kind] |= bases(passed[name], made_of, names)
    return found


def describe_parameters(function: ast.FunctionDef, functions: dict[str, ast.FunctionDef]) -> list[dict]:
    """Name, kind and direction of each parameter, as the function's body shows them."""
    arguments = arguments_of(function)
    defaults = dict(zip([one.arg for one in reversed([*function.args.posonlyargs, *function.args.args])],
                        reversed(function.args.defaults)))
    defaults |= {one.arg: value for one, value in zip(function.args.kwonlyargs, function.args.kw_defaults) if value}
    names = {argument.arg for argument in arguments}
    found = accesses(function, functions)
    indexes = index_uses(function, address_variables(function, names), names)
    result = []
    for argument in arguments:
        name = argument.arg
        default = defaults.get(name)
        annotation = argument.annotation
        loaded, stored = name in found["loaded"], name in found["stored"]
        result.append({
            "name": name,
            "constant": is_constant_parameter(argument),
            "pointer": loaded or stored or name in found["typed"] or name.endswith("_ptr"),
            "loaded": loaded,
            "stored": stored,
            "atomic": name in found["atomic"],
            "indexes": indexes.get(name, ("", 0))[0],
            "index_axis": indexes.get(name, ("", 0))[1],
            "annotation": annotation.value if isinstance(annotation, ast.Constant) else
                          dotted(annotation) if annotation is not None else "",
            "default": default.value if isinstance(default, ast.Constant) else None,
        })
    return result


def refuse_what_a_launcher_makes(function: ast.FunctionDef) -> None:
    """A buffer of addresses leads to memory that no argument is, and a descriptor is no pointer. Raises Unusable."""
    names = {one.arg for one in arguments_of(function)}
    for part in ast.walk(function):
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr in ("load", "store") and \
                isinstance(part.func.value, ast.Name) and part.func.value.id in names:
            raise Unusable(f"line {part.lineno}: '{part.func.value.id}' of '{function.name}' is a tensor descriptor, whose table is the "
                           "launcher's, which is not supported; pass the pointer with its strides instead")
        if isinstance(part, ast.Call) and dotted(part.func).split(".")[-1] == "pointer_type":
            raise Unusable(f"line {part.lineno}: '{function.name}' loads addresses from memory, and what they lead to is no "
                           "argument of it, so that no content can be made for it; pass one pointer with offsets instead")


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
    return jit + "\n" + textwrap.dedent("\n".join(lines[function.lineno - 1:function.end_lineno]))


def top_level(body: list):
    """Statements of a module, those under its conditions and in its `try` blocks among them."""
    for node in body:
        yield node
        if isinstance(node, (ast.If, ast.Try)):
            yield from top_level(node.body)
            yield from top_level(node.orelse)


def allowed_imports(node: ast.AST) -> list[str]:
    """What an import brings in of Triton, a statement each."""
    if isinstance(node, ast.Import):
        parts = [ast.Import([name]) for name in node.names]
        return [ast.unparse(part) for part in parts if import_is_allowed(part)]
    return [ast.unparse(node)] if isinstance(node, ast.ImportFrom) and import_is_allowed(node) else []


def one_of_each(imports: list[str]) -> list[str]:
    """Without those that bring in a name once more, for other versions of Triton: libdevice's of today stay, else the first."""
    chosen: dict[tuple, str] = {}
    for statement in imports:
        names = tuple(name.asname or name.name for name in ast.parse(statement).body[0].names)
        if names not in chosen or ("extra.libdevice" in statement and "extra.libdevice" not in chosen[names]):
            chosen[names] = statement
    return list(chosen.values())


def cut_out(text: str, wanted: str, given: dict | None = None) -> dict:
    """The kernel as a module of its own, and what is seen of it; `given` has what the user says already (sizes, shapes).
    Raises Unusable, SyntaxError."""
    tree = ast.parse(text)
    lines = text.splitlines()
    statements = list(top_level(tree.body))
    functions = {node.name: node for node in statements if is_device_function(node)}
    if not functions:
        raise Unusable("the file holds no function under @triton.jit")
    kernel = choose(tree, functions, wanted)
    refuse_what_a_launcher_makes(functions[kernel])
    constants = {}
    imports = []
    for node in statements:
        imports += allowed_imports(node)
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
              else textwrap.dedent("\n".join(lines[node.lineno - 1:node.end_lineno])) for node in parts]
    if "import triton" not in imports:
        imports.insert(0, "import triton")
    module = "\n".join(one_of_each(imports)) + "\n\n\n" + "\n\n\n".join(pieces) + "\n"
    check_module(module)
    parameters = describe_parameters(functions[kernel], functions)
    reader = LaunchReader(tree, text, functions[kernel], set(functions), parameters, given or {})
    launch, configs = reader.read(), reader.written_configurations()
    return {
        "kernel": kernel,
        "module": module,
        "parameters": parameters,
        "launch": launch,
        "configs": configs,
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
    launched = [name for name in candidates if places_of(tree, name)]
    if len(launched) == 1:
        return launched[0]
    if len(candidates) == 1:
        return candidates[0]
    raise Unusable(f"the file has several kernels: {', '.join(candidates or functions)}; choose one with --kernel")


def main(wanted: str = "", given: str = "{}") -> int:
    try:
        print(json.dumps(cut_out(sys.stdin.read(), wanted, json.loads(given))))
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
