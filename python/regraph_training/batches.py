"""Which examples make a step: of like lengths, so that little is padding, as many as a budget of tokens holds."""

from __future__ import annotations

import random
from collections.abc import Sequence

PAD_TO = 32       # lengths are rounded up to it: fewer shapes, and matrix products like multiples
_POOL = 64        # batches that are sorted by length together; more: less padding, less chance


def padded(length: int) -> int:
    return -(-length // PAD_TO) * PAD_TO


def make_batches(lengths: Sequence[int], budget: int, seed: int) -> list[list[int]]:
    """Every example once, in batches of rows x longest <= budget (a longer one is alone), in random order. Equal
    arguments give equal batches, so that a resumed run goes on where it was."""
    draw = random.Random(seed)
    order = list(range(len(lengths)))
    draw.shuffle(order)
    mean = max(1, sum(lengths) // max(1, len(lengths)))
    pool = max(1, _POOL * budget // mean)
    batches: list[list[int]] = []
    for begin in range(0, len(order), pool):
        chunk = sorted(order[begin:begin + pool], key=lambda index: lengths[index])
        batch: list[int] = []
        for index in chunk:
            if batch and (len(batch) + 1) * padded(lengths[index]) > budget:
                batches.append(batch)
                batch = []
            batch.append(index)
        if batch:
            batches.append(batch)
    draw.shuffle(batches)
    return batches
