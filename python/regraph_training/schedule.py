"""How far a run is, and what follows from it: the learning rate and which tokens count."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """Progress is by tokens, or by time where that is further along (`seconds` of all parts; 0: by tokens alone)."""
    tokens: int
    seconds: float
    first: float
    last: float
    warmup_steps: int
    all_tokens_share: float

    def progress(self, tokens: int, seconds: float) -> float:
        by_time = seconds / self.seconds if self.seconds else 0.0
        return min(1.0, max(tokens / self.tokens, by_time))

    def learning_rate(self, step: int, progress: float) -> float:
        """Linear over the warm-up, then half a cosine down to `last`."""
        rate = self.last + (self.first - self.last) * 0.5 * (1 + math.cos(math.pi * progress))
        return rate * min(1.0, (step + 1) / max(1, self.warmup_steps))

    def answers_only(self, progress: float) -> bool:
        return progress >= self.all_tokens_share


def warmup_for(steps: float, wanted: int) -> int:
    """The warm-up of a short run is at most a tenth of it."""
    return max(1, min(wanted, int(steps / 10)))
