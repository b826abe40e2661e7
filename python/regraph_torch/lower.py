"""From a graph to naive kernels with their manifest. What is not lowered is Refused, with the reason."""

from __future__ import annotations

import dataclasses
from typing import Any

from regraph_torch.anchors import REDUCERS, Anchor, Reduction, Scan
from regraph_torch.calls import Call, pointwise
from regraph_torch.elementwise import BINARY, UNARY
from regraph_torch.elementwise import number as literal
from regraph_torch.element_types import COMPUTED_IN_FLOAT, headers_of, in_kernels
from regraph_torch.errors import Refused
from regraph_torch.graph import Graph, Node, Ref
from regraph_torch.kernels import Kernel, KernelWriter
from regraph_torch.manifest_text import manifest_text
from regraph_torch.operators import OPERATORS
from regraph_torch.sizes import Size, product
from regraph_torch.values import Buffer, Number, Value, View, in_type
from regraph_torch.views import IDENTITIES, VIEWS

# Operators that are several in one.
COMPOSED = {"scaled_dot_product_attention": "two products with a softmax between them",
            "multi_head_attention_forward": "products with a softmax between them",
            "lstm": "a recurrence of products", "gru": "a recurrence of products", "rnn_tanh": "a recurrence of products"}
FINISHING_THREADS = 256  # of the block that adds up what is left of a whole tensor
WORDS = {2: "two", 3: "three", 4: "four", 5: "five"}


@dataclasses.dataclass
class Lowered:
    """`inputs` are the graph's inputs that the kernels take; `sizes` the symbols at each traced size."""
    title: str
    source: str
    manifest: str
    inputs: list[str]
    input_shapes: list[list[str]]
    output: str
    output_shape: list[str]
    kernels: int
    sizes: list[dict[str, int]]


def lower(graph: Graph, comment: str) -> Lowered:
    return _Lowering(graph).run(comment)


class _Lowering:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.values: dict[str, Value | list[Value]] = {}
        self.heavy: list[str] = []   # operators that compute an element from many, in order
        self.light: list[str] = []   # the others
        self.kernels: list[Kernel] = []
        self.scratch: list[Buffer] = []
        self.inputs: list[Buffer] = []

    def run(self, comment: str) -> Lowered:
        graph = self.graph
        for one in graph.inputs:
            buffer = Buffer(one.name, one.type, one.shape)
            buffer.shared = graph.users(one.name) > 1
            self.values[one.name] = buffer
            self.inputs.append(buffer)
        for node in graph.nodes:
            self._node(node)
        if len(graph.outputs) != 1:
            raise Refused(f"it returns {len(graph.outputs)} tensors")
        result = self.values[graph.outputs[0]]
        if not isinstance(result, Value):
            raise Refused("it returns several tensors")
        if isinstance(result, Buffer):
            raise Refused("it returns an input as it is")
        self._schedule(result)
        return self._text(result, comment)

    # One node.

    def _node(self, node: Node) -> None:
        title = node.operator
        if title == "getitem":
            source = self.values[node.args["self"].name]
            if not isinstance(source, list):
                raise Refused("an element of what is no list")
            self.values[node.name] = source[node.args["index"]]
            return
        args = {name: self._argument(value) for name, value in node.args.items()}
        value = self._computed(node, title, args)
        if isinstance(value, Value):
            value = in_type(value, node.outputs[0][0])
        elif isinstance(value, list):
            value = [one if one is None else in_type(one, type_name) for one, (type_name, _) in zip(value, node.outputs)]
        for one, (type_name, shape) in zip(value if isinstance(value, list) else [value], node.outputs):
            if one is not None and [extent.values for extent in one.shape] != [extent.values for extent in shape]:
                raise Refused(f"the shape that {title} gives is not understood")
            if one is not None and one.type != type_name:
                raise Refused(f"{title} of type {type_name}")
        if isinstance(value, Value):
            value.shared = self.graph.users(node.name) > 1
        self.values[node.name] = value

    def _argument(self, value: Any) -> Any:
        if isinstance(value, Ref):
            return self.values[value.name]
        if isinstance(value, list):
            return [self._argument(one) for one in value]
        return value

    def _computed(self, node: Node, title: str, args: dict[str, Any]) -> Any:
        count = self.graph.count
        kind, shape = node.outputs[0]
        operands = [one for one in args.values() if isinstance(one, Value)]
        first = operands[0] if operands else None
        if title in IDENTITIES and first is not None:
            if title in ("dropout", "feature_dropout") and args.get("train", args.get("training")):
                raise Refused("dropout in training mode: random numbers")
            converted = in_type(first, kind)
            if converted.type != kind:
                raise Refused(f"a conversion from {first.type} to {kind}")
            return converted
        if title == "broadcast_tensors":
            if any([one.values for one in value.shape] != [one.values for one in extents]
                   for value, (_, extents) in zip(args["tensors"], node.outputs)):
                raise Refused("broadcast_tensors of different shapes")
            return list(args["tensors"])
        if title in VIEWS and first is not None:
            return VIEWS[title](first, args, shape, count)
        if title in OPERATORS:
            self._is_float(title, [one for one in operands if title != "cross_entropy_loss" or one is not args["target"]])
            if isinstance(args.get("dtype"), str) and isinstance(args.get("self"), Value):  # converted first, then computed
                args["self"] = in_type(args["self"], args["dtype"])
            return self._heavy(title, OPERATORS[title](Call(title, args, shape, count, kind)))
        if title in ("max", "min"):
            return self._extreme(title, args, operands, kind, shape, count)
        if title in BINARY or title in UNARY:
            return self._elementwise(title, args, kind, shape, count)
        if title in COMPOSED:
            raise Refused(f"{title}: {COMPOSED[title]}")
        unknown = dict.fromkeys(one.operator for one in self.graph.nodes if not _is_known(one.operator))
        raise Refused(f"not lowered: {', '.join(unknown) or title}")

    def _heavy(self, title: str, value: Value) -> Value:
        if any(one not in self._anchors_so_far() for one in value.anchors()):
            self.heavy.append(title)
        else:
            self.light.append(title)
        return value

    def _anchors_so_far(self) -> list[Value]:
        return [anchor for value in self.values.values() for one in (value if isinstance(value, list) else [value]) if one is not None
                for anchor in one.anchors()]

    def _is_float(self, title: str, operands: list[Value]) -> None:
        for one in operands:
            if one.type not in (*COMPUTED_IN_FLOAT, "bool"):
                raise Refused(f"{title} of {one.type}")

    def _extreme(self, title: str, args: dict[str, Any], operands: list[Value], kind: str, shape: tuple[Size, ...], count: int) -> Any:
        """max and min: of all elements, over a dimension (with places), or of two tensors."""
        if isinstance(args.get("other"), Value):
            return self._elementwise("maximum" if title == "max" else "minimum", args, kind, shape, count)
        self._is_float(title, operands)
        call = {"self": args["self"], "keepdim": args.get("keepdim", False)}
        if "dim" not in args:
            return self._heavy(title, OPERATORS["amax" if title == "max" else "amin"](Call(title, {"self": args["self"]}, shape, count)))
        call["dim"] = args["dim"]
        values = self._heavy(title, OPERATORS["amax" if title == "max" else "amin"](Call(title, call, shape, count)))
        places = OPERATORS["argmax" if title == "max" else "argmin"](Call(title, call, shape, count))
        return [values, places]

    def _elementwise(self, title: str, args: dict[str, Any], kind: str, shape: tuple[Size, ...], count: int) -> Value:
        self.light.append(title)
        operands: list[Value] = []
        for name in ("self", "input", "other", "exponent"):
            one = args.get(name)
            if title == "pow" and name == "exponent" and not isinstance(one, Value):
                break
            if isinstance(one, Value):
                operands.append(in_type(one, kind))  # a tensor of one number may be of a type with more digits
            elif name in ("self", "other") and name in args:
                if isinstance(one, Size):
                    operands.append(Number(f"(float)({one.text})"))
                    operands[-1].sizes = one
                elif isinstance(one, (int, float, bool)):
                    operands.append(Number(literal(one)))
        self._is_float(title, operands)
        if len(operands) == 1 and title in UNARY:
            if title == "pow" and not isinstance(args["exponent"], (int, float)):
                raise Refused("a power whose exponent depends on the size")
            return pointwise(title, operands, UNARY[title](args), count)
        if len(operands) == 2 and title in BINARY:
            return pointwise(title, operands, BINARY[title](args), count)
        raise Refused(f"{title} of these operands")

    # Kernels.

    def _refuse_several(self) -> None:
        number = WORDS.get(len(self.heavy), str(len(self.heavy)))
        raise Refused(f"{number} operators: {', then '.join(self.heavy)}")

    def _schedule(self, result: Value) -> None:
        while isinstance(result, View) and result.is_reshape and isinstance(result.base, (Anchor, View)) or \
                (isinstance(result, View) and result.is_reshape and result.base.anchors()):
            result = result.base
        anchors = result.anchors()
        plain = [one for one in anchors if not isinstance(one, Reduction)]
        if plain and len(anchors) > 1:
            self._refuse_several()
        if not anchors:
            self._kernel(result, self.light[-1] if self.light else "copy")
        elif isinstance(anchors[0], Scan):
            self._kernel(result, anchors[0].title, scan=anchors[0])
        elif plain:
            if _elements(result) != _elements(plain[0]):
                raise Refused(f"{plain[0].title}, then an operator of another shape")
            self._kernel(result, plain[0].title)
        else:
            self._reductions(result, anchors)

    def _reductions(self, result: Value, anchors: list[Reduction]) -> None:
        whole = [one for one in anchors if all(k in one.axes or extent.is_one for k, extent in enumerate(one.operand.shape))]
        rows = [one for one in anchors if one not in whole]
        if len({(tuple(extent.text for extent in one.operand.shape), tuple(one.axes)) for one in rows}) > 1:
            self._refuse_several()
        if not whole:
            self._rows(result, rows, rows[-1].title)
            return
        if len(whole) > 1:
            raise Refused(f"{whole[-1].title}: several reductions over all elements, one after the other")
        last = whole[0]
        if any(one not in last.operand.anchors() for one in rows):
            self._refuse_several()
        operand = last.operand
        if rows:
            operand = self._materialised(operand, last.title)
        self._staged(result, last, operand)

    def _rows(self, result: Value, rows: list[Reduction], title: str, out: Buffer | None = None) -> None:
        if _elements(result) == _elements(rows[0]):
            self._kernel(result, title, out=out)
        elif [one.values for one in result.shape] == [one.values for one in rows[0].operand.shape]:
            self._kernel(result, title, rows=(rows[0].axes, rows), out=out)
        else:
            raise Refused(f"{title}, then an operator of another shape")

    def _materialised(self, value: Value, title: str) -> Buffer:
        """The value in a buffer of its own, by a kernel of its own."""
        buffer = self._fresh("terms" if not self.scratch else f"partial{len(self.scratch)}", value)
        self._rows(value, [one for one in value.anchors() if isinstance(one, Reduction)], title, out=buffer)
        return buffer

    def _fresh(self, name: str, value: Value) -> Buffer:
        taken = {one.name for one in [*self.inputs, *self.scratch]} | set(self.graph.symbols.names.values())
        while name in taken:
            name += "_"
        buffer = Buffer(name, "float32", value.shape)
        self.scratch.append(buffer)
        return buffer

    def _staged(self, result: Value, last: Reduction, operand: Value) -> None:
        """A reduction over everything: a launch for each dimension, the innermost first."""
        kind = {"mean": "sum", "norm": "sum"}.get(last.kind, last.kind)
        if kind.startswith("arg"):
            raise Refused(f"{last.title} over all elements")
        whole = product(operand.shape, self.graph.count)
        current: Value = operand
        while len([one for one in current.shape if not one.is_one]) > 1:
            axis = max(k for k, one in enumerate(current.shape) if not one.is_one)
            stage = Reduction(last.title, kind, current, list(range(axis, len(current.shape))), False, current.shape[:axis])
            buffer = self._fresh(f"partial{len(self.scratch)}", stage)
            self._kernel(stage, last.title, out=buffer)
            current = buffer
        total = Reduction(last.title, kind, current, list(range(len(current.shape))), False, ())
        finish = REDUCERS[last.kind].finish
        last.kept = pointwise("result", [total], lambda x: finish(x, whole), self.graph.count) if kind != last.kind else total
        # One thread would take milliseconds for what is left of a large tensor.
        together = FINISHING_THREADS if _elements(current)[0] > 2 * FINISHING_THREADS else 0
        if set(_elements(result)) != {1}:
            buffer = self._fresh("whole", total)
            self._kernel(last.kept, last.title, out=buffer, together=together)
            last.kept, together = buffer, 0
        self._kernel(result, last.title, together=together)

    def _kernel(self, value: Value, title: str, rows: tuple[list[int], list[Reduction]] | None = None, scan: Scan | None = None,
                out: Buffer | None = None, together: int = 0) -> None:
        if out is None:
            out = Buffer(self._output_name(), value.type, value.shape)
        name = f"{title}_kernel" if not self.kernels else f"{title}_kernel{len(self.kernels) + 1}"
        writer = KernelWriter(name, out, list(self.graph.symbols.names.values()), [*self.inputs, *self.scratch])
        if scan is not None:
            kernel = writer.scan(value, scan)
        elif rows is not None:
            kernel = writer.rows(value, rows[0], rows[1])
        elif together:
            kernel = writer.total(value, together)
        else:
            kernel = writer.elements(value)
        self.kernels.append(kernel)

    def _output_name(self) -> str:
        name = "out"
        while name in {one.name for one in [*self.inputs, *self.scratch]}:
            name += "_"
        return name

    # Texts.

    def _text(self, result: Value, comment: str) -> Lowered:
        # By name: a kernel may take a buffer in another shape.
        taken = {buffer.name for kernel in self.kernels for buffer in kernel.buffers}
        used = [one for one in self.inputs if one.name in taken]
        out = Buffer(self._output_name(), result.type, result.shape)
        for one in [*used, out]:
            if not in_kernels(one.type):
                raise Refused(f"'{one.name}' is of type {one.type}")
        symbols = self.graph.symbols
        sizes = [symbols.symbols(k) for k in range(self.graph.count)]
        inits = {one.name: one.init for one in self.graph.inputs}
        for one in used:
            if one.classes is not None:
                inits[one.name] = f"int(0, {one.classes.text} - 1)"
        title = self.heavy[-1] if self.heavy else (self.light[-1] if self.light else "copy")
        code = "\n".join(kernel.text for kernel in self.kernels)
        included = "".join(f"#include <{one}>\n" for one in headers_of(code))
        source = "".join(f"// {line}\n" for line in comment.splitlines()) + (f"{included}\n{code}" if included else code)
        return Lowered(title, source, manifest_text(self.kernels, used, out, self.scratch, inits, sizes, self.graph.count),
                       [one.name for one in used], [[extent.text for extent in one.shape] for one in used], out.name,
                       [one.text for one in result.shape], len(self.kernels), sizes)


def _is_known(title: str) -> bool:
    return any(title in table for table in (IDENTITIES, VIEWS, OPERATORS, BINARY, UNARY, ("max", "min", "getitem", "broadcast_tensors")))


def _elements(value: Value) -> tuple[int, ...]:
    if not value.shape:
        return (1,)
    return product(value.shape, len(value.shape[0].values)).values
