"""Reads the host code of a Triton module as a person does, without running it: what a launcher passes to a kernel, in terms
of sizes. Python's statements are followed with values that are expressions (host_values.py); conditions are decided by what
these are at the chosen sizes."""
import ast
import pathlib

from host_calls import Calls
from host_expressions import MOST_STEPS, MOST_TURNS
from host_known import Known
from host_objects import Class, Function, Instance, Kernel, Launched, LoopEnds, Path, Raised, Returned, Scope
from host_torch import Rank, Shape, TensorCode, TypeOf, type_named
from host_values import Size, Unknown, value_of

MOST_FILES = 16    # that a module imports, and those import
MOST_FOLDERS = 6   # above it


def ends_function(body: list) -> bool:
    """Whether nothing behind it is reached."""
    return bool(body) and isinstance(body[-1], (ast.Return, ast.Raise))


def module_beside(file: str, name: str, level: int):
    """The file of an imported module, in the folder of `file` or above; None where there is none."""
    if not file or not (name or level):
        return None
    parts = name.split(".") if name else []
    folders = list(pathlib.Path(file).parents)[:MOST_FOLDERS]
    for folder in folders[level - 1:level] if level else folders:
        for path in (folder.joinpath(*parts).with_suffix(".py") if parts else folder / "__init__.py",
                     folder.joinpath(*parts) / "__init__.py"):
            if path.is_file() and path != pathlib.Path(file):
                return path
    return None


class Reader(Calls):
    """Follows the code of one module until `kernel` is launched."""

    def __init__(self, tree: ast.Module, kernels: set[str], kernel: str, known: Known):
        self.tree, self.kernels, self.kernel, self.known = tree, kernels, kernel, known
        self.tensors = TensorCode(known)
        self.module = Scope("")
        self.file, self.read_files = "", {}
        self.targets: set[int] = set()  # statements that the launch stands in
        self.steps = self.depth = 0

    # ---- statements

    def read_module(self, with_calls: bool) -> None:
        """Definitions and constants, with what is run when the file is a program where `with_calls` says so."""
        for node in self.tree.body:
            is_plain = isinstance(node, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign,
                                         ast.If, ast.Try))
            is_program = isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)
            if (is_plain and not is_program) or with_calls:
                try:
                    self.statement(node, self.module)
                except Raised:
                    continue
                except Launched:
                    if with_calls:
                        raise

    def block(self, body: list, scope: Scope) -> None:
        """Statements in order; ways that lead past the launch are not taken."""
        last = max((place for place, node in enumerate(body) if id(node) in self.targets), default=-1)
        for place, node in enumerate(body):
            if place < last and isinstance(node, ast.If) and id(node) not in self.targets and ends_function(node.body):
                self.holds(node.test, scope, False)
                self.block(node.orelse, scope)
                continue
            self.statement(node, scope)

    def statement(self, node: ast.stmt, scope: Scope) -> None:
        """One statement."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise Raised
        handler = getattr(self, "do_" + type(node).__name__, None)
        if handler is not None:
            handler(node, scope)

    def do_Import(self, node, scope):
        for name in node.names:
            scope.variables[name.asname or name.name.split(".")[0]] = Path(name.name if name.asname else name.name.split(".")[0])

    def do_ImportFrom(self, node, scope):
        beside = self.beside(node) if scope is self.module else None
        for name in node.names:
            if beside is not None and name.name in beside.variables:
                scope.variables[name.asname or name.name] = beside.variables[name.name]
                continue
            scope.variables[name.asname or name.name] = Path(f"{node.module}.{name.name}")

    def beside(self, node: ast.ImportFrom):
        """Variables of a module that stands near this one; None where there is none."""
        path = module_beside(self.file, node.module or "", node.level)
        if path is None or path in self.read_files or len(self.read_files) >= MOST_FILES:
            return self.read_files.get(path)
        self.read_files[path] = None  # until it is read: modules may import each other
        try:
            tree = ast.parse(path.read_text())
        except (OSError, SyntaxError, ValueError):
            return None
        other = Reader(tree, set(), "", self.known)
        other.file, other.read_files, other.steps = str(path), self.read_files, self.steps
        other.read_module(with_calls=False)
        self.steps = other.steps
        self.read_files[path] = other.module
        return other.module

    def do_FunctionDef(self, node, scope):
        if scope is self.module and node.name in self.kernels:
            scope.variables[node.name] = Kernel(node.name)
        else:
            scope.variables[node.name] = Function(node, scope)

    def do_ClassDef(self, node, scope):
        made = Class(node, scope)
        scope.variables[node.name] = made
        for one in node.body:
            if isinstance(one, (ast.Assign, ast.AnnAssign)):
                self.statement(one, made.body)

    def do_Assign(self, node, scope):
        value = self.value(node.value, scope)
        for target in node.targets:
            self.assign(target, value, scope)

    def do_AnnAssign(self, node, scope):
        if node.value is not None:
            self.assign(node.target, self.value(node.value, scope), scope)

    def do_AugAssign(self, node, scope):
        before = self.value(node.target, scope)
        self.assign(node.target, self.operate(node.op, before, self.value(node.value, scope), node), scope)

    def do_Expr(self, node, scope):
        self.value(node.value, scope)

    def do_Return(self, node, scope):
        raise Returned(self.value(node.value, scope) if node.value is not None else None)

    def do_Raise(self, _node, _scope):
        raise Raised

    def do_Break(self, _node, _scope):
        raise LoopEnds(False)

    def do_Continue(self, _node, _scope):
        raise LoopEnds(True)

    def do_Assert(self, node, scope):
        self.holds(node.test, scope, True)

    def do_If(self, node, scope):
        test = node.test
        if isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__":
            return self.block(node.body, scope)
        ends = ends_function(node.body)
        if isinstance(node.body[-1], ast.Raise):
            self.holds(test, scope, False)
        value = self.value(test, scope)
        truth = self.truth(value)
        if id(node) in self.targets:
            within = [any(id(one) in self.targets for one in part) for part in (node.body, node.orelse)]
            truth = within[0] if within[0] != within[1] else truth
        if truth is None:
            truth = self.of_device(value, not ends)
        self.block(node.body if truth else node.orelse, scope)
        return None

    @staticmethod
    def of_device(value, otherwise: bool) -> bool:
        """Whether an unknown condition holds: one that asks for the kind of device is about NVIDIA's."""
        text = getattr(value, "text", "").lower()
        if any(word in text for word in ("hip", "rocm", "amd", "xpu", "interpret", "cdna")):
            return "not " in text
        return "not " not in text if "cuda" in text else otherwise

    def do_For(self, node, scope):
        over = self.value(node.iter, scope)
        turns = over if isinstance(over, (tuple, list)) else list(over) if isinstance(over, (dict, range)) else None
        if turns is None:
            turns = [Unknown(node.lineno, ast.unparse(node.target))]
        for one in turns[:MOST_TURNS]:
            self.assign(node.target, one, scope)
            try:
                self.block(node.body, scope)
            except LoopEnds as end:
                if not end.goes_on:
                    break

    def do_While(self, node, scope):
        for _ in range(MOST_TURNS):
            if not self.truth(self.value(node.test, scope)):
                break
            try:
                self.block(node.body, scope)
            except LoopEnds as end:
                if not end.goes_on:
                    break

    def do_With(self, node, scope):
        for item in node.items:
            value = self.value(item.context_expr, scope)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, value, scope)
        self.block(node.body, scope)

    def do_Try(self, node, scope):
        try:
            self.block(node.body, scope)
        except Raised:
            for handler in node.handlers[:1]:
                self.block(handler.body, scope)
        self.block(node.finalbody, scope)

    def assign(self, target, value, scope: Scope) -> None:
        """target = value"""
        if isinstance(target, ast.Name):
            if isinstance(value, Size) and value.name and not target.id.startswith("_"):
                self.known.variables.setdefault(value.name, target.id)
            scope.variables[target.id] = self.held(scope.name, target.id, value)
        elif isinstance(target, ast.Attribute):
            owner = self.value(target.value, scope)
            if isinstance(owner, Instance):
                owner.fields[target.attr] = self.held("self", target.attr, value)
        elif isinstance(target, ast.Subscript):
            owner, key = self.value(target.value, scope), self.value(target.slice, scope)
            if isinstance(owner, dict) and isinstance(key, (str, int)):
                owner[key] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            self.unpack(target, value, scope)

    def unpack(self, target, value, scope: Scope) -> None:
        """a, *b = value"""
        starred = [isinstance(one, ast.Starred) for one in target.elts]
        if isinstance(value, Shape):
            self.known.has_axes(value.tensor, len(target.elts))
        if not isinstance(value, (tuple, list)) or len(value) < len(starred) - sum(starred) or \
                (not any(starred) and len(value) != len(starred)):
            for one in target.elts:
                self.assign(one.value if isinstance(one, ast.Starred) else one,
                            Unknown(target.lineno, ast.unparse(target)), scope)
            return
        left = starred.index(True) if True in starred else len(starred)
        right = len(starred) - left - 1
        for one, part in zip(target.elts[:left], value):
            self.assign(one, part, scope)
        if True in starred:
            self.assign(target.elts[left].value, list(value[left:len(value) - right]), scope)
            for one, part in zip(target.elts[left + 1:], value[len(value) - right:]):
                self.assign(one, part, scope)

    def held(self, scope: str, name: str, value):
        """A variable's value: where it is passed for a constant of the kernel it goes by that constant's name; where it is
        an extent of a tensor, by its own."""
        holds = self.known.holders.get((scope, name), set())
        follows = isinstance(value, Size) and value.is_exact  # then the size stays what it is, and the constant is it
        if isinstance(value, (int, Size)) and not isinstance(value, bool) and not follows and len(holds) == 1:
            return Size.symbol("=" + next(iter(holds)), value_of(value))
        if isinstance(value, int) and not isinstance(value, bool) and name in self.known.extents:
            return self.known.constant(name, value)
        return value

    def holds(self, test, scope: Scope, truth: bool) -> None:
        """What an assertion says of shapes."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self.holds(test.operand, scope, not truth)
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And if truth else ast.Or):
            for one in test.values:
                self.holds(one, scope, truth)
        if not isinstance(test, ast.Compare):
            return None
        parts = [self.value(one, scope) for one in [test.left, *test.comparators]]
        for left, operator, right in zip(parts, test.ops, parts[1:]):
            if isinstance(operator, ast.Eq if truth else ast.NotEq):
                self.are_equal(left, right)
            elif isinstance(operator, ast.In if truth else ast.NotIn) and isinstance(right, (tuple, list)) and right and \
                    isinstance(left, TypeOf):
                self.are_equal(left, right[0])
        return None

    def are_equal(self, left, right) -> None:
        """left == right is said."""
        for one, other in ((left, right), (right, left)):
            if isinstance(one, Rank) and isinstance(other, int):
                self.known.has_axes(one.tensor, other)
            if isinstance(one, Shape) and isinstance(other, (tuple, list)):
                self.known.has_axes(one.tensor, len(other))
            if isinstance(one, TypeOf) and one.tensor.open_name:
                dtype = other.tensor.dtype if isinstance(other, TypeOf) else type_named(other)
                if dtype and not one.tensor.dtype:
                    self.known.dtypes[one.tensor.open_name] = dtype
        if isinstance(left, (int, Size)) and isinstance(right, (int, Size)):
            self.known.equal(left, right)
        if isinstance(left, Shape) and isinstance(right, Shape):
            self.known.same_shape(left.tensor, right.tensor)
        if isinstance(left, (tuple, list)) and isinstance(right, (tuple, list)) and len(left) == len(right):
            for one, other in zip(left, right):
                self.are_equal(one, other)
