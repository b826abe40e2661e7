"""Line charts as SVG text: one panel above the other over a common axis. No library, so it works anywhere."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

WIDTH, PANEL, LEFT, RIGHT, TOP, GAP, BOTTOM = 760, 170, 64, 16, 44, 34, 44
COLOURS = ("#1f5fa8", "#b3501f", "#2f7d4f", "#7a3f98", "#8a6d1a", "#555555")


@dataclass
class Line:
    label: str
    points: list[tuple[float, float]]
    faint: list[tuple[float, float]] = field(default_factory=list)  # what `points` is a mean of


@dataclass
class Panel:
    title: str
    lines: list[Line]


def smoothed(points: Sequence[tuple[float, float]], window: int) -> list[tuple[float, float]]:
    """The mean of the last `window` values at each place."""
    found, total = [], 0.0
    for number, (x, y) in enumerate(points):
        total += y - (points[number - window][1] if number >= window else 0.0)
        found.append((x, total / min(number + 1, window)))
    return found


def thinned(points: Sequence[tuple[float, float]], most: int = 800) -> list[tuple[float, float]]:
    """At most so many points, means of neighbours."""
    if len(points) <= most:
        return list(points)
    size = math.ceil(len(points) / most)
    parts = [points[begin:begin + size] for begin in range(0, len(points), size)]
    return [(sum(x for x, _ in part) / len(part), sum(y for _, y in part) / len(part)) for part in parts]


def ticks(low: float, high: float, wanted: int = 4) -> list[float]:
    """Round numbers within the range: 1, 2 or 5 times a power of ten apart."""
    if high <= low:
        return [low]
    raw = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(number * step, 12) for number in range(first, math.floor(high / step + 1e-9) + 1)]


def _range(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    margin = (high - low) * 0.06 or abs(high) * 0.1 or 1.0
    return low - margin, high + margin


def chart(title: str, panels: Sequence[Panel], axis: str) -> str:
    """An SVG document. Panels without points are left out; without any the document says so."""
    shown = [Panel(panel.title, [line for line in panel.lines if line.points]) for panel in panels]
    shown = [panel for panel in shown if panel.lines]
    height = TOP + len(shown) * (PANEL + GAP) + BOTTOM if shown else 100
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
           'font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
           f'<text x="{LEFT}" y="24" font-size="15">{html.escape(title)}</text>']
    if not shown:
        return "\n".join([*out, f'<text x="{LEFT}" y="60">nothing recorded</text>', "</svg>"]) + "\n"
    every_x = [x for panel in shown for line in panel.lines for x, _ in line.points]
    x_low, x_high = min(every_x), max(every_x)
    span = (x_high - x_low) or 1.0

    def at_x(x: float) -> float:
        return LEFT + (x - x_low) / span * (WIDTH - LEFT - RIGHT)

    labels = list(dict.fromkeys(line.label for panel in panels for line in panel.lines))
    for number, panel in enumerate(shown):
        top = TOP + number * (PANEL + GAP) + 16
        bottom = top + PANEL - 16
        low, high = _range([y for line in panel.lines for _, y in line.points])

        def at_y(y: float, low: float = low, high: float = high, bottom: float = bottom, top: float = top) -> float:
            return bottom - (min(max(y, low), high) - low) / (high - low) * (bottom - top)

        out.append(f'<text x="{LEFT}" y="{top - 6}" font-weight="bold">{html.escape(panel.title)}</text>')
        for tick in ticks(low, high):
            out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at_y(tick):.1f}" y2="{at_y(tick):.1f}" '
                       'stroke="#dddddd"/>'
                       f'<text x="{LEFT - 6}" y="{at_y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>')
        out.append(f'<rect x="{LEFT}" y="{top}" width="{WIDTH - LEFT - RIGHT}" height="{bottom - top}" fill="none" '
                   'stroke="#888888"/>')
        label_x = WIDTH - RIGHT
        for line in reversed(panel.lines):
            line_colour = COLOURS[labels.index(line.label) % len(COLOURS)]
            for points, style in ((line.faint, 'stroke-width="1" opacity="0.25"'), (line.points, 'stroke-width="1.8"')):
                if len(points) == 1:
                    out.append(f'<circle cx="{at_x(points[0][0]):.1f}" cy="{at_y(points[0][1]):.1f}" r="3" '
                               f'fill="{line_colour}"/>')
                elif points:
                    path = " ".join(f"{at_x(x):.1f},{at_y(y):.1f}" for x, y in points)
                    out.append(f'<polyline points="{path}" fill="none" stroke="{line_colour}" {style}/>')
            out.append(f'<text x="{label_x}" y="{top - 6}" text-anchor="end" fill="{line_colour}">'
                       f"{html.escape(line.label)}</text>")
            label_x -= 7 * len(line.label) + 14
    base = TOP + len(shown) * (PANEL + GAP)
    for tick in ticks(x_low, x_high, 7):
        out.append(f'<text x="{at_x(tick):.1f}" y="{base}" text-anchor="middle">{tick:g}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{base + 20}" text-anchor="middle">{html.escape(axis)}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"
