"""Calls in the host code of a Triton module."""
import ast
import math

import host_values as values
from host_expressions import MOST_ELEMENTS, MOST_TURNS, NUMBERS, Expressions, power
from host_objects import (
    Class, Configuration, Device, Function, Instance, Kernel, Launched, Path, Raised, Returned, Scope, binding, defaults_of)
from host_torch import LIKE, MAKERS, Rank, Shape
from host_values import Argument, Quotient, Size, Tensor, Unknown, value_of
from module_rules import is_constant_parameter

MOST_CALLS = 40


class Calls(Expressions):
    """Values of calls: functions of the module, of PyTorch and Triton, and launches."""

    def of_Call(self, node, scope):
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            return Instance(None)
        callee = self.value(node.func, scope)
        args, words = [], {}
        for one in node.args:
            value = self.value(one.value if isinstance(one, ast.Starred) else one, scope)
            args += list(value) if isinstance(one, ast.Starred) and isinstance(value, (tuple, list)) else [value]
        for one in node.keywords:
            value = self.value(one.value, scope)
            if one.arg is None:
                words |= value if isinstance(value, dict) else {}
            else:
                words[one.arg] = value
        if isinstance(callee, Function) and isinstance(callee.node, (ast.Attribute, ast.Subscript)):
            return self.call_method(node, callee, args, words, scope)
        return self.call(callee, args, words, node, scope)

    def call(self, callee, args, words, node, scope: Scope):
        """callee(*args, **words)"""
        if isinstance(callee, Path):
            return self.call_library(callee.path, args, words, node, scope)
        if isinstance(callee, Class):
            return self.construct(callee, args, words)
        if isinstance(callee, Instance) and callee.of is not None:
            forward = callee.of.method("forward")
            return self.enter(self.bound(forward, callee.of.scope, callee), args, words) if forward else self.unknown(node)
        if isinstance(callee, Function):
            return self.enter(callee, args, words)
        return self.unknown(node)

    def call_method(self, node, callee: Function, args, words, scope: Scope):
        """owner.name(...), kernel[grid](...)"""
        owner = callee.bound
        if isinstance(callee.node, ast.Subscript):
            kernel, grid = owner
            return self.launch(node, kernel, grid, args, words, scope)
        name = callee.node.attr
        if isinstance(owner, Tensor):
            if name in ("expand", "repeat", "narrow", "chunk", "split"):
                return Tensor(None, owner.dtype)
            if name in ("view", "reshape", "new_empty", "new_zeros", "new_ones"):
                args = self.named_extents(node.args, args, scope)
            return self.tensors.method(owner, name, args, words)
        if isinstance(owner, Kernel):
            if name == "warmup":
                return Kernel(owner.name, args, {key: value for key, value in words.items() if key != "grid"})
            if name == "run":
                grid = words.pop("grid", Unknown(node.lineno, ast.unparse(node)))
                return self.launch(node, owner, grid, args, words, scope)
            return None
        if isinstance(owner, Shape) and name == "numel":
            return self.tensors.elements(owner.tensor)
        if isinstance(owner, tuple) and name == "numel":
            return values.product(owner)
        if isinstance(owner, dict) and name == "get" and args:
            return owner.get(args[0], args[1] if len(args) > 1 else None)
        if name == "bit_length" and isinstance(owner, (int, Size)):
            return value_of(owner).bit_length()
        if isinstance(owner, list) and name == "append" and args and len(owner) < MOST_ELEMENTS:
            owner.append(args[0])
        return owner if isinstance(owner, Instance) else None if isinstance(owner, list) else self.unknown(node)

    def named_extents(self, nodes: list, args: list, scope: Scope) -> list:
        """Arguments that are extents: constants of the module among them go by their names."""
        result = []
        for one, value in zip(nodes, args):
            if isinstance(one, (ast.Tuple, ast.List)) and isinstance(value, (tuple, list)) and len(one.elts) == len(value):
                result.append(tuple(self.named_extents(one.elts, value, scope)))
            else:
                result.append(self.as_extent(one, value, scope))
        return result + list(args[len(result):])

    def as_extent(self, node, value, scope: Scope):
        """An integer that is an extent of a tensor."""
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            return value
        if isinstance(node, ast.Name):
            self.known.extents.add(node.id)
            return self.known.constant(node.id, value)
        if isinstance(node, ast.Constant):
            return self.known.constant(f"size_{value}", value)
        if isinstance(node, ast.Attribute):
            self.known.extents.add(node.attr)
            return self.known.constant(node.attr, value)
        if isinstance(node, ast.BinOp):
            self.as_extent(node.left, self.value(node.left, scope), scope)
            self.as_extent(node.right, self.value(node.right, scope), scope)
        return value

    def call_library(self, path: str, args, words, node, scope: Scope):
        """torch.empty(...), triton.cdiv(...), max(...)"""
        last = path.split(".")[-1]
        if last == "get_device_capability":
            self.known.assumed.add("compute capability 9.0")
            return (9, 0)
        if last in ("wrap_triton", "constexpr") and args:
            return args[0]
        if path.startswith(("torch", "nn", "F.")):
            if last in MAKERS or last == "randint":
                return self.tensors.make(last, self.named_extents(node.args, args, scope),
                                         {key: (self.named_extents([word.value for word in node.keywords if word.arg == key],
                                                                   [value], scope)[0] if key == "size" else value)
                                          for key, value in words.items()})
            if last in LIKE:
                return self.tensors.make_like(last, self.as_tensor(args[0]) if args else None, words)
            if last == "Parameter" or last in ("contiguous_format", "tensor"):
                return args[0] if args and isinstance(args[0], Tensor) else self.unknown(node)
            if last in ("get_device_properties",):
                return Device()
            fields = self.tensors.layer(last, self.named_extents(node.args, args, scope),
                                        {word.arg: self.as_extent(word.value, words.get(word.arg), scope)
                                         for word in node.keywords if word.arg})
            if fields is not None:
                return Instance(None, fields)
            first = self.as_tensor(args[0]) if args else None
            return Tensor(None, first.dtype) if isinstance(first, Tensor) else self.unknown(node)
        if last == "get_device_properties":
            return Device()
        if last == "dict":
            return {**(args[0] if args and isinstance(args[0], dict) else {}), **words}
        if last == "Config" and args:
            return Configuration(args[0], args[2:], words, args[1] if len(args) > 1 else None)
        if last == "filter" and len(args) == 2 and isinstance(args[0], Function) and isinstance(args[1], (list, tuple)):
            return [one for one in args[1] if self.truth(self.enter(args[0], [one], {})) is not False]
        if last == "zip" and all(isinstance(one, (list, tuple)) for one in args):
            return list(zip(*args))
        if last == "enumerate" and args and isinstance(args[0], (list, tuple)):
            return list(enumerate(args[0]))
        if last == "prod" and args and isinstance(args[0], (tuple, list, Shape)):
            if isinstance(args[0], Shape):
                return self.tensors.elements(args[0].tensor)
            return values.product(args[0]) if all(isinstance(one, (int, Size)) for one in args[0]) else self.unknown(node)
        if any(isinstance(one, Argument) for one in args) and last in ("cdiv", "next_power_of_2", "min", "max"):
            for one in args:
                if isinstance(one, Argument):
                    self.known.kinds.setdefault(one.text, "integer")
        return self.call_arithmetic(last, args, node)

    def call_arithmetic(self, name: str, args, node):
        """Functions of numbers."""
        if name in ("min", "max") and len(args) == 1 and isinstance(args[0], (tuple, list)):
            args = list(args[0])
        if not args or any(isinstance(one, (Unknown, type(None))) for one in args):
            return self.unknown(node)
        numbers = all(isinstance(one, NUMBERS) for one in args)
        first = args[0]
        if name == "cdiv" and numbers and len(args) == 2:
            return values.round_up(*args) if value_of(args[1]) else self.unknown(node)
        if name in ("min", "max") and numbers:
            return values.extreme(name, args) if not any(isinstance(one, float) for one in args) else \
                (min if name == "min" else max)(map(value_of, args))
        if isinstance(first, Quotient) and name in ("ceil", "int", "floor"):
            return values.round_up(first.left, first.right) if name == "ceil" else values.divide(first.left, first.right)
        if name in ("int", "round") and isinstance(first, (int, Size)):
            return first
        if name == "len" and isinstance(first, (tuple, list, dict, str)):
            return len(first)
        if name == "len" and isinstance(first, Shape):
            return Rank(first.tensor)
        if name in ("tuple", "list") and isinstance(first, (tuple, list)):
            return tuple(first) if name == "tuple" else list(first)
        if name == "tuple" and isinstance(first, Shape):
            return first
        if name == "range" and numbers:
            return range(*[min(int(value_of(one)), MOST_TURNS) for one in args][:2])
        if name in ("device", "print"):
            return None
        plain = value_of(first) if isinstance(first, (int, float, Size)) else getattr(first, "value", None)
        return self.call_plain(name, plain, args, node)

    def call_plain(self, name: str, plain, args, node):
        """Functions of one number whose value alone matters."""
        if plain is None:
            return self.unknown(node)
        try:
            if name in ("next_power_of_2", "_next_power_of_2", "next_pow2"):
                return 1 << max(int(plain) - 1, 0).bit_length()
            if name in ("sqrt", "log2", "log", "exp", "ceil", "floor"):
                return getattr(math, name)(plain)
            if name == "pow" and len(args) == 2:
                return power(plain, value_of(args[1]))
            if name in ("int", "float", "abs", "bool", "round"):
                return {"int": int, "float": float, "abs": abs, "bool": bool, "round": round}[name](plain)
            if name == "bit_length":
                return int(plain).bit_length()
        except (ValueError, OverflowError):
            pass
        return self.unknown(node)

    def as_tensor(self, value):
        """An argument that must be a tensor."""
        if isinstance(value, Argument):
            self.known.kinds.setdefault(value.text, "tensor")
            return self.known.tensor(value.text)
        return value

    def construct(self, of: Class, args, words):
        """A new object."""
        made = Instance(of)
        first = of.method("__init__")
        if first is not None:
            self.enter(Function(first, of.scope, made), args, words)
        return made

    def argument(self, function, name: str, annotation):
        """A parameter that no call gives a value."""
        kind = self.known.kinds.get(name)
        text = ast.unparse(annotation) if annotation is not None else ""
        if kind is None and ("Tensor" in text or name in self.known.written):
            kind = "tensor"
        if kind is None and text in ("int", "float", "bool"):
            kind = {"int": "integer"}.get(text, text)
        if kind == "tensor":
            return self.known.tensor(name)
        if kind == "integer":
            self.known.integers.add(name)
            return self.held(getattr(function, "name", ""), name, self.known.size(name))
        if kind == "float":
            return Unknown(function.lineno, name)
        return Argument(function.lineno, name)

    def enter(self, function: Function, args, words):
        """Runs a function of the module."""
        node = function.node
        if self.depth >= MOST_CALLS:
            raise Raised
        if function.bound is not None:
            args = [function.bound, *args]
        scope = Scope(function.name, function.scope)
        given = binding(node, args, words)
        defaults = defaults_of(node)
        for one in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]:
            if one.arg in given:
                value = given[one.arg]
            elif one.arg in defaults:
                value = self.value(defaults[one.arg], function.scope)
            else:
                value = self.argument(node, one.arg, one.annotation)
            scope.variables[one.arg] = self.held(scope.name, one.arg, value)
        for special in (node.args.vararg, node.args.kwarg):
            if special is not None:
                scope.variables[special.arg] = given.get(special.arg, ())
        self.depth += 1
        try:
            if isinstance(node, ast.Lambda):
                return self.value(node.body, scope)
            self.block(node.body, scope)
        except Returned as result:
            return result.value
        finally:
            self.depth -= 1
        return None

    def launch(self, node, kernel: Kernel, grid, args, words, scope: Scope):
        """kernel[grid](...)"""
        if kernel.name != self.kernel:
            return None
        if kernel.args and len(args) < len(kernel.args):
            args = args + kernel.args[len(args):]
        self.count_axes(node, scope, words)
        raise Launched(node, scope, grid, args, {**kernel.words, **words})

    def count_axes(self, node, scope: Scope, words: dict) -> None:
        """How many axes tensors have of which all strides or extents are passed, `*x.stride()`: as many as parameters are
        left for them."""
        open_tensors = []
        starred = [one.value for one in node.args if isinstance(one, ast.Starred)]
        for one in starred:
            called = one.func if isinstance(one, ast.Call) else one
            tensor = self.value(called.value, scope) if isinstance(called, ast.Attribute) and called.attr in (
                "stride", "size", "shape") else None
            if isinstance(tensor, Argument):
                tensor = self.as_tensor(tensor)
            if not isinstance(tensor, Tensor):
                return
            open_tensors.append(tensor)
        if not starred:
            return
        kernel = next(one for one in ast.walk(self.tree) if isinstance(one, ast.FunctionDef) and one.name == self.kernel)
        wanted = sum(not is_constant_parameter(one) and one.arg not in words for one in kernel.args.args)
        left = wanted - (len(node.args) - len(starred))
        if left > 0 and left % len(starred) == 0:
            for tensor in open_tensors:
                self.known.has_axes(tensor, left // len(starred))
