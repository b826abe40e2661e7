"""Every answer of a training run with its verdict, and what the curriculum learns from them."""

from __future__ import annotations

import json
import pathlib
import random
from collections.abc import Sequence
from typing import Any

from .curriculum import Curriculum


class AnswerLog:
    """The `observe` of reward_for_trl: writes completions.jsonl, tells the curriculum, and, as a control, hands the
    rewards out in another order (`permute`): what a policy learns from those is not from the kernels."""

    def __init__(self, path: pathlib.Path, curriculum: Curriculum | None, generations: int, seed: int, permute: bool):
        self.path, self.curriculum, self.generations = path, curriculum, generations
        self.permute, self.seed = permute, seed
        self.batches = 0

    def __call__(self, answers: Sequence[Any], results: Sequence[Any], columns: dict[str, Any]) -> list[float | None]:
        rewards = [result.reward for result in results]
        given = self._permuted(rewards) if self.permute else rewards
        state = columns.get("trainer_state")
        step = getattr(state, "global_step", 0)
        with open(self.path, "a", encoding="utf-8") as file:
            for number, (answer, result, reward) in enumerate(zip(answers, results, given, strict=True)):
                row = {name: columns[name][number] for name in ("kernel", "family", "step", "stage") if name in columns}
                file.write(json.dumps({
                    "at": step, "state": answer.state, **row, "reward": result.reward, "given_reward": reward,
                    "outcome": result.outcome, "verdict": result.verdict, "message": result.message,
                    "speedup": result.speedup, "same_as_rewriter": result.same_as_rewriter, "cut_off": answer.cut_off,
                    "cached": result.cached, "completion": answer.completion}) + "\n")
        if self.curriculum is not None and "row_number" in columns:
            numbers = columns["row_number"]
            self.curriculum.record([
                (numbers[begin], rewards[begin:begin + self.generations],
                 [result.is_correct for result in results[begin:begin + self.generations]])
                for begin in range(0, len(answers), self.generations)])
        self.batches += 1
        return list(given)

    def _permuted(self, rewards: Sequence[float | None]) -> list[float | None]:
        """Among the answers that have one; None stays where it is: it says nothing about the answer."""
        places = [place for place, reward in enumerate(rewards) if reward is not None]
        targets = list(places)
        random.Random(self.seed * 1_000_003 + self.batches).shuffle(targets)
        given = list(rewards)
        for place, target in zip(places, targets, strict=True):
            given[target] = rewards[place]
        return given
