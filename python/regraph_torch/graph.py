"""The traces of one module at several sizes, put together: one graph whose numbers may vary with the size."""

from __future__ import annotations

import dataclasses
from typing import Any

from regraph_torch.errors import Refused
from regraph_torch.sizes import Size, SymbolTable


@dataclasses.dataclass
class Input:
    name: str
    kind: str  # "user", "parameter", "buffer" or "constant"
    type: str
    shape: tuple[Size, ...]
    init: str


@dataclasses.dataclass
class Node:
    name: str
    op: str                       # "aten.matmul.default"
    args: dict[str, Any]          # by the schema's names; Ref, Size, numbers, lists of these
    outputs: list[tuple[str, tuple[Size, ...]]]  # type and shape of each

    @property
    def operator(self) -> str:
        """"matmul": the operator as people know it."""
        return self.op.removeprefix("aten.").split(".")[0].removesuffix("_")


@dataclasses.dataclass(frozen=True)
class Ref:
    name: str


@dataclasses.dataclass
class Graph:
    inputs: list[Input]
    nodes: list[Node]
    outputs: list[str]
    symbols: SymbolTable
    count: int  # sizes

    def users(self, name: str) -> int:
        return sum(_mentions(node.args, name) for node in self.nodes) + self.outputs.count(name)


def _mentions(value: Any, name: str) -> int:
    if isinstance(value, Ref):
        return int(value.name == name)
    if isinstance(value, dict):
        return sum(_mentions(one, name) for one in value.values())
    if isinstance(value, list):
        return sum(_mentions(one, name) for one in value)
    return 0


def merge(traces: list[dict], constants: list[dict[str, int]]) -> Graph:
    """One graph of the traces (the first is of the full size). Refused: they are not the same computation."""
    first = traces[0]
    for other in traces[1:]:
        if ([node["op"] for node in other["nodes"]] != [node["op"] for node in first["nodes"]]
                or [one["name"] for one in other["inputs"]] != [one["name"] for one in first["inputs"]]):
            raise Refused("it computes something else at small sizes")
    table = SymbolTable(constants, {one["name"] for one in first["inputs"]})

    def shape(shapes: list[list[int]]) -> tuple[Size, ...]:
        if len({len(one) for one in shapes}) != 1:
            raise Refused("tensors have other ranks at small sizes")
        return tuple(table.size(values) for values in zip(*shapes))

    inputs = [Input(one["name"], one["kind"], one["dtype"], shape([trace["inputs"][i]["shape"] for trace in traces]), one["init"])
              for i, one in enumerate(first["inputs"])]
    nodes = []
    for i, node in enumerate(first["nodes"]):
        same = [trace["nodes"][i] for trace in traces]
        args = {name: _merge_value([one["args"].get(name) for one in same], table) for name in node["args"]}
        outputs = [(out["dtype"], tuple(Size("", values) for values in zip(*[one["outputs"][k]["shape"] for one in same])))
                   for k, out in enumerate(node["outputs"])]
        nodes.append(Node(node["name"], node["op"], args, outputs))
    return Graph(inputs, nodes, first["outputs"], table, len(traces))


def _merge_value(values: list[Any], table: SymbolTable) -> Any:
    first = values[0]
    if isinstance(first, dict):
        if "ref" in first:
            return Ref(first["ref"])
        if "list" in first:
            if any(not isinstance(one, dict) or len(one.get("list", [])) != len(first["list"]) for one in values):
                raise Refused("lists are of other lengths at small sizes")
            return [_merge_value(list(one), table) for one in zip(*[value["list"] for value in values])]
        return first.get("dtype", first.get("text"))
    if all(one == first for one in values):
        return first
    if all(isinstance(one, int) and not isinstance(one, bool) for one in values):
        return table.size(tuple(values))
    raise Refused("numbers that are no extents depend on the size")
