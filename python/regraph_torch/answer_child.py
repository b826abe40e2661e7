"""In children: what a Model, or an answer's ModelNew, makes of inputs. Needs torch.

The model's child writes inputs and expected results. The answer's child is given the inputs alone. A third child does what
KernelBench's own harness does, both models in one process, to tell what that would have said.
"""

from __future__ import annotations

import json
import os
import pathlib
import sys
from typing import Any

# torch's own, taken before an answer could put others in their place.
EQUAL: Any = None
CLONE: Any = None


def main() -> None:
    request = json.load(sys.stdin)
    from regraph_torch.confine import confine
    confined = confine(request["folder"], request["memory_bytes"], request["seconds"], devices=request["gpu"], wanted=request["confine"])
    import torch
    global EQUAL, CLONE
    EQUAL, CLONE = torch.equal, torch.Tensor.clone
    torch.set_num_threads(1)
    part = {"model": _model, "answer": _answer, "theirs": _theirs}[request["part"]]
    answer: dict[str, Any] = {"confined": confined}
    try:
        answer.update(part(request))
    except Exception as error:  # noqa: BLE001  (whatever the sources raise)
        answer["trouble"] = f"{type(error).__name__}: {str(error)[:300]}"
    pathlib.Path(request["folder"], "answer.json").write_text(json.dumps(answer))
    sys.stdout.flush()
    os._exit(0)


def _device(request: dict[str, Any]) -> str:
    return "cuda" if request["gpu"] else "cpu"


def _moved(values: list[Any], device: str) -> list[Any]:
    return [one.to(device) if hasattr(one, "to") else one for one in values]


def _model(request: dict[str, Any]) -> dict[str, Any]:
    """For each variant and seed: weights, inputs of the problem's own and signed ones, and what the model makes of them."""
    import torch
    from regraph_torch.trace_child import build, inputs_of, load, of_both_signs, shake
    from regraph_torch.trace_child import write as write_npy
    done, left_out = [], {}
    for variant in request["variants"]:
        if len(done) >= request["wanted"]:
            break
        try:
            for seed in request["seeds"]:
                folder = pathlib.Path(request["folder"], variant["name"].replace(" ", "-"), f"seed{seed}")
                folder.mkdir(parents=True, exist_ok=True)
                for weights in ("seeded", "moved"):
                    torch.manual_seed(seed)
                    names = load(variant["source"])
                    model = build(names, request["mode"], request["dtype"])
                    if weights == "moved":
                        shake(model)
                    torch.save(model.state_dict(), folder / f"{weights}.pt")
                    model = model.to(_device(request))
                    torch.manual_seed(1000 + seed)
                    own = inputs_of(names, variant, type_name=request["dtype"])
                    for kind, inputs in (("own", own), ("signed", of_both_signs(own))):
                        if weights == "seeded":
                            torch.save(inputs, folder / f"inputs-{kind}.pt")
                        with torch.no_grad():
                            result = model(*_moved([one.clone() if hasattr(one, "clone") else one for one in inputs], _device(request)))
                        if not isinstance(result, torch.Tensor):
                            raise ValueError("the model does not return one tensor")
                        write_npy(folder / f"expected-{weights}-{kind}.npy", result)
            done.append(variant["name"])
        except Exception as error:  # noqa: BLE001
            left_out[variant["name"]] = f"{type(error).__name__}: {str(error)[:200]}"
    return {"done": done, "left_out": left_out}


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    """What ModelNew makes of the inputs, each called as it might be in use, and what it does besides."""
    import torch
    from regraph_torch.trace_child import build, load
    from regraph_torch.trace_child import write as write_npy
    seen: list[str] = []

    def note(trick: str) -> None:
        if trick not in seen:
            seen.append(trick)

    which = "moved"
    for variant in request["variants"]:
        for seed in request["seeds"]:
            place = pathlib.Path(request["inputs"], variant["name"].replace(" ", "-"), f"seed{seed}")
            results = pathlib.Path(request["folder"], variant["name"].replace(" ", "-"), f"seed{seed}")
            results.mkdir(parents=True, exist_ok=True)
            torch.manual_seed(seed)
            # Its own get_init_inputs, where it has one, is not asked: the problem's counts.
            names = load(variant["source"])
            names.update({key: value for key, value in load(request["answer"], "answer").items() if key == "ModelNew"})
            model = build(names, request["mode"], request["dtype"], "ModelNew")
            which = _give_weights(model, place) if which == "moved" else which
            model = model.to(_device(request))
            memory: list[Any] = []
            for kind in ("own", "signed"):
                given = _moved(torch.load(place / f"inputs-{kind}.pt", weights_only=True), _device(request))
                if memory:  # the same tensors with other values: a result kept by address is wrong now
                    for old, new in zip(memory, given):
                        if isinstance(old, torch.Tensor):
                            old.copy_(new)
                else:
                    memory = given
                result = _call(model, memory, note)
                write_npy(results / f"{kind}.npy", result)
    return {"weights": which, "seen": seen}


def _give_weights(model: Any, place: pathlib.Path) -> str:
    """Moved weights where the answer has the model's names; else those that the same seed gave it."""
    import torch
    state = torch.load(place / "moved.pt", weights_only=True)
    own = model.state_dict()
    if set(own) != set(state) or any(own[name].shape != state[name].shape for name in own):
        return "seeded"
    model.load_state_dict(state)
    return "moved"


def _call(model: Any, inputs: list[Any], note: Any) -> Any:
    """The result of one call, with what the call does that it should not."""
    import torch
    tensors = [one for one in inputs if isinstance(one, torch.Tensor)]
    before = [CLONE(one) for one in tensors]
    with torch.no_grad():
        first = model(*inputs)
    if type(first) is not torch.Tensor and not isinstance(first, torch.nn.Parameter):
        raise TypeError(f"the answer returns a {type(first).__name__}, not a tensor")
    kept = CLONE(first)
    shares = any(first.untyped_storage().data_ptr() == one.untyped_storage().data_ptr() for one in tensors if one.numel())
    if shares:
        note("returns the memory of an input")
    if any(not EQUAL(one, old) for one, old in zip(tensors, before)):
        note("changes its inputs")
        for one, old in zip(tensors, before):
            one.copy_(old)
    # Memory that a careless result could be found in holds nothing sensible.
    for _ in range(4):
        torch.full_like(first, float("nan")) if first.is_floating_point() else torch.full_like(first, 1)
    others = [one.flip(0) if isinstance(one, torch.Tensor) else one for one in inputs]
    with torch.no_grad():
        second = model(*others)
    if isinstance(second, torch.Tensor) and first.numel() and second.untyped_storage().data_ptr() == first.untyped_storage().data_ptr():
        note("returns the same memory in every call")
    if not shares and not EQUAL(first.nan_to_num(), kept.nan_to_num()):
        note("changes an earlier result in a later call")
    return kept


def _theirs(request: dict[str, Any]) -> dict[str, Any]:
    """KernelBench's rule, as its harness applies it: both models from the same seed in one process, get_inputs alone, allclose
    with the same relative and absolute tolerance."""
    import torch
    from regraph_torch.trace_child import in_type, inputs_of, load
    variant = request["variants"][0]
    names, answer = load(variant["source"]), load(request["answer"], "answer")
    torch.manual_seed(42)
    model = in_type(names["Model"](*names["get_init_inputs"]()), request["dtype"]).to(_device(request))
    torch.manual_seed(42)
    other = in_type(answer["ModelNew"](*names["get_init_inputs"]()), request["dtype"]).to(_device(request))
    for trial in range(5):
        torch.manual_seed(42 + trial)
        inputs = _moved(inputs_of(names, variant, type_name=request["dtype"]), _device(request))
        with torch.no_grad():
            expected = model(*inputs)
            result = other(*inputs)
        if result.shape != expected.shape:
            return {"passes": False, "why": f"shape {list(result.shape)}, expected {list(expected.shape)}"}
        tolerance = 1e-2 if expected.dtype in (torch.float16, torch.bfloat16) else 1e-4
        if not torch.allclose(expected, result, atol=tolerance, rtol=tolerance):
            return {"passes": False, "why": f"trial {trial}: values differ"}
    return {"passes": True, "why": ""}
