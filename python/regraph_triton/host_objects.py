"""What host code of a Triton module handles beside numbers and tensors: scopes, functions, classes, kernels, and how a
reading of it ends."""
import ast

from host_known import Known

# What code asks of the device. No launch may depend on the machine that reads it: these are an H100's, as
# cudaGetDeviceProperties has them, and what is made of them is said.
DEVICE = {"multiprocessor_count": 132, "multi_processor_count": 132, "max_num_regs": 65536, "max_shared_mem": 232448,
          "warpSize": 32, "warp_size": 32, "major": 9, "minor": 0, "regs_per_multiprocessor": 65536}
COMPILED = {"n_regs": 32, "shared": 16384, "n_spills": 0}  # of a kernel that is yet to be compiled


class Returned(Exception):
    """A function's value."""

    def __init__(self, value):
        super().__init__()
        self.value = value


class Raised(Exception):
    """The code raises an error, or goes on for too long."""


class LoopEnds(Exception):
    """break or continue; `goes_on` for the latter."""

    def __init__(self, goes_on: bool):
        super().__init__()
        self.goes_on = goes_on


class Launched(Exception):
    """The wanted kernel is launched: everything that is known of it."""

    def __init__(self, node, scope, grid, args, words):
        super().__init__()
        self.node, self.scope, self.grid, self.args, self.words = node, scope, grid, args, words


class Path:
    """A dotted name of a library."""

    def __init__(self, path: str):
        self.path = path


class Kernel:
    """A function under @triton.jit, with arguments given beforehand (warmup)."""

    def __init__(self, name: str, args=(), words=None):
        self.name, self.args, self.words = name, list(args), dict(words or {})


class Scope:
    """Variables of a module, a class or a call."""

    def __init__(self, name: str, outer=None):
        self.name, self.outer, self.variables = name, outer, {}

    def find(self, name: str):
        """The scope that holds a variable; None where none does."""
        scope = self
        while scope is not None and name not in scope.variables:
            scope = scope.outer
        return scope


class Function:
    """A function or lambda with its scope; `bound` is what it is a method of."""

    def __init__(self, node, scope: Scope, bound=None):
        self.node, self.scope, self.bound = node, scope, bound

    @property
    def name(self) -> str:
        """Empty for a lambda."""
        return getattr(self.node, "name", "")


class Class:
    """A class of the module."""

    def __init__(self, node: ast.ClassDef, scope: Scope):
        self.node, self.scope = node, scope
        self.body = Scope(node.name, scope)

    def method(self, name: str):
        """A function of its body, or None."""
        return next((one for one in self.node.body if isinstance(one, ast.FunctionDef) and one.name == name), None)


class Instance:
    """An object: what its attributes are known to be."""

    def __init__(self, of: Class | None, fields=None):
        self.of, self.fields = of, dict(fields or {})


def binding(function, args: list, words: dict) -> dict:
    """Parameters with what a call gives them; what is left over is under no name."""
    parameters = function.args
    names = [one.arg for one in [*parameters.posonlyargs, *parameters.args]]
    given = dict(zip(names, args))
    if parameters.vararg:
        given[parameters.vararg.arg] = tuple(args[len(names):])
    known = set(names) | {one.arg for one in parameters.kwonlyargs}
    given |= {name: value for name, value in words.items() if name in known}
    if parameters.kwarg:
        given[parameters.kwarg.arg] = {name: value for name, value in words.items() if name not in known}
    return given


def defaults_of(function) -> dict[str, ast.AST]:
    """Expressions that parameters have where a call says nothing."""
    parameters = function.args
    names = [one.arg for one in [*parameters.posonlyargs, *parameters.args]]
    found = dict(zip(reversed(names), reversed(parameters.defaults)))
    return found | {one.arg: value for one, value in zip(parameters.kwonlyargs, parameters.kw_defaults) if value is not None}


class Configuration:
    """triton.Config"""

    def __init__(self, constants, more: list, words: dict, warps):
        self.constants = constants if isinstance(constants, dict) else {}
        self.words = {"num_warps": warps, "num_stages": more[0] if more else None, **words}


class Device:
    """What the device says of itself."""

    @staticmethod
    def get(name: str, known: Known):
        """One property."""
        known.assumed.add(f"{name} = {DEVICE[name]}")
        return DEVICE[name]
