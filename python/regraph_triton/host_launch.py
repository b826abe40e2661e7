"""Where a module launches a kernel, and what that says: the launcher alone tells how the arguments hang together, calls of
it in the module what types and numbers they are."""
import ast
import re

from host_code import Reader
from host_known import ENOUGH_ELEMENTS, MOST_ELEMENTS, Known
from host_objects import Class, Function, Instance, Launched, LoopEnds, Raised, Returned, Scope
from host_passed import LAUNCH_WORDS, Passed, empty_result
from host_torch import TYPES
from host_values import SYMBOL, Size, product, value_of
from module_rules import decorator_name, dotted, is_device_function

MOST_READINGS = 8
MOST_CHANGES = 40
MOST_STEPS = 400_000  # of all readings, seconds
# Where a call in the module has no buffer of so many elements it is a test, and what it measures is a launch's overhead.
LEAST_ELEMENTS = 1 << 24
# How a reading ends without a launch: code may do anything with values of any kind, and then it is not understood.
ENDS = (Raised, Returned, LoopEnds, RecursionError, TypeError, ValueError, LookupError, AttributeError, ArithmeticError)
# `x: float16 [rows, columns]` in a docstring, or beside a parameter.
WRITTEN_SHAPE = re.compile(r"[\[(]\s*((?:[A-Za-z_]\w*|\d+)(?:\s*[,x*]\s*(?:[A-Za-z_]\w*|\d+))*)\s*,?\s*[\])]")
WRITTEN_TYPE = re.compile(r"\b(float16|fp16|half|bfloat16|bf16|float32|fp32|float64|fp64|int32|int64|int8|uint8)\b")
LAST = {"fp16": "fp16", "bf16": "bf16", "fp32": "fp32", "fp64": "fp64"}


def is_launch_of(node: ast.AST, kernel: str) -> bool:
    """kernel[grid](...), kernel.warmup(...) or kernel.run(...)"""
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Subscript):
        return dotted(node.func.value) == kernel
    return isinstance(node.func, ast.Attribute) and node.func.attr in ("warmup", "run") and dotted(node.func.value) == kernel


def places_of(tree: ast.Module, kernel: str) -> list[tuple[list, ast.Call]]:
    """Launches, each with the classes and functions that it stands in."""
    found, mentioned = [], []  # a mention may be a launch by another name

    def search(node: ast.AST, around: list) -> None:
        if is_launch_of(node, kernel):
            found.append((around, node))
        if isinstance(node, ast.Name) and node.id == kernel and around and isinstance(around[-1], ast.FunctionDef):
            mentioned.append((around, node))
        if is_device_function(node):
            return
        inner = around + [node] if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else around
        for child in ast.iter_child_nodes(node):
            search(child, inner)
    search(tree, [])
    return sorted(found or mentioned, key=lambda one: one[1].lineno)


def callers_of(tree: ast.Module, launchers: list) -> list[list]:
    """Functions that call a launcher, each with the classes it stands in: they say what it is passed."""
    names = {around[-1].name for around in launchers if isinstance(around[-1], ast.FunctionDef)}
    own = {id(around[-1]) for around in launchers}
    found = []

    def search(node: ast.AST, around: list) -> None:
        is_call = isinstance(node, ast.Call) and dotted(node.func).split(".")[-1] in names
        if is_call and around and isinstance(around[-1], ast.FunctionDef) and id(around[-1]) not in own:
            found.append(around)
        inner = around + [node] if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else around
        for child in ast.iter_child_nodes(node):
            search(child, inner)
    search(tree, [])
    return found


def statements_around(tree: ast.Module, launch: ast.AST) -> set[int]:
    """Identities of the statements that a launch stands in."""
    found: set[int] = set()

    def search(node: ast.AST) -> bool:
        within = node is launch or any([search(child) for child in ast.iter_child_nodes(node)])
        if within and isinstance(node, ast.stmt):
            found.add(id(node))
        return within
    search(tree)
    return found


def written_of(function: ast.FunctionDef, lines: list[str]) -> dict:
    """What a docstring or comments beside the parameters say of tensors."""
    text = (ast.get_docstring(function) or "").splitlines()
    text += [line for line in lines[function.lineno - 1:function.body[0].lineno - 1] if "#" in line]
    found = {}
    for argument in function.args.args:
        annotation = ast.unparse(argument.annotation) if argument.annotation is not None else ""
        # Float[Tensor, "rows columns"]
        named = re.search(r"Tensor\s*,\s*'([\w ]+)'", annotation)
        line = next((line for line in text if re.match(rf"\s*[-*]?\s*`?{argument.arg}\b", line)), "")
        shape, kind = WRITTEN_SHAPE.search(line), WRITTEN_TYPE.search(line)
        extents = named[1].split() if named else re.split(r"\s*[,x*]\s*", shape[1]) if shape else None
        if extents is not None and len(extents) == 1 and extents[0].lower() in ("int", "float", "bool", "optional", "tensor"):
            extents = None
        if extents is not None:
            extents = [int(one) if one.isdigit() else one for one in extents]
        dtype = TYPES.get(kind[1], LAST.get(kind[1], "")) if kind else ""
        is_tensor = "Tensor" in annotation or "ensor" in line or (kind is not None and "float16" in kind[1])
        if extents or (dtype and is_tensor):
            found[argument.arg] = (extents, dtype)
    return found


class LaunchReader:
    """Reads the module from several places until the kernel is launched, and again until nothing new is found out."""

    def __init__(self, tree: ast.Module, text: str, kernel: ast.FunctionDef, kernels: set[str], seen: list[dict],
                 given: dict):
        self.tree, self.lines, self.kernel, self.kernels, self.given = tree, text.splitlines(), kernel, kernels, given
        self.passed = Passed(kernel, seen, given)
        self.steps = 0
        self.targets: set[int] = set()

    def read(self) -> dict | None:
        """The launch that is understood best; None where there is none."""
        places = places_of(self.tree, self.kernel.name)
        if not places:
            return None
        self.targets = statements_around(self.tree, places[0][1])
        written = {}
        for around, _ in places:
            for function in around:
                if isinstance(function, ast.FunctionDef):
                    written |= written_of(function, self.lines)
        called, is_binding = self.first([*self.calls()], written, {})
        launchers = [(lambda reader, around=around: self.from_around(reader, around), False) for around, _ in places if around]
        launchers += [(lambda reader, around=around: self.from_around(reader, around), False)
                      for around in callers_of(self.tree, [around for around, _ in places if around])]
        alone, _ = self.first(launchers, written, {})
        if called is not None and alone is not None:
            result = self.joined(called, is_binding, alone, lambda usual: self.first(launchers, written, usual)[0])
        else:
            result = called or alone
        if result is None:
            node = places[0][1]
            result = empty_result(node.lineno)
            result["problems"]["grid"] = f"line {node.lineno}: how '{ast.unparse(getattr(node, 'func', node))[:60]}' is reached cannot be read"
        return self.answer(result)

    def first(self, roots: list, written: dict, usual: dict):
        """What the root says that says most; and whether its sizes are those that are meant."""
        results = []
        for root, is_binding in roots:
            result = self.read_from(root, written, usual)
            if result is not None:
                results.append((result, is_binding))
                if not result["problems"]:
                    break
        return min(results, key=lambda one: len(one[0]["problems"]), default=(None, False))

    def joined(self, called: dict, is_binding: bool, alone: dict, again) -> dict:
        """What a call in the module says of numbers and types, the launcher alone of how they hang together."""
        if set(alone["problems"]) - set(called["constants"]) or (is_binding and not called["problems"]):
            return called
        extents = [one for one in called["numbers"].values() if isinstance(one, list)]
        is_large = is_binding or max((product(one) for one in extents), default=0) >= LEAST_ELEMENTS
        meant = self.meanings(called, alone)
        result = again(meant) if is_large and meant else alone
        if result is None:
            return called
        for name in set(called["shapes"]) - set(result["shapes"]):
            shape = self.shape_by(meant, called["numbers"][name])
            if shape is not None:
                result["shapes"][name] = shape
            elif is_large:
                return called
        inherited = {one for shape in result["shapes"].values() for one in shape}
        result["types"] |= called["types"]
        result["inits"] = {name: init for name, init in called["inits"].items() if init in ("zeros", "ones", "none") or is_binding} \
            | result["inits"]
        for name, value in called["constants"].items():
            if is_large or name in result["problems"] or isinstance(value, (bool, str)) or value is None:
                result["constants"][name] = value
                result["problems"].pop(name, None)
        for name, value in called["values"].items():
            is_number = re.fullmatch(r"[-+.\de]+", value) is not None
            is_extent = name in result["numbers"] and (name in inherited or any(name in text for text in result["grid"]))
            if is_number and not is_extent and (name not in result["values"] or name in result["usual"]) and \
                    name not in result["constants"]:
                result["values"][name] = value
                result["sizes"].pop(name, None)
        return result

    @staticmethod
    def meanings(called: dict, alone: dict) -> dict[str, int]:
        """Sizes of the launcher with their values in the call."""
        meant: dict = {}
        for name, shape in [*alone["shapes"].items(), *((name, name) for name in alone["numbers"])]:
            numbers = called["numbers"].get(name)
            if isinstance(shape, str):
                shape, numbers = [alone["values"].get(name, name)], [numbers]
            if not isinstance(numbers, list) or len(numbers) != len(shape):
                continue
            for text, number in zip(shape, numbers):
                if SYMBOL.fullmatch(text) and text in alone["sizes"] and isinstance(number, int):
                    meant.setdefault(text, number)
        return meant

    @staticmethod
    def shape_by(meant: dict[str, int], extents: list) -> list[str] | None:
        """A shape in terms of sizes, where each extent is just one of them."""
        shape = []
        for extent in extents:
            names = [name for name, value in meant.items() if value == extent]
            if len(names) != 1:
                return None
            shape.append(names[0])
        return shape

    def answer(self, result: dict) -> dict:
        """As draft_text (src/triton/cut_out.cpp) reads it."""
        arguments: dict = {}
        for name, shape in result["shapes"].items():
            arguments.setdefault(name, {})["shape"] = shape
        for name, init in result["inits"].items():
            if init == "none" and name in self.passed.written_only:
                arguments.setdefault(name, {})["dir"] = "out"
            elif init not in ("none", "ones"):
                arguments.setdefault(name, {})["init"] = init
        for name, value in result["values"].items():
            arguments.setdefault(name, {})["value"] = value
        notes = list(result["notes"])
        for called, which in result["chosen"]:
            names = [name for name in which if name in result["sizes"]]
            if names:
                sizes = ", ".join(f"{name} = {result['sizes'][name]}" for name in names)
                said = f"sizes: {sizes}, as the module's own calls have it" if called else f"no size is given: {sizes}"
                notes.append(f"{said} (change it with --size {names[0]}=...)")
        kept = ("line", "grid", "constants", "options", "types", "problems")
        return {name: result[name] for name in kept} | {"notes": notes,
                                                        "manifest": {"sizes": result["sizes"], "args": arguments}}

    def calls(self):
        """Functions of a Reader that lead to the launch by calls with tensors of known shape, and whether these shapes are
        the ones that are meant."""
        classes = [node for node in self.tree.body if isinstance(node, ast.ClassDef)
                   and any(isinstance(one, ast.FunctionDef) and one.name == "forward" for one in node.body)]
        functions = {node.name: node for node in self.tree.body if isinstance(node, ast.FunctionDef)}
        modules = [one for one in classes if "autograd" not in " ".join(map(ast.unparse, one.bases))]
        modules.sort(key=lambda one: one.name != "ModelNew")
        if "get_inputs" in functions:
            for one in modules:
                yield lambda reader, one=one: self.from_inputs(reader, one), True
        yield lambda reader: reader.read_module(with_calls=True), False
        for name, node in functions.items():
            if re.match(r"test|main|run|bench|check|demo", name):
                yield lambda reader, node=node: self.from_test(reader, node), False

    @staticmethod
    def from_test(reader: Reader, node: ast.FunctionDef) -> None:
        """A function without parameters, or with those of @pytest.mark.parametrize."""
        reader.read_module(with_calls=False)
        given: dict = {}
        for decorator in node.decorator_list:
            if not decorator_name(decorator).endswith("parametrize") or len(decorator.args) < 2:
                continue
            names, values = (reader.value(one, reader.module) for one in decorator.args[:2])
            names = re.split(r"\s*,\s*", names) if isinstance(names, str) else list(names)
            first = values[0] if len(names) > 1 else [values[0]]
            given |= dict(zip(names, first))
        needed = len(node.args.args) - len(node.args.defaults)
        if all(one.arg in given for one in node.args.args[:needed]):
            reader.enter(Function(node, reader.module), [], given)

    def from_inputs(self, reader: Reader, node: ast.ClassDef) -> None:
        """ModelNew(*get_init_inputs())(*get_inputs())"""
        reader.read_module(with_calls=False)
        scope = reader.module

        def called(name: str) -> list:
            function = scope.variables.get(name)
            result = reader.enter(function, [], {}) if isinstance(function, Function) else []
            return list(result) if isinstance(result, (tuple, list)) else []
        given = called("get_init_inputs")
        made = reader.construct(scope.variables[node.name], given, {})
        reader.call(made, called("get_inputs"), {}, node, scope)

    def from_around(self, reader: Reader, around: list) -> None:
        """The launcher itself, with arguments that nothing is known of."""
        reader.read_module(with_calls=False)
        outer = around[0]
        if isinstance(outer, ast.ClassDef):
            made = reader.module.variables.get(outer.name)
            method = next((one for one in around if isinstance(one, ast.FunctionDef)), None)
            if not isinstance(made, Class) or method is None:
                return
            is_autograd = any("Function" in ast.unparse(one) for one in outer.bases)
            instance = Instance(None) if is_autograd else reader.construct(made, [], {})
            reader.enter(reader.bound(method, made.scope, instance), [], {})
            return
        scope = reader.module
        for node in around[:-1]:
            scope = Scope(node.name, scope)
        reader.enter(Function(around[-1], scope), [], {})

    def read_from(self, root, written: dict, usual: dict) -> dict | None:
        """Until nothing new is found out."""
        known = Known(self.given.get("sizes", {}), written, usual)
        result = None
        for _ in range(MOST_CHANGES):
            for _ in range(MOST_READINGS):
                before = known.state()
                result = self.read_once(root, known)
                if known.state() == before:
                    break
            if self.steps > MOST_STEPS:
                break
            if result is None or not (self.follow_others(result, known) or self.fit(result, known)):
                break
        return result

    @staticmethod
    def follow_others(result: dict, known: Known) -> bool:
        """Extents that only a tensor's own strides follow are those of another tensor with as many axes: the kernel knows
        of no others. Returns whether there are such."""
        anchored, found = result["anchored"], False
        for name, bound in result["bounds"].items():
            if name not in anchored and name not in known.values and bound in anchored:
                known.aliases.setdefault(name, bound)
                found = True
        if found:
            return True
        for tensor in result["tensors"]:
            for axis, extent in enumerate(tensor):
                if not isinstance(extent, Size) or not extent.name or extent.name in anchored or extent.name in known.values:
                    continue
                for other in result["tensors"]:
                    target = other[axis] if len(other) == len(tensor) else None
                    if isinstance(target, Size) and target.name in anchored:
                        known.aliases.setdefault(extent.name, target.name)
                        found = True
                        break
        return found

    @staticmethod
    def fit(result: dict, known: Known) -> bool:
        """Halves the largest extent of a buffer that is too large, doubles the first one of buffers that are all too small;
        of sizes that nothing says. Returns whether something was to be changed."""
        largest = max(result["tensors"], key=lambda one: value_of(product(one)), default=[])
        count = value_of(product(largest))
        free = [one.name for one in largest if isinstance(one, Size) and one.name and not known.is_told(one.name)]
        if not free:
            return False
        if count > MOST_ELEMENTS:
            name = max(free, key=known.value)
            known.fitted[name] = max(known.value(name) // 2, 1)
        elif count < ENOUGH_ELEMENTS and known.moves_once and len(largest) > 2:
            known.fitted[free[0]] = known.value(free[0]) * 2
        else:
            return False
        return True

    def read_once(self, root, known: Known) -> dict | None:
        """One reading."""
        if self.steps > MOST_STEPS:
            return None
        reader = Reader(self.tree, self.kernels, self.kernel.name, known)
        reader.file, reader.targets = self.given.get("file", ""), self.targets
        try:
            try:
                root(reader)
            except Launched as launched:
                return self.passed.describe(launched, reader)
        except (Launched, *ENDS):  # what describes a launch runs code, too
            return None
        finally:
            self.steps += reader.steps
        return None

    def written_configurations(self) -> list[dict]:
        """What @triton.autotune chooses from, with numbers for all."""
        reader = Reader(self.tree, self.kernels, self.kernel.name, Known({}, {}, {}))
        reader.file = self.given.get("file", "")
        try:
            reader.read_module(with_calls=False)
        except (Launched, *ENDS):
            return []
        found = []
        for one in self.passed.configurations(reader):
            words = {name: value_of(one.words.get(name)) for name in LAUNCH_WORDS}
            constants = {name: value_of(value) for name, value in one.constants.items()
                         if isinstance(value, (int, float, str, Size))}
            found.append({"constants": constants, **{name: value if isinstance(value, int) else None
                                                     for name, value in words.items()}})
        return found
