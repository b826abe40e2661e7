"""What a launch of a Triton kernel passes, from what its host code was read as: grid, constants, shapes, types and values as
expressions of sizes."""
import ast
import re

from host_code import Reader
from host_known import Known
from host_objects import (
    Configuration, Function, Launched, LoopEnds, Raised, Returned, binding, defaults_of)
from host_torch import WRITTEN_TYPES, TypeOf, type_named
from host_values import SYMBOL, Argument, Quotient, Size, Tensor, Unknown, text_of, value_of
from kernel_facts import bounding, places, stride_bounds, tiles
from module_rules import decorator_name, dotted, is_constant_parameter

UNKNOWN_CONSTANT = 1024
LAUNCH_WORDS = ("num_warps", "num_stages", "num_ctas")
# Numbers that are no integers, and what they usually are.
FLOATS = ((re.compile(r"(^|_)(eps|epsilon)$", re.I), "1e-05"), (re.compile(r"(^|_)(p|p_drop|dropout|dropout_p|prob)$", re.I), "0.5"),
          (re.compile(r"(^|_)(scale|sm_scale|softmax_scale|temperature)$", re.I), "0.125"),
          (re.compile(r"(^|_)(alpha|beta|gamma|lr|momentum|slope|weight_decay|theta|inv_\w+)$", re.I), "0.5"))


def usual_float(*names: str) -> str:
    """What a number of one of these names usually is; empty: they name no such number."""
    return next((value for name in names for pattern, value in FLOATS if pattern.search(name)), "")


def empty_result(line: int) -> dict:
    """A launch of which nothing is known but where it stands."""
    return {"line": line, "grid": [], "constants": {}, "options": {}, "values": {}, "shapes": {}, "types": {}, "inits": {},
            "sizes": {}, "notes": [], "problems": {}, "tensors": [], "numbers": {}, "anchored": set(), "usual": set(), "bounds": {},
            "chosen": []}


class Passed:
    """Describes launches of one kernel. `seen` are its parameters as its body shows them."""

    def __init__(self, kernel: ast.FunctionDef, seen: list[dict], given: dict):
        self.kernel, self.given = kernel, given
        self.parameters = [*kernel.args.posonlyargs, *kernel.args.args, *kernel.args.kwonlyargs]
        self.names = {one.arg for one in self.parameters}
        self.pointers = {one["name"] for one in seen if one["pointer"]}
        self.places = places(kernel, self.pointers)
        self.tiles = tiles(kernel)
        # Further loops of the same length go through the rows once more, not deeper.
        loops = [part for part in ast.walk(kernel) if isinstance(part, ast.For)]
        inner = {id(part) for loop in loops for part in ast.walk(loop) if part is not loop and isinstance(part, ast.For)}
        outer = [loop for loop in loops if id(loop) not in inner]
        self.first_loops = outer[:1] + [loop for loop in loops if outer and id(loop) in inner and loop in ast.walk(outer[0])]
        self.bounding = bounding(kernel)
        self.stride_bounds = stride_bounds(kernel)
        self.indexes = {one["name"]: one["indexes"] for one in seen if one["indexes"]}
        self.index_axes = {one["name"]: one["index_axis"] for one in seen}
        self.written_only = {one["name"] for one in seen if one["stored"] and not one["loaded"] and not one["atomic"]}

    def describe(self, launched: Launched, reader: Reader) -> dict:
        """What it passes."""
        known = reader.known
        line = launched.node.lineno
        result = empty_result(line)
        passed = binding(self.kernel, launched.args, launched.words)
        self.note_holders(launched, reader)
        options = {name: launched.words[name] for name in LAUNCH_WORDS if name in launched.words}
        configurations = self.configurations(reader)
        if configurations:
            first = configurations[0]
            passed |= {name: value for name, value in first.constants.items() if name not in passed}
            options = {name: first.words[name] for name in LAUNCH_WORDS if first.words.get(name) is not None} | options
        for name, default in defaults_of(self.kernel).items():
            if name not in passed:
                passed[name] = reader.value(default, reader.module)
        passed |= {name: value for name, value in self.given.get("constants", {}).items() if name in self.names}
        self.take_heuristics(passed, reader)
        for name, value in options.items():
            if isinstance(value, (int, Size)):
                result["options"][name] = int(value_of(value))
            else:
                result["problems"][name] = self.reason(value, line)
        meta = {}
        for one in self.parameters:
            value = passed.get(one.arg)
            if is_constant_parameter(one):
                value = self.take_constant(one.arg, value, one.arg in passed, line, known, result)
            meta[one.arg] = value
        self.name_sizes(launched, passed, known)
        self.take_grid(launched.grid, {**options, **meta}, reader, line, result)
        for one in self.parameters:
            if not is_constant_parameter(one) and one.arg in passed:
                self.take_argument(one.arg, passed[one.arg], known, result)
        self.take_alike(passed, result)
        known.moves_once = self.moves_once(passed, result)
        self.take_indices(passed, result)
        self.take_bounds(launched, passed, result)
        self.take_anchors(launched, passed, result)
        self.finish(known, result)
        return result

    def moves_once(self, passed: dict, result: dict) -> bool:
        """Whether programs and their loops together go through no more than the largest buffer's axes."""
        if any(isinstance(part, ast.Attribute) and part.attr.startswith("dot") for part in ast.walk(self.kernel)):
            return False
        extents = [name for text in result["grid"] for name in SYMBOL.findall(text) if name not in ("cdiv", "min", "max")]
        for part in ast.walk(self.kernel):
            is_loop = isinstance(part, ast.For) and isinstance(part.iter, ast.Call) and \
                dotted(part.iter.func).split(".")[-1] == "range" and part.iter.args
            if not is_loop or (len(part.iter.args) > 1 and not isinstance(part.iter.args[0], ast.Constant)):
                continue
            end = part.iter.args[1 if len(part.iter.args) > 1 else 0]
            named = {name.id for name in ast.walk(end) if isinstance(name, ast.Name)}
            loop = [passed[name].text() for name in named if isinstance(passed.get(name), Size)]
            extents += [one for one in loop if not one.startswith("=")][:1] if part in self.first_loops else []
        return len(extents) <= max([1, *map(len, result["tensors"])])

    def nodes_of(self, launched: Launched) -> dict:
        """The expressions that the launch passes, by parameter, up to the first `*` among them."""
        args = []
        for one in launched.node.args:
            if isinstance(one, ast.Starred):
                break
            args.append(one)
        return binding(self.kernel, args, {one.arg: one.value for one in launched.node.keywords if one.arg})

    def extents_of(self, launched: Launched) -> set[str]:
        """Parameters that no stride is passed for, as far as can be seen."""
        return {name for name, node in self.nodes_of(launched).items()
                if "stride" not in ast.unparse(node) and "stride" not in name}

    def take_anchors(self, launched: Launched, passed: dict, result: dict) -> None:
        """Sizes that the kernel is passed themselves."""
        values = (passed.get(name) for name in self.extents_of(launched))
        result["anchored"] |= {one.name for one in values if isinstance(one, Size) and one.name}

    def take_alike(self, passed: dict, result: dict) -> None:
        """A buffer of which nothing else is known, and which is touched at no places but those of another: it is as long."""
        for name in self.pointers & set(passed) - set(result["shapes"]):
            places = self.places.get(name)
            for other in result["shapes"] if places else ():
                if name not in result["constants"] and places <= self.places.get(other, set()):
                    result["shapes"][name] = result["shapes"][other]
                    result["numbers"][name] = result["numbers"][other]
                    break

    def take_bounds(self, launched: Launched, passed: dict, result: dict) -> None:
        """Which size bounds an axis of a tensor: the kernel multiplies `k` by its stride, and compares `k < K`."""
        nodes = self.nodes_of(launched)
        tensors = {ast.unparse(node): name for name, node in nodes.items() if name in result["shapes"]}
        for name, node in nodes.items():
            is_stride = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "stride" \
                and len(node.args) == 1 and isinstance(node.args[0], ast.Constant)
            bound = passed.get(self.stride_bounds.get(name, ""))
            if not is_stride or not isinstance(bound, Size) or not bound.name:
                continue
            tensor = passed.get(tensors.get(ast.unparse(node.func.value), ""))
            axis = node.args[0].value
            if isinstance(tensor, Tensor) and tensor.extents is not None and -len(tensor.extents) <= axis < len(tensor.extents):
                extent = tensor.extents[axis]
                if isinstance(extent, Size) and extent.name and extent.name != bound.name:
                    result["bounds"].setdefault(extent.name, bound.name)

    def take_indices(self, passed: dict, result: dict) -> None:
        """What is loaded to be a place in another buffer is an integer below its number of rows."""
        for name, target in self.indexes.items():
            if name not in result["types"]:
                result["types"][name] = "*i64"  # PyTorch's
            value = passed.get(target)
            extents = value.memory() if isinstance(value, Tensor) else None
            if name in result["inits"] or result["types"][name] not in ("*i64", "*i32", "*i16"):
                continue
            rows = extents[self.index_axes[name]] if extents else 1
            result["inits"][name] = f"int(0, {text_of(rows)} - 1)" if isinstance(rows, Size) else f"int(0, {value_of(rows) - 1})"
            result["anchored"] |= rows.symbols() if isinstance(rows, Size) else set()

    def note_holders(self, launched: Launched, reader: Reader) -> None:
        """Variables that are passed for constants."""
        nodes = self.nodes_of(launched)
        for one in self.parameters:
            node = nodes.get(one.arg)
            if not is_constant_parameter(one) or node is None:
                continue
            if isinstance(node, ast.Name):
                holder = launched.scope.find(node.id)
                if holder is not None:
                    reader.known.holders.setdefault((holder.name, node.id), set()).add(one.arg)
            elif isinstance(node, ast.Attribute):
                reader.known.holders.setdefault(("self", node.attr), set()).add(one.arg)

    def configurations(self, reader: Reader) -> list[Configuration]:
        """What @triton.autotune chooses from."""
        for decorator in self.kernel.decorator_list:
            if decorator_name(decorator).split(".")[-1] != "autotune" or not isinstance(decorator, ast.Call):
                continue
            node = next((word.value for word in decorator.keywords if word.arg == "configs"),
                        decorator.args[0] if decorator.args else None)
            try:
                value = reader.value(node, reader.module) if node is not None else []
            except (Raised, Returned, Launched):
                return []
            return [one for one in value if isinstance(one, Configuration)] if isinstance(value, (tuple, list)) else []
        return []

    def take_heuristics(self, passed: dict, reader: Reader) -> None:
        """@triton.heuristics: constants made of the other arguments."""
        for decorator in reversed(self.kernel.decorator_list):
            if decorator_name(decorator).split(".")[-1] != "heuristics" or not isinstance(decorator, ast.Call):
                continue
            node = decorator.args[0] if decorator.args else decorator.keywords[0].value
            table = reader.value(node, reader.module)
            for name, rule in table.items() if isinstance(table, dict) else ():
                if isinstance(rule, Function):
                    passed[name] = reader.enter(rule, [dict(passed)], {})

    def take_constant(self, name: str, value, is_passed: bool, line: int, known: Known, result: dict):
        """A tl.constexpr; returns what a grid sees of it."""
        if isinstance(value, bool):
            known.frozen |= known.compared  # what was compiled for one answer is right for no other
        if isinstance(value, Size) and value.text() != "=" + name and value.is_exact:
            known.frozen |= value.symbols()
        if isinstance(value, Quotient):
            value = value.value
        dtype = "" if isinstance(value, (str, bool)) else value.tensor.dtype if isinstance(value, TypeOf) else type_named(value)
        if isinstance(value, (int, Size)) and not isinstance(value, bool):
            result["constants"][name] = value_of(value)
            return Size.symbol("=" + name, value_of(value))
        if dtype:
            result["constants"][name] = "tl." + WRITTEN_TYPES[dtype]  # compile_kernel.py knows it
        elif isinstance(value, (bool, float, str)) or (value is None and is_passed):
            result["constants"][name] = value
        elif is_passed:
            result["problems"][name] = self.reason(value, line)
        # So that the grid can be read.
        return Size.symbol("=" + name, UNKNOWN_CONSTANT) if value is None or isinstance(value, Unknown) else value

    @staticmethod
    def reason(value, line: int) -> str:
        """Why a value is not known."""
        if isinstance(value, Argument):
            return f"line {value.line}: it is the argument '{value.text}', which nothing gives a value"
        if isinstance(value, Unknown):
            text = value.text if len(value.text) <= 60 else value.text[:57] + "..."
            return f"line {value.line or line}: '{text}' cannot be read"
        return f"line {line}: it is no number"

    def take_grid(self, grid, meta: dict, reader: Reader, line: int, result: dict) -> None:
        """One to three extents."""
        try:
            if isinstance(grid, Function):
                grid = reader.enter(grid, [meta], {})
        except (Raised, Returned, LoopEnds):
            grid = Unknown(line, "the grid's function")
        extents = list(grid) if isinstance(grid, (tuple, list)) else [grid]
        for one in extents[:3]:
            if isinstance(one, bool) or not isinstance(one, (int, Size)):
                result["problems"]["grid"] = self.reason(one, line)
                result["grid"] = []
                return
            result["grid"].append(self.with_constants(text_of(one), len(result["grid"]), result["constants"]))
            result["anchored"] |= one.symbols() if isinstance(one, Size) else set()

    def with_constants(self, extent: str, axis: int, constants: dict) -> str:
        """cdiv(n, 1024) as cdiv(n, BLOCK) where the kernel multiplies this axis's program number by BLOCK, which is 1024."""
        def replaced(match: re.Match) -> str:
            names = [name for name in self.tiles.get(axis, ()) if str(constants.get(name)) == match[1]]
            return f", ={names[0]})" if len(names) == 1 else match[0]
        return re.sub(r", (\d+)\)", replaced, extent)

    def take_argument(self, name: str, value, known: Known, result: dict) -> None:
        """What is passed for a parameter that is no constant."""
        if isinstance(value, Argument):
            kind = "tensor" if name in self.pointers else "float" if usual_float(name, value.text) else "integer"
            known.kinds.setdefault(value.text, kind)
        if isinstance(value, Tensor):
            if value.dtype:
                result["types"][name] = "*" + value.dtype
            memory = value.memory()
            if memory is not None and all(isinstance(one, (int, Size)) for one in memory):
                result["shapes"][name] = [text_of(one) for one in memory]
                result["tensors"].append(memory)
                result["numbers"][name] = [value_of(one) for one in memory]
            if value.content:
                low, high = value.content
                less = value_of(high) - 1 if not isinstance(high, Size) else f"{text_of(high)} - 1"
                result["inits"][name] = f"int({text_of(low)}, {less})"
            elif value.filled in ("zeros", "ones", "none"):
                result["inits"][name] = value.filled
        elif value is None:
            result["constants"][name] = None
        elif isinstance(value, bool):
            result["types"][name], result["values"][name] = "i1", str(int(value))
        elif isinstance(value, (float, Quotient)):
            result["types"][name] = "fp32"
            result["values"][name] = repr(float(value if isinstance(value, float) else value.value))
        elif isinstance(value, int) and value == 1:
            result["constants"][name] = 1  # as Triton's launcher does
        elif isinstance(value, (int, Size)):
            result["numbers"][name] = value_of(value)
            if isinstance(value, Size) and name in self.bounding:
                result["anchored"] |= value.symbols()
            result["types"][name] = "i32" if abs(value_of(value)) < 1 << 31 else "i64"  # as Triton's launcher does
            result["values"][name] = text_of(value)
        elif usual_float(name) and name not in self.pointers:
            result["types"][name], result["values"][name] = "fp32", usual_float(name)
            result["usual"].add(name)

    # ---- names

    def name_sizes(self, launched: Launched, passed: dict, known: Known) -> None:
        """A size goes by the name of the integer that it is passed for, or by the one that the manifest gives it."""
        names: dict = {}
        for name, shape in self.given.get("shapes", {}).items():
            value = passed.get(name)
            extents = value.memory() if isinstance(value, Tensor) else None
            if extents is None or len(extents) != len(shape):
                continue
            for extent, text in zip(extents, shape):
                if isinstance(extent, Size) and extent.name and SYMBOL.fullmatch(text):
                    names.setdefault(extent.name, text)
        extents = self.extents_of(launched)
        plain = {one.arg: passed[one.arg].name for one in self.parameters
                 if isinstance(passed.get(one.arg), Size) and passed[one.arg].name and not is_constant_parameter(one)}
        variables = {name: variable for name, variable in known.variables.items() if known.root(name) == name}
        # A bound's name says most, a stride's least.
        offered = [(name, parameter) for parameter, name in plain.items() if parameter in self.bounding]
        offered += [(name, parameter) for parameter, name in plain.items() if parameter in extents]
        offered += [(name, variable) for name, variable in variables.items() if variable not in self.names]
        offered += [(name, parameter) for parameter, name in plain.items()]
        for name, last in offered:
            if name not in names and last not in names.values():
                names[name] = last
        known.names = names

    def finish(self, known: Known, result: dict) -> None:
        """Sizes by their last names; constants by theirs in the grid, by their values elsewhere."""
        constants = result["constants"]
        used: set = set()

        def final(name: str) -> str:
            if name in known.names:
                return known.names[name]
            return name + "_extent" if name in self.names else name

        def written(text: str, in_grid: bool) -> str:
            def replaced(match: re.Match) -> str:
                name = match[0]
                if name.startswith("="):
                    return name[1:] if in_grid else str(constants.get(name[1:], 1))
                if name in ("cdiv", "min", "max"):
                    return name
                used.add(name)
                return final(name)
            return re.sub(r"=?[A-Za-z_]\w*", replaced, text)
        result["grid"] = [written(one, True) for one in result["grid"]]
        result["shapes"] = {name: [written(one, False) for one in shape] for name, shape in result["shapes"].items()}
        result["inits"] = {name: text if not text.startswith("int(") else "int(" + written(text[4:], False)
                           for name, text in result["inits"].items()}
        values = {}
        for name, text in result["values"].items():
            # Digits of a number in exponents are no name.
            changed = text if re.fullmatch(r"-?[\d.]+(e[-+]?\d+)?|inf|nan|-inf", text) else written(text, False)
            if changed != name:
                values[name] = changed
        result["values"] = values
        for name, value in result["values"].items():
            if name in known.given and not value.isdigit():
                result["grid"] = [one.replace(value, name) for one in result["grid"]]
        result["sizes"] = {final(name): known.value(name) for name in sorted(used)}
        free = [name for name in sorted(used) if final(name) not in known.given]
        result["chosen"] = [(True, [final(name) for name in free if known.is_told(name)]),
                            (False, [final(name) for name in free if not known.is_told(name)])]
        if known.assumed:
            result["notes"].append(f"the launch in line {result['line']} asks the device: assumed are {', '.join(sorted(known.assumed))}")
