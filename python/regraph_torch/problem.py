"""One problem from its file to a table's row: traced, lowered, compared with PyTorch, searched."""

from __future__ import annotations

import dataclasses
import math
import pathlib
import shutil
from typing import Any

from regraph_torch import child, graph, tools, variants
from regraph_torch.errors import Refused
from regraph_torch.lower import Lowered, lower

WANTED_SMALL_SIZES = 2


@dataclasses.dataclass(frozen=True)
class Options:
    mode: str = "eval"
    seeds: int = 3
    limits: child.Limits = child.Limits()
    run_seconds: float = 300.0
    search: bool = True
    search_seconds: float = 3600.0
    search_options: tuple[str, ...] = ()
    most_elements: int = 0  # of a buffer in the search; 0: the problem's own sizes
    dtype: str = ""  # torch's name of the type that modules and inputs are converted to; empty: they stay as they are


def trace(source: str, folder: pathlib.Path, options: Options) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The traces that could be made, the full size first, and what the child said besides."""
    asked = [{"name": one.name, "source": one.source, "cut": list(one.cut) if one.cut else None, "cut_kind": one.cut_kind}
             for one in variants.variants(source)]
    answer = child.ask("trace_child", {"variants": asked, "wanted": WANTED_SMALL_SIZES, "seeds": list(range(1, options.seeds + 1)),
                                       "mode": options.mode, "dtype": options.dtype}, folder, options.limits)
    if answer.content is None:
        return [], {"trouble": answer.trouble}
    found = answer.content["variants"]
    if "trouble" in found[0]:
        return [], {"trouble": found[0]["trouble"]}
    return [one for one in found if "trouble" not in one], {"confined": answer.content["confined"], "torch": answer.content["torch"],
                                                            "left_out": {one["name"]: one["trouble"] for one in found if "trouble" in one}}


def merged(traces: list[dict[str, Any]]) -> tuple[graph.Graph, list[dict[str, Any]]]:
    """One graph of the full size and as many small ones as compute the same; and the traces it is of."""
    kept = [traces[0]]
    for one in traces[1:]:
        try:
            graph.merge([*kept, one], [trace["constants"] for trace in [*kept, one]])
            kept.append(one)
        except Refused:
            continue
    for k, one in enumerate(kept[0]["inputs"]):
        one["init"] = next((trace["inputs"][k]["init"] for trace in kept[1:] if trace["inputs"][k]["init"]), "")
    return graph.merge(kept, [trace["constants"] for trace in kept]), kept


def lowered(traces: list[dict[str, Any]], comment: str) -> tuple[Lowered, list[dict[str, Any]]]:
    whole, kept = merged(traces)
    return lower(whole, comment), kept


def shrunk(sizes: dict[str, int], shapes: list[list[str]], most: int) -> dict[str, int]:
    """The sizes, the largest of them halved until no buffer has more elements than that."""
    sizes = dict(sizes)

    def largest() -> int:
        return max((math.prod(_evaluated(one, sizes) for one in shape) for shape in shapes), default=0)

    while most and largest() > most and max(sizes.values()) > 64:
        name = max(sizes, key=lambda one: sizes[one])
        sizes[name] //= 2
    return sizes


def _evaluated(text: str, sizes: dict[str, int]) -> int:
    """An extent of ours: names, numbers and + - * / in C's integers."""
    return int(eval(text.replace("/", "//"), {"__builtins__": {}}, dict(sizes)))


def cases_of(data: pathlib.Path, kept: list[dict[str, Any]], sizes: list[dict[str, int]], seeds: int) -> list[tuple[dict[str, int], list[pathlib.Path]]]:
    """Sizes of each small trace with its folders of inputs and PyTorch's results."""
    places = [data / one["name"].replace(" ", "-") for one in kept[1:]]
    names = [*(f"seed{seed}" for seed in range(1, seeds + 1)), "signed1"]
    return [(small, [place / name for name in names if (place / name / "expected.npy").is_file()]) for place, small in zip(places, sizes[1:])]


def work(path: pathlib.Path, output: pathlib.Path, programs: tools.Programs, options: Options) -> dict[str, Any]:
    """A row: `problem`, `stage` reached (loaded, lowered, agrees, searched) and what was found out on the way."""
    folder = output / path.stem
    shutil.rmtree(folder, ignore_errors=True)
    row: dict[str, Any] = {"problem": path.stem, "file": str(path), "stage": "none"}
    try:
        source = path.read_text(encoding="utf-8")
        traces, said = trace(source, folder / "data", options)
    except (OSError, UnicodeDecodeError, SyntaxError, ValueError) as error:
        return {**row, "reason": f"it cannot be read: {error}"}
    if not traces:
        return {**row, "reason": said["trouble"]}
    row.update(stage="loaded", confined=said["confined"], torch=said["torch"], operators=[one["op"] for one in traces[0]["nodes"]])
    try:
        found, kept = lowered(traces, f"{path.stem}: a naive kernel, made by regraph_bench.py of PyTorch's trace.")
    except Refused as error:
        return {**row, "reason": str(error)}
    kernel = folder / "kernel.cu"
    kernel.write_text(found.source, encoding="utf-8")
    (folder / "kernel.regraph.yaml").write_text(found.manifest, encoding="utf-8")
    row.update(stage="lowered", kernel=str(kernel), launches=found.kernels, title=found.title, sizes=found.sizes[0],
               small_sizes=[one["name"] for one in kept[1:]])
    cases = cases_of(folder / "data", kept, found.sizes, options.seeds)
    if not cases:
        return {**row, "reason": f"no smaller shapes run, so that nothing is compared: {said['left_out']}"}
    agreement = tools.compare_with_pytorch(programs, kernel, found.output, cases, options.run_seconds)
    row["check"] = dataclasses.asdict(agreement)
    if not agreement.agrees:
        return {**row, "reason": agreement.trouble}
    row["stage"] = "agrees"
    return _search(row, folder, found, kept[0], cases, programs, options) if options.search else row


def _search(row: dict[str, Any], folder: pathlib.Path, found: Lowered, full: dict[str, Any],
            cases: list[tuple[dict[str, int], list[pathlib.Path]]], programs: tools.Programs, options: Options) -> dict[str, Any]:
    shapes = [[str(extent) for extent in one["shape"]] for one in full["inputs"]]
    sizes = shrunk(found.sizes[0], [*found.input_shapes, found.output_shape] if found.sizes[0] else shapes, options.most_elements)
    row["searched_sizes"] = sizes
    given = sizes if sizes != found.sizes[0] else {}
    result, trouble = tools.search(programs, folder / "kernel.cu", folder / "search", given, list(options.search_options), options.search_seconds)
    if result is None:
        return {**row, "reason": f"search: {trouble}"}
    row["search"] = {key: result.get(key) for key in ("status", "method", "device", "speedup", "speedup_interval", "evaluations", "verified")}
    row["search"].update(naive_seconds=result["baseline"]["seconds"], seconds=result["best"]["seconds"], interval=result["best"]["interval"],
                         steps=[one["step"] for one in result["best"].get("steps", [])])
    # What the search verified against the naive kernel is compared once more with PyTorch itself.
    if result["status"] == "improved":
        agreement = tools.compare_with_pytorch(programs, folder / "search" / "best.cu", found.output, cases, options.run_seconds)
        row["search"]["check"] = dataclasses.asdict(agreement)
        if not agreement.agrees:
            return {**row, "stage": "wrong", "reason": f"the answer: {agreement.trouble}"}
    return {**row, "stage": "searched"}
