"""Rows as JSON and Markdown: what became of each problem, fast_p where times are measured, predicted gains where not."""

from __future__ import annotations

import json
import math
import pathlib
from collections.abc import Callable
from typing import Any

THRESHOLDS = (0.0, 0.5, 0.8, 1.0, 1.5, 2.0)
STAGES = {"none": "does not load", "loaded": "refused", "lowered": "lowered, not shown to agree", "agrees": "agrees, not searched",
          "searched": "searched", "wrong": "the answer is wrong"}
REFERENCES = {"eager": "PyTorch eager", "compiled": "torch.compile"}


def fast_p(speedups: list[float | None], threshold: float) -> float:
    """The share of all problems whose answer is right and more than `threshold` times as fast; None is no right answer."""
    if not speedups:
        return 0.0
    return sum(one is not None and one > threshold for one in speedups) / len(speedups)


def measured_speedups(rows: list[dict[str, Any]], reference: str) -> list[float | None]:
    """PyTorch's measured time over the measured kernel's, of every row; None where one of them is missing."""
    result: list[float | None] = []
    for row in rows:
        found, torch = claimed(row), row.get("pytorch", {}).get(reference)
        right = row["stage"] == "searched" and found and found["method"] == "measured" and torch
        result.append(torch["seconds"] / found["seconds"] if found and right else None)
    return result


def claimed(row: dict[str, Any]) -> dict[str, Any] | None:
    """The times that a row claims: what `measure` found afterwards, or what the search said."""
    later = row.get("measured", {})
    return later if "seconds" in later else row.get("search")


def is_measured(rows: list[dict[str, Any]]) -> bool:
    return any(one is not None for reference in REFERENCES for one in measured_speedups(rows, reference))


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    reached = [row["stage"] for row in rows]
    order = ("none", "loaded", "lowered", "agrees", "searched")
    counts = {"problems": len(rows), "loaded": sum(one != "none" for one in reached),
              "lowered": sum(one in (*order[2:], "wrong") for one in reached),
              "agree": sum(row.get("check", {}).get("trouble") == "" and row.get("check", {}).get("cases", 0) > 0 for row in rows),
              "searched": sum(one == "searched" for one in reached)}
    gains = [found["speedup"] for row in rows if row["stage"] == "searched" and (found := claimed(row)) and found["method"] == "predicted"]
    result: dict[str, Any] = {**counts, "predicted_gains": len(gains),
                              "predicted_gain_over_naive": math.exp(math.fsum(map(math.log, gains)) / len(gains)) if gains else None}
    if is_measured(rows):
        result["fast_p"] = {reference: {str(p): fast_p(measured_speedups(rows, reference), p) for p in THRESHOLDS} for reference in REFERENCES}
    return result


def time_text(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1.0 or unit == "us":
            return f"{seconds * factor:.3g} {unit}"
    return ""


def measured_line(row: dict[str, Any]) -> str:
    """What `measure` says of a problem while it goes on."""
    one, torch = row["measured"], row.get("pytorch", {})
    if "seconds" not in one:
        return f"{row['problem']}: {one['trouble']}"
    theirs = "".join(f", {title} {time_text(torch[name]['seconds'])}" for name, title in REFERENCES.items() if name in torch)
    trouble = f", PyTorch: {torch['trouble']}" if "trouble" in torch else ""
    return f"{row['problem']}: {time_text(one['naive_seconds'])} to {time_text(one['seconds'])} {one['method']}{theirs}{trouble}"


def markdown(rows: list[dict[str, Any]]) -> str:
    found = summary(rows)
    lines = [f"{found['problems']} problems: {found['loaded']} load, {found['lowered']} are lowered, {found['agree']} naive kernels agree with "
             f"PyTorch at small shapes, {found['searched']} are searched.", ""]
    lines += _fast_p_lines(rows, found) if "fast_p" in found else _predicted_lines(found)
    searched = [row for row in rows if "search" in row]
    if searched:
        lines += _search_table(searched)
    lines += _fate_table([row for row in rows if row not in searched or row.get("reason") or "trouble" in row.get("measured", {})])
    return "\n".join(lines) + "\n"


def _fast_p_lines(rows: list[dict[str, Any]], found: dict[str, Any]) -> list[str]:
    lines = ["fast_p: the share of all problems, those without an answer among them, whose answer is right and more than p times as fast; "
             "measured.", "",
             "| reference | " + " | ".join(f"p = {p:g}" for p in THRESHOLDS) + " |", "|---" * (len(THRESHOLDS) + 1) + "|"]
    for reference, title in REFERENCES.items():
        shares: Callable[[float], str] = lambda p, of=reference: f"{100 * found['fast_p'][of][str(p)]:.1f} %"
        lines.append(f"| {title} | " + " | ".join(shares(p) for p in THRESHOLDS) + " |")
    return [*lines, ""]


def _predicted_lines(found: dict[str, Any]) -> list[str]:
    if found["predicted_gain_over_naive"] is None:
        return []
    return ["No time was measured. Predicted gain over the naive kernel, which is no comparison with PyTorch: "
            f"{found['predicted_gain_over_naive']:.3g}x, the geometric mean of {found['predicted_gains']} problems.", ""]


def _search_table(rows: list[dict[str, Any]]) -> list[str]:
    lines = ["| problem | sizes | naive | found | gain over naive | times | steps | PyTorch eager | torch.compile |", "|---" * 9 + "|"]
    for row in rows:
        one, torch = claimed(row) or row["search"], row.get("pytorch", {})
        timed_at = row["sizes"] if one is row.get("measured") else row["searched_sizes"]
        sizes = ", ".join(f"{name} {value}" for name, value in timed_at.items())
        if timed_at != row["sizes"]:
            sizes += " (smaller than the problem's)"
        theirs = [time_text(torch[name]["seconds"]) if torch.get(name) else "-" for name in REFERENCES]
        lines.append(f"| {row['problem']} | {sizes} | {time_text(one['naive_seconds'])} | {time_text(one['seconds'])} | "
                     f"{one['speedup']:.3g}x | {one['method']} | {', '.join(one['steps']) or '-'} | {theirs[0]} | {theirs[1]} |")
    return [*lines, ""]


def _fate_table(rows: list[dict[str, Any]]) -> list[str]:
    if not rows:
        return []
    lines = ["| problem | | reason |", "|---|---|---|"]
    for row in rows:
        reason = str(row.get("reason") or row.get("measured", {}).get("trouble", "")).replace("|", "\\|").replace("\n", " ")
        lines.append(f"| {row['problem']} | {STAGES[row['stage']]} | {reason} |")
    return lines


def write(rows: list[dict[str, Any]], output: pathlib.Path, settings: dict[str, Any]) -> None:
    content = {"schema": "regraph-kernelbench/1", "settings": settings, "summary": summary(rows), "problems": rows}
    (output / "results.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    (output / "results.md").write_text(markdown(rows), encoding="utf-8")
