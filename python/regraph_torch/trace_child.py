"""In a child: runs a problem's source, traces its model, and writes inputs and PyTorch's results. Needs torch."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import sys
from typing import Any

MOST_ELEMENTS = 1 << 21  # of a tensor that is written
MOST_OPERATIONS = 128_000_000  # of products and convolutions in one call: what the interpreter does in seconds
TRANSPOSED_FACTOR = 4  # an element's place is worked out and compared with the borders for each of these


def main() -> None:
    request = json.load(sys.stdin)
    from regraph_torch.confine import confine
    confined = confine(request["folder"], request["memory_bytes"], request["seconds"])
    import torch
    torch.set_num_threads(1)
    answer: dict[str, Any] = {"confined": confined, "torch": torch.__version__, "variants": []}
    for variant in request["variants"]:
        if sum(1 for one in answer["variants"][1:] if "trouble" not in one) >= request["wanted"]:
            break
        answer["variants"].append(_variant(variant, request))
        if "trouble" in answer["variants"][0]:
            break
    pathlib.Path(request["folder"], "answer.json").write_text(json.dumps(answer))
    sys.stdout.flush()
    os._exit(0)


def _variant(variant: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
    try:
        trace = _trace(variant, request)
        if variant["name"] != "full":
            _write_values(variant, trace, request)
        return {"name": variant["name"], **trace}
    except Exception as error:  # noqa: BLE001  (whatever the problem's source raises)
        return {"name": variant["name"], "trouble": f"{type(error).__name__}: {str(error).strip().splitlines()[0][:300] if str(error) else ''}"}


def load(source: str, name: str = "problem") -> dict[str, Any]:
    """The source's names after it ran."""
    import types
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(compile(source, f"{name}.py", "exec"), module.__dict__)
    return module.__dict__


def stride_of(model: Any) -> int:
    """By how many elements the outputs of its convolutions lie apart at most."""
    import torch
    convolutions = [one for one in model.modules() if isinstance(one, torch.nn.modules.conv._ConvNd) and not one.transposed]
    return max((one for module in convolutions for one in module.stride), default=1)


def in_type(value: Any, type_name: str) -> Any:
    """A module or an input with its floating-point numbers in that type; as it is where none is asked for, and integers in any case."""
    if not type_name:
        return value
    import torch
    if isinstance(value, torch.nn.Module):
        return _module_in_type(value, getattr(torch, type_name))
    return value.to(getattr(torch, type_name)) if isinstance(value, torch.Tensor) and value.is_floating_point() else value


def _module_in_type(model: Any, wanted: Any) -> Any:
    """As model.to(wanted), which does not change weights without content, of which traces are made."""
    import torch
    made: dict[Any, Any] = {}
    for module in model.modules():
        for name, one in [*module._parameters.items(), *module._buffers.items()]:
            if one is None or not one.is_floating_point():
                continue
            if one not in made:  # a weight that several modules share stays one
                changed = one.detach().to(wanted)
                made[one] = torch.nn.Parameter(changed, one.requires_grad) if isinstance(one, torch.nn.Parameter) else changed
            setattr(module, name, made[one])
    return model


def inputs_of(names: dict[str, Any], variant: dict[str, Any], stride: int = 1, type_name: str = "") -> list[Any]:
    """What get_inputs gives, cut down as the variant says, to as many outputs, which lie `stride` apart, and then in that type."""
    return [in_type(one, type_name) for one in _cut_inputs(names, variant, stride)]


def _cut_inputs(names: dict[str, Any], variant: dict[str, Any], stride: int) -> list[Any]:
    inputs = list(names["get_inputs"]())
    cut = variant["cut"]
    if not cut:
        return inputs
    if variant["cut_kind"] == "outer":
        return [_cut(one, lambda k, extent: cut[0] if k == 0 else cut[1] * stride if k >= 2 else extent) for one in inputs]
    large = sorted({extent for one in inputs if hasattr(one, "shape") for extent in one.shape if extent > cut[0]})
    small = {extent: cut[k % len(cut)] for k, extent in enumerate(large)}
    return [_cut(one, lambda k, extent: small.get(extent, extent)) for one in inputs]


def _cut(value: Any, extent_of: Any) -> Any:
    if not hasattr(value, "shape"):
        return value
    return value[tuple(slice(0, extent_of(k, extent)) for k, extent in enumerate(value.shape))].clone()


def build(names: dict[str, Any], mode: str, type_name: str = "", which: str = "Model") -> Any:
    model = in_type(names[which](*names["get_init_inputs"]()), type_name)
    return model.train() if mode == "train" else model.eval()


def _trace(variant: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode
    names = load(variant["source"])

    def export() -> Any:
        model = build(names, request["mode"], request["dtype"])
        return torch.export.export(model, tuple(inputs_of(names, variant, stride_of(model), request["dtype"])), strict=False)
    program = None
    with contextlib.suppress(Exception), FakeTensorMode(allow_non_fake_inputs=True):
        program = export()
    if program is None:  # what does not run on shapes alone
        program = export()
    constants = {name: value for name, value in names.items() if isinstance(value, int) and not isinstance(value, bool) and not name.startswith("__")}
    return {"constants": constants, **_graph(program)}


def _tensor(value: Any) -> dict[str, Any]:
    return {"shape": [int(one) for one in value.shape], "dtype": str(value.dtype).removeprefix("torch.")}


def _graph(program: Any) -> dict[str, Any]:
    import torch
    kinds = {torch.export.graph_signature.InputKind.PARAMETER: "parameter", torch.export.graph_signature.InputKind.BUFFER: "buffer",
             torch.export.graph_signature.InputKind.USER_INPUT: "user", torch.export.graph_signature.InputKind.CONSTANT_TENSOR: "constant"}
    specs = {spec.arg.name: (kinds.get(spec.kind, "other"), spec.target) for spec in program.graph_signature.input_specs}
    inputs, nodes, outputs = [], [], []
    for node in program.graph.nodes:
        if node.op == "placeholder":
            if isinstance(node.meta.get("val"), torch.Tensor):
                kind, target = specs[node.name]
                inputs.append({"name": node.name, "kind": kind, "target": target, "init": "", **_tensor(node.meta["val"])})
        elif node.op == "output":
            flat = node.args[0]
            mutated = len(program.graph_signature.buffers_to_mutate)
            outputs = [one.name if hasattr(one, "name") else "" for one in flat][mutated:]
        elif node.op == "call_function":
            nodes.append(_node(node))
        else:
            raise ValueError(f"a node '{node.op}'")
    needed = _needed(nodes, outputs)
    return {"inputs": inputs, "nodes": [node for node in nodes if node["name"] in needed], "outputs": outputs}


def _needed(nodes: list[dict[str, Any]], outputs: list[str]) -> set[str]:
    """Names that the outputs depend on."""
    def refs(value: Any) -> list[str]:
        if isinstance(value, dict):
            return [value["ref"]] if "ref" in value else [one for inner in value.values() for one in refs(inner)]
        return [one for inner in value for one in refs(inner)] if isinstance(value, list) else []
    needed = set(outputs)
    for node in reversed(nodes):
        if node["name"] in needed:
            needed.update(refs(node["args"]))
    return needed


def _node(node: Any) -> dict[str, Any]:
    target = node.target
    if hasattr(target, "_schema"):
        arguments = target._schema.arguments
        args = {one.name: one.default_value for one in arguments if one.has_default_value()}
        args.update({one.name: value for one, value in zip(arguments, node.args)})
        args.update(node.kwargs)
        op = str(target)
    else:
        op = target.__name__
        args = dict(zip(("self", "index"), node.args)) if op == "getitem" else {f"arg{k}": one for k, one in enumerate(node.args)}
    value = node.meta.get("val")
    values = list(value) if isinstance(value, (tuple, list)) else [value]
    outputs = [_tensor(one) for one in values if hasattr(one, "shape")]
    return {"name": node.name, "op": op, "args": {name: _argument(one) for name, one in args.items()}, "outputs": outputs}


def _argument(value: Any) -> Any:
    import torch
    if isinstance(value, torch.fx.Node):
        return {"ref": value.name}
    if isinstance(value, (list, tuple)):
        return {"list": [_argument(one) for one in value]}
    if isinstance(value, (bool, int, float, str)) or value is None:
        if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
            return {"text": str(value)}
        return value
    if isinstance(value, torch.dtype):
        return {"dtype": str(value).removeprefix("torch.")}
    return {"text": str(value)[:100]}


def _write_values(variant: dict[str, Any], trace: dict[str, Any], request: dict[str, Any]) -> None:
    """Inputs, weights among them, and what the model makes of them, for each seed; once more with inputs of both signs, where
    that gives numbers: what get_inputs draws may be positive alone, and then a ReLU cannot be told from nothing."""
    import shutil
    place = pathlib.Path(request["folder"], variant["name"].replace(" ", "-"))
    for seed, signed in [*((seed, False) for seed in request["seeds"]), (request["seeds"][0], True)]:
        folder = place / f"{'signed' if signed else 'seed'}{seed}"
        folder.mkdir(parents=True, exist_ok=True)
        if not signed:
            _write_case(variant, trace, request, seed, signed, folder)
            continue
        try:
            kept = _write_case(variant, trace, request, seed, signed, folder)
        except Exception:  # noqa: BLE001  (inputs that the problem does not take)
            kept = False
        if not kept:
            shutil.rmtree(folder)


def _write_case(variant: dict[str, Any], trace: dict[str, Any], request: dict[str, Any], seed: int, signed: bool, folder: pathlib.Path) -> bool:
    """Whether all results are finite."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode
    torch.manual_seed(seed)
    names = load(variant["source"])
    model = build(names, request["mode"], request["dtype"])
    shake(model)
    inputs = inputs_of(names, variant, stride_of(model), request["dtype"])
    inputs = of_both_signs(inputs) if signed else inputs
    users = iter([one for one in inputs if isinstance(one, torch.Tensor)])
    state = {**dict(model.named_parameters(remove_duplicate=False)), **dict(model.named_buffers(remove_duplicate=False))}
    for one in trace["inputs"]:
        value = next(users) if one["kind"] == "user" else state.get(one["target"])
        if value is None:
            raise ValueError(f"a constant tensor '{one['name']}' in the model's code")
        one["init"] = one["init"] or _init(value.detach(), one["kind"])
        write(folder / f"{one['name']}.npy", value.detach())
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        result = model(*[one.clone() if isinstance(one, torch.Tensor) else one for one in inputs])
    operations = counter.get_total_flops()
    if any(isinstance(one, torch.nn.modules.conv._ConvTransposeNd) for one in model.modules()):
        operations *= TRANSPOSED_FACTOR
    if operations > MOST_OPERATIONS:
        raise ValueError(f"{operations} operations are too many to be interpreted")
    if not isinstance(result, torch.Tensor):
        raise ValueError("the model does not return one tensor")
    write(folder / "expected.npy", result.detach())
    return bool(torch.isfinite(result).all())


def of_both_signs(inputs: list[Any]) -> list[Any]:
    """Other values of the same shapes: floating-point numbers on both sides of zero, none of them near it."""
    import torch
    result = []
    for one in inputs:
        if isinstance(one, torch.Tensor) and one.is_floating_point():
            sign = torch.where(torch.rand_like(one) < 0.5, -1.0, 1.0)
            one = (sign * (0.25 + 2.0 * torch.rand_like(one))).to(one.dtype)
        result.append(one)
    return result


def shake(model: Any) -> None:
    """Weights that are all ones or zeros would hide mistakes: every parameter is moved, every buffer stays of its sign."""
    import torch
    with torch.no_grad():
        for one in model.parameters():
            if one.is_floating_point():
                spread = 0.25 if one.numel() < 2 or float(one.std()) == 0.0 else 0.25 * float(one.std())
                one.add_(torch.randn_like(one) * spread)
        for one in model.buffers():
            if one.is_floating_point():
                one.copy_(torch.where(one == 0, torch.randn_like(one) * 0.25, one * (0.5 + torch.rand_like(one))))


def _init(value: Any, kind: str) -> str:
    """The manifest's words for what the values look like."""
    import torch
    if value.numel() == 0 or value.dtype == torch.bool:
        return ""
    if not value.is_floating_point():
        return f"int({int(value.min())}, {int(value.max())})"
    low, high = float(value.min()), float(value.max())
    if kind == "user":
        return "uniform(0, 1)" if 0.0 <= low and high <= 1.0 else "normal"
    if low > 0.0:
        return "uniform(0.5, 1.5)"
    bound = float(f"{max(abs(low), abs(high)):.2g}")
    return f"uniform(-{bound:f}, {bound:f})" if 1e-3 < bound < 1e3 else "normal"


def write(path: pathlib.Path, value: Any) -> None:
    from regraph_torch import npy
    from regraph_torch.element_types import TYPES
    name = str(value.dtype).removeprefix("torch.")
    if name not in TYPES:
        raise ValueError(f"a tensor of {name}")
    if value.numel() > MOST_ELEMENTS:
        raise ValueError(f"a tensor of {value.numel()} elements is too large to be interpreted")
    flat = value.detach().cpu().contiguous()
    import ctypes
    content = ctypes.string_at(flat.data_ptr(), flat.numel() * flat.element_size()) if flat.numel() else b""
    npy.write(path, name, tuple(flat.shape), content)
