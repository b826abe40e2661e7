"""Draws training.jsonl as an SVG picture: reward, acceptance, loss and what else tells how a training went.

    python/regraph_curves.py OUT [OUT ...] --svg curves.svg [--over tokens]

Several runs are drawn over each other, by their folders' names: a run beside its control, for one.
"""

from __future__ import annotations

import argparse
import json
import math
import pathlib
import sys
from typing import Any

from regraph_training.errors import BadInput, run_main
from regraph_training.journal import LINES_FILE
from regraph_training.svg_chart import Line, Panel, chart, smoothed, thinned

# Panel's title, kind of the journal's lines, name of the value.
MEASURES = (
    ("reward", "step", "reward"),
    ("accepted answers (share)", "step", "accepted"),
    ("ln speedup of correct answers", "step", "ln_speedup_of_correct"),
    ("groups without variance (share)", "step", "frac_reward_zero_std"),
    ("entropy", "step", "entropy"),
    ("KL from the parent", "step", "kl"),
    ("held out: exact answers (share)", "evaluation", "exact"),
    ("held out: loss", "evaluation", "loss"),
    ("loss", "step", "loss"),
)
SMOOTH = 9


def read_lines(folder: pathlib.Path) -> list[dict[str, Any]]:
    """The journal's lines; a last one that a kill cut off is passed by. Raises BadInput."""
    path = folder / LINES_FILE if folder.is_dir() else folder
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from None
    found = []
    for line in text.splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            found.append(value)
    if not found:
        raise BadInput(f"{path}: holds no lines of a training")
    return found


def points_of(lines: list[dict[str, Any]], kind: str, name: str, over: str) -> list[tuple[float, float]]:
    def number(value: Any) -> bool:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)

    return [(float(line[over]) / (60.0 if over == "seconds" else 1e6 if over == "tokens" else 1.0), float(line[name]))
            for line in lines if line.get("kind") == kind and number(line.get(name)) and number(line.get(over))]


def picture(runs: list[tuple[str, list[dict[str, Any]]]], over: str, title: str) -> str:
    panels = []
    for panel_title, kind, name in MEASURES:
        drawn = []
        found = [(label, points_of(lines, kind, name, over)) for label, lines in runs]
        # All or none: a smoothed run beside a raw one would look like another kind of run.
        smooth = kind == "step" and max(len(points) for _, points in found) > 2 * SMOOTH
        for label, points in found:
            drawn.append(Line(label if len(runs) > 1 else "", thinned(smoothed(points, SMOOTH)) if smooth else points,
                              thinned(points) if smooth else []))
        panels.append(Panel(panel_title, drawn))
    axis = {"seconds": "minutes", "tokens": "million tokens", "step": "steps"}[over]
    return chart(title, panels, axis)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="+", type=pathlib.Path, help="output folders, or their training.jsonl")
    parser.add_argument("--svg", type=pathlib.Path, required=True, help="file to write")
    parser.add_argument("--over", choices=("seconds", "step", "tokens"), default="seconds")
    parser.add_argument("--title", default="")
    options = parser.parse_args()
    runs = [((path if path.is_dir() else path.parent).resolve().name, read_lines(path)) for path in options.runs]
    title = options.title or ", ".join(label for label, _ in runs)
    options.svg.write_text(picture(runs, options.over, title), encoding="utf-8")
    print(options.svg)
    return 0


if __name__ == "__main__":
    sys.exit(run_main(main))
