"""What a Triton module may hold that is compiled: functions for the device, and constants. Whoever compiles one runs
its top level, so nothing else is let through."""
import ast
import builtins

ALLOWED_IMPORTS = {
    "triton", "triton.language", "triton.language.extra", "triton.language.extra.libdevice",
    "triton.language.extra.cuda.libdevice", "triton.language.math", "math",
}
# Decorators of a device function; autotune and heuristics choose values at launches, which the header names.
JIT_NAMES = {"triton.jit", "jit"}
DROPPED_DECORATORS = {"triton.autotune", "autotune", "triton.heuristics", "heuristics"}
LONGEST_TEXT_BYTES = 256 << 10


class NotAllowed(Exception):
    """Something a module for the device must not hold; `line` is where."""

    def __init__(self, line: int, message: str):
        super().__init__(message)
        self.line = line
        self.message = message


def dotted(node: ast.AST) -> str:
    """`triton.language` of the expression for it; empty for anything that is no dotted name."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = dotted(node.value)
        return f"{base}.{node.attr}" if base else ""
    return ""


def decorator_name(node: ast.AST) -> str:
    """The dotted name of a decorator, with or without arguments."""
    return dotted(node.func if isinstance(node, ast.Call) else node)


def is_device_function(node: ast.AST) -> bool:
    """Whether it is a function under @triton.jit."""
    if not isinstance(node, ast.FunctionDef):
        return False
    return any(decorator_name(decorator) in JIT_NAMES for decorator in node.decorator_list)


def is_constant_parameter(argument: ast.arg) -> bool:
    """Whether a parameter is a tl.constexpr."""
    return argument.annotation is not None and dotted(argument.annotation).split(".")[-1] == "constexpr"


def is_constant(node: ast.AST) -> bool:
    """Whether an expression is a number, a text or a type of Triton's, or made of those by operators: nothing is
    called but tl.constexpr, so that evaluating it does nothing."""
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, (ast.Name, ast.Attribute)):
        return bool(dotted(node)) and "__" not in dotted(node)
    if isinstance(node, ast.UnaryOp):
        return is_constant(node.operand)
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, (ast.Pow, ast.LShift)):
            return _is_small(node.left) and _is_small(node.right)
        if isinstance(node.op, ast.Mult) and (_is_text(node.left) or _is_text(node.right)):
            return False
        return is_constant(node.left) and is_constant(node.right)
    if isinstance(node, (ast.Tuple, ast.List)):
        return all(is_constant(element) for element in node.elts)
    if isinstance(node, ast.Call):
        return dotted(node.func) in ("tl.constexpr", "constexpr", "triton.language.constexpr") and not node.keywords \
            and all(is_constant(argument) for argument in node.args)
    return False


def _is_small(node: ast.AST) -> bool:
    """A number that may be an exponent: powers of others can be huge."""
    return isinstance(node, ast.Constant) and isinstance(node.value, int) and abs(node.value) <= 64


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)) \
        or isinstance(node, (ast.Tuple, ast.List))


def _check_function(node: ast.FunctionDef) -> None:
    for decorator in node.decorator_list:
        name = decorator_name(decorator)
        if name not in JIT_NAMES:
            raise NotAllowed(decorator.lineno, f"the decorator '{ast.unparse(decorator)}' is run before the kernel is "
                                               "compiled; only triton.jit may stand there")
        if isinstance(decorator, ast.Call) and not all(is_constant(word.value) for word in decorator.keywords):
            raise NotAllowed(decorator.lineno, "the arguments of triton.jit must be constants")
    arguments = node.args
    for default in [*arguments.defaults, *(one for one in arguments.kw_defaults if one is not None)]:
        if not is_constant(default):
            raise NotAllowed(default.lineno, f"the default '{ast.unparse(default)}' is not a constant")
    for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
        if argument.annotation is not None and not is_constant(argument.annotation):
            raise NotAllowed(argument.lineno, f"the annotation of '{argument.arg}' is not a type of Triton's")
    if arguments.vararg or arguments.kwarg:
        raise NotAllowed(node.lineno, f"'{node.name}' takes any number of arguments")
    if node.returns is not None and not is_constant(node.returns):
        raise NotAllowed(node.lineno, f"what '{node.name}' is said to return is not a type")
    for part in ast.walk(node):
        if isinstance(part, (ast.Attribute, ast.Name)):
            name = part.attr if isinstance(part, ast.Attribute) else part.id
            if name.startswith("__"):
                raise NotAllowed(part.lineno, f"'{name}' reaches into Python, not into the kernel")
        if isinstance(part, (ast.Import, ast.ImportFrom)):
            raise NotAllowed(part.lineno, "an import within a kernel")
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id in FORBIDDEN_CALLS:
            raise NotAllowed(part.lineno, f"'{part.func.id}' runs on the host, not in a kernel")
        if isinstance(part, ast.Attribute) and part.attr in ("inline_asm_elementwise", "device_print", "device_assert"):
            raise NotAllowed(part.lineno, f"'{part.attr}' is not supported")


FORBIDDEN_CALLS = {name for name in vars(builtins) if callable(getattr(builtins, name))} - {
    "abs", "bool", "float", "int", "isinstance", "len", "max", "min", "range", "tuple", "sum",
}


def import_is_allowed(node: ast.AST) -> bool:
    """Whether an import brings in Triton's language or constants."""
    if isinstance(node, ast.Import):
        return all(name.name in ALLOWED_IMPORTS for name in node.names)
    return isinstance(node, ast.ImportFrom) and node.level == 0 and node.module in ALLOWED_IMPORTS


def check_module(text: str) -> ast.Module:
    """The tree of a module that may be run. Raises NotAllowed, SyntaxError."""
    if len(text.encode()) > LONGEST_TEXT_BYTES:
        raise NotAllowed(1, "the module is longer than 256 KiB")
    tree = ast.parse(text)
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            if not import_is_allowed(node):
                raise NotAllowed(node.lineno, f"'{ast.unparse(node)}': a kernel's module may import Triton alone")
        elif isinstance(node, ast.FunctionDef):
            if not is_device_function(node):
                raise NotAllowed(node.lineno, f"'{node.name}' is no device function (@triton.jit)")
            _check_function(node)
        elif isinstance(node, ast.Assign):
            if not is_constant(node.value) or not all(isinstance(target, ast.Name) for target in node.targets):
                raise NotAllowed(node.lineno, f"'{ast.unparse(node)}' is no constant")
        elif isinstance(node, ast.AnnAssign):
            if node.value is None or not is_constant(node.value) or not is_constant(node.annotation) \
                    or not isinstance(node.target, ast.Name):
                raise NotAllowed(node.lineno, f"'{ast.unparse(node)}' is no constant")
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            raise NotAllowed(node.lineno, f"'{ast.unparse(node)[:60]}' would run on the host")
    return tree
