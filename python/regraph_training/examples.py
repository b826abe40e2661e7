"""Pairs of question and answer as tokens, a fresh variant of each in every epoch.

The first epoch takes the pairs as they are, so training begins at once; the variants of the later
ones (regraph_augment) are made meanwhile by other processes. No torch here: those processes load
this file.
"""

from __future__ import annotations

import array
import concurrent.futures
import multiprocessing
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from regraph_augment import augment

Pair = tuple[list[dict[str, str]], str]

_CHUNK = 256          # pairs a task
_FEWEST_TO_SHARE = 4000  # below, processes cost more than they bring


@dataclass
class Example:
    tokens: array.array  # question and answer
    answer: int          # where the answer begins

    def __len__(self) -> int:
        return len(self.tokens)


def render(pair: Pair) -> tuple[str, str]:
    """Question and answer by our template (tokenizer.py); its marks are tokens, so that the parts' tokens
    beside each other are the whole's."""
    question = "".join(f"<|{message['role']}|>{message['content']}<|end|>" for message in pair[0])
    return question + "<|assistant|>", pair[1] + "<|end|>"


def encode(pairs: Sequence[Pair], tokenizer: Any) -> list[Example]:
    """With a `tokenizers.Tokenizer`."""
    rendered = [render(pair) for pair in pairs]
    questions = tokenizer.encode_batch([question for question, _ in rendered], add_special_tokens=False)
    answers = tokenizer.encode_batch([answer for _, answer in rendered], add_special_tokens=False)
    return [Example(array.array("i", question.ids + answer.ids), len(question.ids))
            for question, answer in zip(questions, answers, strict=True)]


_worker_tokenizer: Any = None


def _begin_worker(text: str) -> None:
    global _worker_tokenizer
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    import tokenizers
    _worker_tokenizer = tokenizers.Tokenizer.from_str(text)


def _work(pairs: Sequence[Pair], variant: int, seed: int) -> list[Example]:
    return encode([augment(*pair, variant, seed) for pair in pairs], _worker_tokenizer)


class Examples:
    """All pairs, by epoch. `close` ends the helping processes."""

    def __init__(self, pairs: Sequence[Pair], tokenizer_text: str, variants: int, seed: int, workers: int | None = None):
        import tokenizers
        self.pairs, self.variants, self.seed = pairs, variants, seed
        self._tokenizer = tokenizers.Tokenizer.from_str(tokenizer_text)
        self._pool = None
        self._coming: dict[int, list[concurrent.futures.Future]] = {}
        workers = max(1, (os.cpu_count() or 2) - 2) if workers is None else workers
        if variants > 1 and workers and len(pairs) >= _FEWEST_TO_SHARE:
            # spawn: a fork of a process that uses the GPU is none that works.
            self._pool = concurrent.futures.ProcessPoolExecutor(
                workers, multiprocessing.get_context("spawn"), _begin_worker, (tokenizer_text,))

    def prepare(self, epoch: int) -> None:
        """Begins to make an epoch's variants, if others help."""
        variant = epoch % max(1, self.variants)
        if self._pool is None or variant == 0 or epoch in self._coming:
            return
        self._coming[epoch] = [
            self._pool.submit(_work, self.pairs[begin:begin + _CHUNK], variant, self.seed + epoch // self.variants)
            for begin in range(0, len(self.pairs), _CHUNK)]

    def epoch(self, epoch: int) -> list[Example]:
        """Variant epoch mod variants; later rounds have other seeds."""
        variant = epoch % max(1, self.variants)
        self.prepare(epoch)
        if epoch in self._coming:
            return [example for future in self._coming.pop(epoch) for example in future.result()]
        seed = self.seed + epoch // max(1, self.variants)
        return encode([augment(*pair, variant, seed) for pair in self.pairs], self._tokenizer)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
