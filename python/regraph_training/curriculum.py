"""Which prompts come next in GRPO: easy stages first, and no group again that had nothing to tell."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from typing import Any

_BACK_AFTER = 16  # generation batches that a prompt waits whose last group was all equal


class Curriculum:
    """Prompts by stage (1, 2, ...). A stage ends at `acceptance`, or after `batches`; `earlier_share` of what is
    drawn is from stages that were passed. All choices follow from the seed and what was recorded."""

    def __init__(self, stages: Sequence[int], seed: int, acceptance: float, batches: int, earlier_share: float,
                 skip_tied: bool):
        self.rows: dict[int, list[int]] = {}
        for row, stage in enumerate(stages):
            self.rows.setdefault(stage, []).append(row)
        self.order = sorted(self.rows)
        self.seed, self.acceptance, self.most_batches = seed, acceptance, batches
        self.earlier_share, self.skip_tied = earlier_share, skip_tied
        self.place = 0            # in `order`
        self.batches_here = 0
        self.drawn = 0            # generation batches
        self.waits: dict[int, int] = {}  # row: batch from which it may come again
        self.stage_of = list(stages)

    @property
    def stage(self) -> int:
        return self.order[self.place]

    def draw(self, count: int) -> list[int]:
        """Rows for a generation batch; a row comes twice only where there are too few."""
        draw = random.Random(self.seed * 1_000_003 + self.drawn)
        current = [row for row in self.rows[self.stage] if self._ready(row)] or list(self.rows[self.stage])
        earlier = [row for stage in self.order[:self.place] for row in self.rows[stage] if self._ready(row)]
        from_earlier = min(len(earlier), round(self.earlier_share * count)) if earlier else 0
        chosen = draw.sample(earlier, from_earlier)
        missing = count - len(chosen)
        pool = draw.sample(current, len(current))
        chosen += (pool * math.ceil(missing / len(pool)))[:missing]
        self.drawn += 1
        return chosen

    def _ready(self, row: int) -> bool:
        return self.waits.get(row, 0) <= self.drawn

    def record(self, groups: Sequence[tuple[int, Sequence[float | None], Sequence[bool]]]) -> None:
        """After a generation batch: row, rewards and acceptance of its group."""
        here: list[bool] = []
        for row, rewards, accepted in groups:
            known = [reward for reward in rewards if reward is not None]
            if self.skip_tied and len(known) > 1 and max(known) == min(known):
                self.waits[row] = self.drawn + _BACK_AFTER
            if self.stage_of[row] == self.stage:
                here.extend(accepted)
        self.batches_here += 1
        done = bool(here) and sum(here) / len(here) >= self.acceptance
        if (done or self.batches_here >= self.most_batches) and self.place + 1 < len(self.order):
            self.place += 1
            self.batches_here = 0

    def state(self) -> dict[str, Any]:
        return {"place": self.place, "batches_here": self.batches_here, "drawn": self.drawn,
                "waits": {str(row): batch for row, batch in self.waits.items()}}

    def restore(self, state: dict[str, Any]) -> None:
        self.place, self.batches_here, self.drawn = state["place"], state["batches_here"], state["drawn"]
        self.waits = {int(row): batch for row, batch in state["waits"].items()}


class CurriculumSampler:
    """In the order that TRL's RepeatSampler has: every prompt of a generation batch `generations` times, the whole
    batch once for each optimizer step that uses it. Lazy: a batch is chosen when it is asked for."""

    def __init__(self, curriculum: Curriculum, prompts: int, generations: int, repeats: int, batches: int):
        self.curriculum, self.prompts, self.generations = curriculum, prompts, generations
        self.repeats, self.batches = repeats, batches

    def __len__(self) -> int:
        return self.batches * self.repeats * self.prompts * self.generations

    def __iter__(self) -> Iterator[int]:
        for _ in range(self.batches):
            rows = self.curriculum.draw(self.prompts)
            for _ in range(self.repeats):
                for row in rows:
                    for _ in range(self.generations):
                        yield row
