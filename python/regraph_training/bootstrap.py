"""Whether one model is better than another: paired by kernel, with an interval."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """Mean of (second - first) over kernels; the interval holds 95 % of resampled means."""
    mean: float
    low: float
    high: float
    kernels: int


def paired_differences(first: Mapping[str, float], second: Mapping[str, float]) -> dict[str, float]:
    """Of the kernels that both have."""
    return {kernel: second[kernel] - first[kernel] for kernel in sorted(first.keys() & second.keys())}


def bootstrap(differences: Sequence[float], resamples: int = 10_000, share: float = 0.95,
              seed: int = 1) -> Difference | None:
    """Resamples kernels, not answers: answers to one kernel are not independent. None where there is nothing."""
    count = len(differences)
    if not count:
        return None
    draw = random.Random(seed)
    means = sorted(sum(draw.choices(differences, k=count)) / count for _ in range(resamples))
    cut = (1.0 - share) / 2.0
    return Difference(sum(differences) / count, quantile(means, cut), quantile(means, 1.0 - cut), count)


def quantile(ordered: Sequence[float], share: float) -> float:
    """Linear between neighbours."""
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def by_kernel(rows: Sequence[dict], value: Callable[[dict], float | None]) -> dict[str, float]:
    """Each kernel's mean over its rows that have a value."""
    sums: dict[str, list[float]] = {}
    for row in rows:
        number = value(row)
        if number is not None:
            sums.setdefault(row["kernel"], []).append(number)
    return {kernel: sum(values) / len(values) for kernel, values in sums.items()}
