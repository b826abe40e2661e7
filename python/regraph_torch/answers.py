"""Whether an answer's ModelNew computes what a problem's Model does; and what KernelBench's own rule says of it."""

from __future__ import annotations

import contextlib
import pathlib
import tempfile
from typing import Any

from regraph_torch import child, comparison, npy, variants
from regraph_torch.errors import BadInput

WANTED_SHAPES = 2
# What makes an answer unequal although its values are right.
FATAL = {"changes its inputs", "changes an earlier result in a later call"}


def judge(problem: pathlib.Path, answer: pathlib.Path, output: pathlib.Path | None, mode: str, seeds: int, limits: child.Limits,
          gpu: bool, type_name: str = "") -> dict[str, Any]:
    """{"equal", "reasons", "seen", "theirs", "shapes", "weights"}."""
    with contextlib.ExitStack() as stack:
        folder = output or pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="regraph-check-")))
        return _judge(problem.read_text(encoding="utf-8"), answer.read_text(encoding="utf-8"), folder, mode, seeds, limits, gpu,
                      type_name)


def _judge(problem: str, answer: str, folder: pathlib.Path, mode: str, seeds: int, limits: child.Limits, gpu: bool,
           type_name: str) -> dict[str, Any]:
    try:
        all_variants = variants.variants(problem)
    except SyntaxError as error:
        raise BadInput(f"the problem is no Python: {error}") from None
    asked = [{"name": one.name, "source": one.source, "cut": list(one.cut) if one.cut else None, "cut_kind": one.cut_kind}
             for one in (all_variants if gpu else all_variants[1:])]
    request = {"variants": asked, "wanted": WANTED_SHAPES + gpu, "seeds": list(range(1, seeds + 1)), "mode": mode, "dtype": type_name}
    model = child.ask("answer_child", {**request, "part": "model"}, folder / "model", limits, gpu)
    if model.content is None or model.trouble or not model.content["done"]:
        why = model.trouble or (model.content["left_out"] if model.content else "")
        raise BadInput(f"the problem's Model does not run at small shapes: {why}")
    used = [one for one in asked if one["name"] in model.content["done"]]
    request.update(variants=used, answer=answer)
    found = child.ask("answer_child", {**request, "part": "answer", "inputs": str((folder / "model").resolve())}, folder / "answer", limits, gpu)
    theirs = child.ask("answer_child", {**request, "part": "theirs"}, folder / "theirs", limits, gpu)
    verdict: dict[str, Any] = {"shapes": [one["name"] for one in used], "seen": [], "reasons": [], "weights": None,
                               "theirs": {"passes": bool(theirs.content and theirs.content.get("passes")),
                                          "why": theirs.trouble or (theirs.content or {}).get("why", "")}}
    if found.content is None or found.trouble:
        verdict["reasons"].append(f"it could not be judged: {found.trouble}")
    else:
        verdict.update(seen=found.content["seen"], weights=found.content["weights"])
        verdict["reasons"] += [f"it {one}" for one in found.content["seen"] if one in FATAL]
        verdict["reasons"] += _differences(folder, used, seeds, found.content["weights"])
    verdict["equal"] = not verdict["reasons"]
    return verdict


def _differences(folder: pathlib.Path, used: list[dict[str, Any]], seeds: int, weights: str) -> list[str]:
    reasons: list[str] = []
    results: dict[tuple[str, str], list[tuple[bytes, bytes]]] = {}
    for variant in used:
        name = variant["name"].replace(" ", "-")
        for seed in range(1, seeds + 1):
            for kind in ("own", "signed"):
                try:
                    actual = npy.read(folder / "answer" / name / f"seed{seed}" / f"{kind}.npy")
                except (OSError, npy.Damaged) as error:
                    return [f"it could not be judged: {error}"]
                expected = npy.read(folder / "model" / name / f"seed{seed}" / f"expected-{weights}-{kind}.npy")
                results.setdefault((name, kind), []).append((actual.values.tobytes(), expected.values.tobytes()))
                if wrong := comparison.difference(actual, expected):
                    words = "the problem's own inputs" if kind == "own" else "inputs of both signs"
                    reasons.append(f"at shapes '{variant['name']}', seed {seed}, {words}: {wrong}")
    if reasons and all(_is_constant(pairs) for pairs in results.values()):
        reasons.insert(0, "its result is the same for all inputs")
    return reasons[:1] + [f"and {len(reasons) - 1} more"] if len(reasons) > 2 else reasons


def _is_constant(pairs: list[tuple[bytes, bytes]]) -> bool:
    return len({actual for actual, _ in pairs}) == 1 and len({expected for _, expected in pairs}) > 1


def text(verdict: dict[str, Any]) -> str:
    lines = [("EQUAL" if verdict["equal"] else "NOT EQUAL") + f", at shapes {', '.join(verdict['shapes'])}"]
    lines += [f"  {reason}" for reason in verdict["reasons"]]
    lines += [f"  note: it {one}" for one in verdict["seen"] if one not in FATAL]
    if verdict["weights"] == "seeded":
        lines.append("  note: its weights have other names than the Model's; both were made from the same seeds")
    passes = verdict["theirs"]["passes"]
    says = "passes" if passes else f"fails, {verdict['theirs']['why']}"
    lines.append(f"  KernelBench's rule (one process, get_inputs alone, allclose 1e-4, in half precision 1e-2): {says}")
    if passes and not verdict["equal"]:
        lines.append("  it passes that rule and not this check")
    return "\n".join(lines)
