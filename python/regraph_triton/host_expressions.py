"""Expressions of the host code of a Triton module: what they are in terms of sizes."""
import ast

import host_values as values
from host_objects import COMPILED, DEVICE, Class, Configuration, Device, Function, Instance, Kernel, Path, Raised, Scope
from host_torch import TENSOR_WORDS, Rank, Shape, TypeOf, type_named
from host_values import Argument, Quotient, Size, Tensor, Unknown, value_of

MOST_STEPS = 20_000
MOST_TURNS = 64
MOST_CONFIGURATIONS = 256
MOST_ELEMENTS = 1000  # of a list or text
NUMBERS = (int, float, Size)
OPERATORS = {ast.Eq: lambda a, b: a == b, ast.NotEq: lambda a, b: a != b, ast.Lt: lambda a, b: a < b,
             ast.LtE: lambda a, b: a <= b, ast.Gt: lambda a, b: a > b, ast.GtE: lambda a, b: a >= b}


def power(base, exponent):
    """base ** exponent. Raises OverflowError where that is no integer of 64 bits."""
    if not isinstance(base, float) and not isinstance(exponent, float) and abs(base) > 1 and \
            abs(exponent) * abs(base).bit_length() > 64 + abs(exponent):
        raise OverflowError
    return base ** exponent


class Expressions:
    """Values of expressions; what calls give is its heir's (Calls)."""

    def truth(self, value):
        """True, False, or None where it is not known."""
        if isinstance(value, (Unknown, Rank, TypeOf, Shape)):
            return None
        if isinstance(value, (Size, Quotient)):
            return bool(value.value)
        return bool(value) if isinstance(value, (bool, int, float, str, tuple, list, dict, type(None))) else True

    def value(self, node: ast.expr, scope: Scope):
        """What an expression is."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise Raised
        handler = getattr(self, "of_" + type(node).__name__, None)
        result = handler(node, scope) if handler is not None else None
        if result is None and not (isinstance(node, ast.Constant) or isinstance(node, (ast.Name, ast.Call, ast.IfExp,
                                                                                       ast.Attribute, ast.Subscript, ast.BoolOp))):
            return self.unknown(node)
        if isinstance(result, Unknown) and not result.line:
            result.line, result.text = node.lineno, self.unknown(node).text
        return result

    @staticmethod
    def unknown(node) -> Unknown:
        """Something that is not understood."""
        return Unknown(node.lineno, ast.unparse(node))

    def of_Constant(self, node, _scope):
        return node.value

    def of_JoinedStr(self, node, _scope):
        return self.unknown(node)

    def of_Name(self, node, scope):
        holder = scope.find(node.id)
        if holder is not None:
            return holder.variables[node.id]
        return Path(node.id) if node.id in ("triton", "tl", "torch", "math", "nn", "F") or hasattr(__builtins__, node.id) or \
            (isinstance(__builtins__, dict) and node.id in __builtins__) else self.unknown(node)

    def of_Tuple(self, node, scope):
        result = []
        for one in node.elts:
            value = self.value(one.value if isinstance(one, ast.Starred) else one, scope)
            if isinstance(one, ast.Starred) and isinstance(value, (tuple, list)):
                result += value
            else:
                result.append(value)
        return tuple(result)

    def of_List(self, node, scope):
        return list(self.of_Tuple(node, scope))

    def of_Dict(self, node, scope):
        result = {}
        for key, value in zip(node.keys, node.values):
            name = self.value(key, scope) if key is not None else None
            name = type_named(name) or name if isinstance(name, Path) else name
            if isinstance(name, (str, int)):
                result[name] = self.value(value, scope)
        return result

    def of_Lambda(self, node, scope):
        return Function(node, scope)

    def of_IfExp(self, node, scope):
        value = self.value(node.test, scope)
        truth = self.truth(value)
        return self.value(node.body if (self.of_device(value, True) if truth is None else truth) else node.orelse, scope)

    def of_BoolOp(self, node, scope):
        is_and = isinstance(node.op, ast.And)
        result = None
        for one in node.values:
            result = self.value(one, scope)
            truth = self.truth(result)
            if truth is None or truth != is_and:
                return result
        return result

    def of_UnaryOp(self, node, scope):
        value = self.value(node.operand, scope)
        if isinstance(node.op, ast.Not):
            truth = self.truth(value)
            return self.unknown(node) if truth is None else not truth
        if isinstance(node.op, ast.USub) and isinstance(value, NUMBERS):
            return values.multiply(value, -1) if isinstance(value, Size) else -value
        return value if isinstance(value, Tensor) else self.unknown(node)

    def of_Compare(self, node, scope):
        left = self.value(node.left, scope)
        result = True
        for operator, one in zip(node.ops, node.comparators):
            right = self.value(one, scope)
            if isinstance(operator, (ast.Is, ast.IsNot)):
                if isinstance(left, (Argument, Unknown)) or isinstance(right, Unknown):
                    # An argument that may be left out is there.
                    result = isinstance(operator, ast.IsNot) if right is None else self.unknown(node)
                else:
                    result = (left is right) == isinstance(operator, ast.Is)
            elif isinstance(operator, (ast.In, ast.NotIn)) and isinstance(right, (tuple, list, dict, str)):
                if isinstance(left, (Unknown, TypeOf, Rank, Shape)):
                    return self.unknown(node)
                contained = any(value_of(left) == value_of(other) for other in right) if not isinstance(right, str) else \
                    str(left) in right
                result = contained == isinstance(operator, ast.In)
            else:
                result = self.compare(operator, left, right, node)
            if result is not True:
                return result
            left = right
        return result

    def compare(self, operator, left, right, node):
        """left < right and its like."""
        if isinstance(left, TypeOf) or isinstance(right, TypeOf):
            one, other = (one.tensor.dtype if isinstance(one, TypeOf) else type_named(one) for one in (left, right))
            if one and other and isinstance(operator, (ast.Eq, ast.NotEq)):
                return (one == other) == isinstance(operator, ast.Eq)
            return self.unknown(node)
        for one, other in ((left, right), (right, left)):
            if isinstance(one, Argument) and isinstance(other, NUMBERS):
                self.known.kinds.setdefault(one.text, "integer")
            if isinstance(one, Size) and "%" in one.text():
                self.known.compared |= one.symbols()
        left, right = (one.value if isinstance(one, (Size, Quotient)) else
                       tuple(map(value_of, one)) if isinstance(one, (tuple, list)) else one for one in (left, right))
        plain = (int, float, str, tuple, type(None), bool)
        if type(operator) not in OPERATORS or not isinstance(left, plain) or not isinstance(right, plain):
            return self.unknown(node)
        try:
            return OPERATORS[type(operator)](left, right)
        except TypeError:
            return self.unknown(node)

    def of_BinOp(self, node, scope):
        return self.operate(node.op, self.value(node.left, scope), self.value(node.right, scope), node)

    def operate(self, operator, left, right, node):
        """left + right and its like."""
        for one, other in ((left, right), (right, left)):
            if isinstance(one, Argument) and isinstance(other, NUMBERS):
                self.known.kinds.setdefault(one.text, "float" if isinstance(other, float) else "integer")
        for one in (left, right):
            if isinstance(one, Tensor):
                other = right if one is left else left
                return one.like() if not isinstance(other, Tensor) or other.extents is None or one.extents is None or \
                    len(one.extents) >= len(other.extents) else other.like()
        if isinstance(operator, ast.Add) and type(left) is type(right) and isinstance(left, (tuple, list, str)):
            return left + right if len(left) + len(right) <= MOST_ELEMENTS else self.unknown(node)
        if isinstance(operator, ast.Mult) and isinstance(left, (tuple, list)) and isinstance(right, int):
            return left * right if len(left) * right <= MOST_ELEMENTS else self.unknown(node)
        if isinstance(left, bool) or isinstance(right, bool):
            left, right = (int(one) if isinstance(one, bool) else one for one in (left, right))
        if not isinstance(left, NUMBERS) or not isinstance(right, NUMBERS):
            return self.unknown(node)
        try:
            return self.number(operator, left, right, node)
        except (ZeroDivisionError, OverflowError, ValueError):
            return self.unknown(node)

    def number(self, operator, left, right, node):
        """Of two numbers."""
        if isinstance(operator, ast.Div):
            if isinstance(left, float) or isinstance(right, float):
                return value_of(left) / value_of(right)
            return Quotient(left, right)
        if isinstance(left, float) or isinstance(right, float) or isinstance(operator, ast.Pow):
            plain = {ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b,
                     ast.Pow: power, ast.FloorDiv: lambda a, b: a // b,
                     ast.Mod: lambda a, b: a % b}.get(type(operator))
            result = plain(value_of(left), value_of(right)) if plain else None
            return result if isinstance(result, (int, float)) else self.unknown(node)
        if isinstance(operator, ast.Add):
            return values.add(left, right)
        if isinstance(operator, ast.Sub):
            return values.add(left, right, -1)
        if isinstance(operator, ast.Mult):
            return values.multiply(left, right)
        if isinstance(operator, (ast.FloorDiv, ast.Mod)):
            if not isinstance(left, Size) and not isinstance(right, Size):
                return left // right if isinstance(operator, ast.FloorDiv) else left % right
            # -(-n // b)
            if isinstance(operator, ast.FloorDiv) and value_of(left) < 0:
                return values.multiply(values.round_up(values.multiply(left, -1), right), -1)
            return values.divide(left, right) if isinstance(operator, ast.FloorDiv) else values.remainder(left, right)
        bits = {ast.LShift: lambda a, b: values.multiply(a, 1 << min(b, 62)), ast.RShift: lambda a, b: a >> b, ast.BitAnd: lambda a, b: a & b,
                ast.BitOr: lambda a, b: a | b}.get(type(operator))
        return bits(value_of(left), value_of(right)) if bits else self.unknown(node)

    def of_Attribute(self, node, scope):
        owner, name = self.value(node.value, scope), node.attr
        if isinstance(owner, Path):
            return Path(f"{owner.path}.{name}")
        if isinstance(owner, Argument) and name in TENSOR_WORDS:
            self.known.kinds.setdefault(owner.text, "tensor")
            owner = self.known.tensor(owner.text)
        if isinstance(owner, Tensor):
            found = self.tensors.attribute(owner, name)
            return Function(node, scope, owner) if found is None else found
        if isinstance(owner, Instance):
            if name in owner.fields:
                return owner.fields[name]
            if owner.of is not None and owner.of.method(name) is not None:
                return self.bound(owner.of.method(name), owner.of.scope, owner)
            if owner.of is not None and name in owner.of.body.variables:
                return owner.of.body.variables[name]
            return Function(node, scope, owner) if name in ("to", "cuda", "eval", "half", "train", "bfloat16", "float") else \
                self.unknown(node)
        if isinstance(owner, Class):
            method = owner.method("forward" if name == "apply" else name)
            if method is not None:
                return self.bound(method, owner.scope, Instance(None) if name == "apply" else None)
            return owner.body.variables.get(name, self.unknown(node))
        if isinstance(owner, Kernel):
            if name in COMPILED or name == "metadata":
                self.known.assumed.add("registers and shared memory of the kernel")
                return COMPILED.get(name, Instance(None, COMPILED))
            return Function(node, scope, owner)
        if name == "value" and isinstance(owner, NUMBERS):
            return owner
        if isinstance(owner, Configuration):
            return owner.constants if name == "kwargs" else owner.words.get(name, self.unknown(node))
        if isinstance(owner, Device) and name in DEVICE:
            return owner.get(name, self.known)
        is_plain = isinstance(owner, (dict, Shape, str, list, tuple)) or (isinstance(owner, (int, Size)) and name == "bit_length")
        return Function(node, scope, owner) if is_plain else self.unknown(node)

    @staticmethod
    def bound(method: ast.FunctionDef, scope: Scope, owner) -> Function:
        """A method, as a call of it finds it."""
        is_static = any(isinstance(one, ast.Name) and one.id == "staticmethod" for one in method.decorator_list)
        applied = isinstance(owner, Instance) and owner.of is None
        return Function(method, scope, None if is_static and not applied else owner)

    def of_Subscript(self, node, scope):
        owner = self.value(node.value, scope)
        if isinstance(node.slice, ast.Slice):
            ends = [self.value(one, scope) if one is not None else None for one in (node.slice.lower, node.slice.upper)]
            if isinstance(owner, (tuple, list)) and all(one is None or isinstance(one, int) for one in ends):
                return owner[ends[0]:ends[1]]
            if isinstance(owner, Tensor):
                return Tensor(None, owner.dtype)
            if isinstance(owner, Shape):
                self.known.has_axes(owner.tensor, 2)
            return self.unknown(node)
        key = self.value(node.slice, scope)
        if isinstance(key, TypeOf):
            key = key.tensor.dtype or "fp32"
        if isinstance(owner, Device):
            return owner.get(key, self.known) if key in DEVICE else self.unknown(node)
        if isinstance(owner, Shape):
            return self.tensors.extent(owner.tensor, key) if isinstance(key, int) else self.unknown(node)
        if isinstance(owner, Tensor):
            return Tensor(None, owner.dtype)
        if isinstance(owner, Kernel):
            return Function(node, scope, (owner, key))
        try:
            return owner[key] if isinstance(owner, (tuple, list, dict)) and isinstance(key, (int, str)) else self.unknown(node)
        except (IndexError, KeyError):
            return self.unknown(node)

    def of_ListComp(self, node, scope):
        made = []
        self.comprehend(node, node.generators, Scope(scope.name, scope), made)
        return made

    of_GeneratorExp = of_ListComp

    def comprehend(self, node, generators: list, scope: Scope, made: list) -> None:
        """[element for a in b for c in d if e]"""
        if not generators:
            made.append(self.value(node.elt, scope))
            return
        over = self.value(generators[0].iter, scope)
        for one in over if isinstance(over, (tuple, list, range)) else []:
            self.assign(generators[0].target, one, scope)
            if len(made) < MOST_CONFIGURATIONS and all(self.truth(self.value(test, scope)) is not False
                                                       for test in generators[0].ifs):
                self.comprehend(node, generators[1:], scope, made)
