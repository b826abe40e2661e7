"""A model that answers requests of many threads in batches."""

from __future__ import annotations

import queue
import secrets
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .chat_request import ChatRequest, Refused
from .sampling import Generated, Request, generate, seed_of
from .tokenizer import token_ids


@dataclass
class _Waiting:
    requests: list[Request]
    done: threading.Event = field(default_factory=threading.Event)
    answers: list[Generated] = field(default_factory=list)
    error: str = ""


class Answerer:
    """Collects rows for `collect_seconds` after the first one, up to `rows` of them, and answers them together."""

    def __init__(self, model: Any, tokenizer: Any, rows: int = 64, collect_seconds: float = 0.02):
        self.model, self.tokenizer, self.rows, self.collect_seconds = model, tokenizer, rows, collect_seconds
        ends = model.generation_config.eos_token_id
        self.ends = ends if isinstance(ends, list) else [ends]
        pad = tokenizer.pad_token_id
        self.pad = pad if pad is not None else self.ends[0]
        self.context = int(model.config.max_position_embeddings)
        tokenizer.model_max_length = 1 << 40  # the check is ours; transformers would only warn
        self._queue: queue.Queue[_Waiting] = queue.Queue()
        self._lock = threading.Lock()  # tokenizers are not for several threads at once
        self.batches = 0
        threading.Thread(target=self._work, daemon=True).start()

    def prompt(self, request: ChatRequest) -> tuple[int, ...]:
        """Raises Refused (413) where the prompt leaves no room for an answer."""
        with self._lock:
            ids = tuple(token_ids(self.tokenizer, request.messages, True))
        if len(ids) >= self.context:
            raise Refused(413, f"the prompt has {len(ids)} tokens, but the model's context_length is {self.context}: "
                               "too long", "messages")
        return ids

    def answer(self, request: ChatRequest) -> tuple[list[Generated], int]:
        """As many answers as asked for, and the prompt's tokens. Raises Refused."""
        prompt = self.prompt(request)
        room = self.context - len(prompt)
        limit = min(request.max_tokens or room, room)
        seed = secrets.randbits(62) if request.seed is None else request.seed
        rows = [Request(prompt, limit, request.temperature, seed_of("answer", seed, number))
                for number in range(request.answers)]
        waiting = _Waiting(rows)
        self._queue.put(waiting)
        waiting.done.wait()
        if waiting.error:
            raise Refused(500, waiting.error)
        return waiting.answers, len(prompt)

    def text(self, answer: Generated) -> str:
        with self._lock:
            return self.tokenizer.decode(answer.tokens, skip_special_tokens=True)

    def _collect(self) -> list[_Waiting]:
        batch = [self._queue.get()]
        until = time.monotonic() + self.collect_seconds
        while sum(len(waiting.requests) for waiting in batch) < self.rows:
            try:
                batch.append(self._queue.get(timeout=max(0.0, until - time.monotonic())))
            except queue.Empty:
                break
        return batch

    def _work(self) -> None:
        while True:
            batch = self._collect()
            self.batches += 1
            try:
                self._answer_all(batch)
            except Exception as error:  # an error of one batch must not end the server
                for waiting in batch:
                    waiting.error = f"{type(error).__name__}: {error}"
            for waiting in batch:
                waiting.done.set()

    def _answer_all(self, batch: Sequence[_Waiting]) -> None:
        rows = [row for waiting in batch for row in waiting.requests]
        answers = generate(self.model, rows, self.ends, self.pad, self.rows)
        at = 0
        for waiting in batch:
            waiting.answers = answers[at:at + len(waiting.requests)]
            at += len(waiting.requests)
