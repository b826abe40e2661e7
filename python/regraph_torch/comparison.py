"""Whether two results agree: the rule of docs/evaluation.md, against PyTorch's values."""

from __future__ import annotations

import math

from regraph_torch.element_types import TYPES
from regraph_torch.npy import Tensor

ELEMENT_FACTOR = 8.0


def difference(actual: Tensor, expected: Tensor, tolerance: float | None = None) -> str:
    """In what the two differ, with the first place; empty where they agree."""
    if actual.type != expected.type:
        return f"elements are {actual.type}, expected {expected.type}"
    if actual.shape != expected.shape:
        return f"shape {list(actual.shape)}, expected {list(expected.shape)}"
    tau = TYPES[expected.type].tolerance if tolerance is None else tolerance
    if tau is None:
        for place, (got, wanted) in enumerate(zip(actual.values, expected.values)):
            if got != wanted:
                return f"element {place} is {got}, expected {wanted}"
        return ""
    return _float_difference(actual, expected, tau)


def _float_difference(actual: Tensor, expected: Tensor, tau: float) -> str:
    finite = [value for value in expected.values if math.isfinite(value)]
    rms = math.sqrt(math.fsum(value * value for value in finite) / max(1, len(finite)))
    squares = 0.0
    for place, (got, wanted) in enumerate(zip(actual.values, expected.values)):
        if math.isfinite(wanted) and math.isfinite(got):
            off = abs(got - wanted)
            squares += off * off
            if off > ELEMENT_FACTOR * tau * (abs(wanted) + rms):
                return f"element {place} is {got:.7g}, expected {wanted:.7g}"
        elif not (got == wanted or (math.isnan(got) and math.isnan(wanted))):
            return f"element {place} is {got:.7g}, expected {wanted:.7g}"
    if math.sqrt(squares) > tau * rms * math.sqrt(max(1, len(finite))):
        return f"relative error {math.sqrt(squares / max(1, len(finite))) / rms if rms else math.inf:.2g} over all elements"
    return ""


def relative_error(actual: Tensor, expected: Tensor) -> float:
    """||actual - expected|| / ||expected||, of finite elements of equal shapes."""
    pairs = [(got, wanted) for got, wanted in zip(actual.values, expected.values) if math.isfinite(got) and math.isfinite(wanted)]
    norm = math.fsum(wanted * wanted for _, wanted in pairs)
    off = math.fsum((got - wanted) ** 2 for got, wanted in pairs)
    return math.sqrt(off / norm) if norm else (0.0 if off == 0 else math.inf)
