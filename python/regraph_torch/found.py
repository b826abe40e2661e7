"""What searches by prediction found, measured: the candidates that are predicted to be fastest, at the problem's own sizes."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import shutil
import subprocess
from typing import Any

from regraph_torch import tools
from regraph_torch.finalists import finalists, write_finalist


@dataclasses.dataclass(frozen=True)
class Options:
    count: int = 3  # candidates of a problem
    seconds: float = 600.0  # for all of them
    score_options: tuple[str, ...] = ("--evaluator", "gpu-only")


def manifest(folder: pathlib.Path) -> str:
    """Of the naive kernel, at the problem's own sizes; empty where there is none."""
    try:
        return (folder / "kernel.regraph.yaml").read_text(encoding="utf-8")
    except OSError:
        return ""


def candidates(folder: pathlib.Path, count: int) -> list[tuple[pathlib.Path, list[str]]]:
    """Files with manifests beside them and the steps that lead there: the search's answer first, then others that it found, none twice.
    What the search did not dare to call faster is there too: the GPU decides, and the prediction may err by a quarter."""
    result = json.loads((folder / "search" / "result.json").read_text(encoding="utf-8"))
    chosen = []
    text = ""
    if result["status"] == "improved":
        best = folder / "search" / "best.cu"
        chosen.append((best, [one["step"] for one in result["best"].get("steps", [])]))
        text = best.read_text(encoding="utf-8")
    if not (folder / "search" / "run.db").is_file():
        return chosen
    place = folder / "finalists"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    for number, (source, launches, steps) in enumerate(finalists(folder / "search", count, even_if_slower=True)):
        if source != text and len(chosen) < count:
            file = place / f"{number}.cu"
            if not write_finalist(file, source, launches, manifest(folder)):
                continue
            chosen.append((file, [one.split(" ", 1)[0] for one in steps]))
    return chosen


def judge(programs: tools.Programs, folder: pathlib.Path, options: Options) -> dict[str, Any]:
    """The fastest of a problem's candidates that is right, or the naive kernel: `naive_seconds`, `seconds`, `interval`, `speedup`, `method`,
    `steps`, `file` and what became of each in `candidates`; `trouble` where no time could be had."""
    chosen = candidates(folder, options.count)
    # Alone, the naive kernel is judged as its own candidate.
    files = [file for file, _ in chosen] or [folder / "kernel.cu"]
    command = [programs.score, str(folder / "kernel.cu"), *map(str, files), *options.score_options, "--once", "--json", "-q"]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=options.seconds, check=False)
    except subprocess.TimeoutExpired:
        return {"trouble": f"measuring takes more than {options.seconds:.0f} s"}
    lines = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    timed = next((line for line in lines if line.get("original_time")), None)
    if timed is None:
        return {"trouble": tools.said(run) if not lines else lines[0]["message"]}
    steps = [one for _, one in chosen] or [[]]
    naive = timed["original_time"]
    answer: dict[str, Any] = {"method": naive["method"], "naive_seconds": naive["seconds"], "seconds": naive["seconds"],
                              "interval": naive["interval"], "speedup": 1.0, "steps": [], "file": "kernel.cu", "candidates": []}
    for line, path, file in zip(lines, steps, files):
        seconds = line["time"]["seconds"] if line["equal"] and line.get("time") else None
        answer["candidates"].append({"file": str(file.relative_to(folder)), "steps": path, "verdict": line["verdict"],
                                     "message": line["message"], "seconds": seconds})
        if chosen and seconds and seconds < answer["seconds"]:
            answer |= {"seconds": seconds, "interval": line["time"]["interval"], "speedup": naive["seconds"] / seconds, "steps": path,
                       "file": str(file.relative_to(folder))}
    return answer
