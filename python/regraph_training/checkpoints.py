"""States of a run that it can go on from: written whole or not at all, the last two kept."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
from typing import Any

from .errors import BadInput

_KEPT = 2


def folder_of(output: pathlib.Path) -> pathlib.Path:
    return output / "checkpoints"


def save(output: pathlib.Path, step: int, tensors: dict[str, Any], state: dict[str, Any]) -> pathlib.Path:
    """`tensors` go through torch.save, `state` through JSON."""
    import torch
    target = folder_of(output) / f"step-{step:08d}"
    partial = target.with_name(target.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    torch.save(tensors, partial / "tensors.pt")
    (partial / "state.json").write_text(json.dumps(state) + "\n", encoding="utf-8")
    shutil.rmtree(target, ignore_errors=True)
    os.replace(partial, target)
    for old in find(output)[:-_KEPT]:
        shutil.rmtree(old, ignore_errors=True)
    return target


def find(output: pathlib.Path) -> list[pathlib.Path]:
    """Complete ones, the oldest first."""
    return sorted(path for path in folder_of(output).glob("step-????????") if (path / "state.json").exists())


def load(output: pathlib.Path, device: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The newest one's tensors and state. Raises BadInput."""
    import torch
    found = find(output)
    if not found:
        raise BadInput(f"{output}: nothing to resume: no checkpoint in {folder_of(output)}; begin without --resume")
    state = json.loads((found[-1] / "state.json").read_text(encoding="utf-8"))
    return torch.load(found[-1] / "tensors.pt", map_location=device, weights_only=True), state
