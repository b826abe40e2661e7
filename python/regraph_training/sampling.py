"""Answers of a model for many prompts at once: one loop for serving, evaluation and training.

Every row has random numbers of its own, all drawn from its seed beforehand, so its answer does not
depend on its neighbours but through the rounding of matrix products of other shapes. Equal prompts
are read once. Rows that have ended leave the batch when half are done.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .static_decoder import StaticDecoder, decoder_for

_LOOK_EVERY = 8  # tokens between looks at what has ended: a look waits for the GPU


@dataclass(frozen=True)
class Request:
    prompt: tuple[int, ...]
    max_tokens: int
    temperature: float = 1.0  # 0: always the likeliest token
    seed: int = 0


@dataclass
class Generated:
    tokens: list[int] = field(default_factory=list)  # with the token that ended it, if one did
    finish: str = "length"                           # or "stop"


def seed_of(*parts: Any) -> int:
    """A seed from text and numbers, the same on every machine."""
    digest = hashlib.sha256("\0".join(str(part) for part in parts).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def generate(model: Any, requests: Sequence[Request], end_ids: Iterable[int], pad_id: int,
             rows_at_once: int = 512, decoder: StaticDecoder | None = None) -> list[Generated]:
    """One answer a request, in order. decoder: in place of the one that suits model and device."""
    import torch
    decoder = decoder or decoder_for(model)
    results: list[Generated] = [Generated() for _ in requests]
    # Rows of like length and limit together: less padding, and they end together.
    order = sorted(range(len(requests)), key=lambda row: (-len(requests[row].prompt), requests[row].prompt))
    was_training = model.training
    model.eval()
    try:
        # no_grad, not inference_mode: the decoder's buffers outlive this call
        with torch.no_grad():
            for begin in range(0, len(order), rows_at_once):
                rows = order[begin:begin + rows_at_once]
                answers = _Batch(model, [requests[row] for row in rows], sorted(set(end_ids)), pad_id,
                                 decoder if decoder and decoder.usable else None).run()
                for row, answer in zip(rows, answers, strict=True):
                    results[row] = answer
    finally:
        model.train(was_training)
    return results


class _Batch:
    """Rows that are decoded together."""

    def __init__(self, model: Any, requests: Sequence[Request], end_ids: Sequence[int], pad_id: int,
                 decoder: StaticDecoder | None):
        import torch
        self.model, self.requests, self.pad_id, self.decoder = model, requests, pad_id, decoder
        self.device = model.device
        self.ends = torch.tensor(end_ids, device=self.device)
        self.end_set = set(end_ids)
        self.limit = max(request.max_tokens for request in requests)
        blocks = -(-self.limit // 1024) * 1024  # whole blocks: a row's numbers do not depend on the limit
        draws = []
        for request in requests:
            generator = torch.Generator().manual_seed(request.seed & 0x7FFF_FFFF_FFFF_FFFF)
            draws.append(torch.rand(blocks, generator=generator)[:self.limit])
        self.draws = torch.stack(draws).to(self.device)
        self.temperature = torch.tensor([request.temperature for request in requests], device=self.device)
        self.limits = torch.tensor([request.max_tokens for request in requests], device=self.device)

    def run(self) -> list[Generated]:
        import torch
        count = len(self.requests)
        steps = (_StaticSteps if self.decoder else _DynamicSteps)(self)
        tokens = torch.full((count, self.limit), self.pad_id, dtype=torch.long, device=self.device)
        alive = torch.arange(count, device=self.device)  # the batch's rows, by their first numbers
        done = torch.zeros(count, dtype=torch.bool, device=self.device)
        logits = steps.first()
        for step in range(self.limit):
            chosen = self._choose(logits.float(), alive, step)
            chosen = torch.where(done, self.pad_id, chosen)
            tokens[alive, step] = chosen
            done = done | torch.isin(chosen, self.ends) | (step + 1 >= self.limits[alive])
            if step + 1 == self.limit:
                break
            if step % _LOOK_EVERY == _LOOK_EVERY - 1:
                left = int((~done).sum())
                if left == 0:
                    break
                if left * 2 <= len(alive):
                    keep = (~done).nonzero().squeeze(-1)
                    steps.keep(keep)
                    alive, done, chosen = alive[keep], done[keep], chosen[keep]
            logits = steps.next(chosen)
        return [self._answer(row, request) for row, request in zip(tokens.tolist(), self.requests, strict=True)]

    def read_prompts(self) -> tuple[Any, Any, Any, int, Any]:
        """The model's cache of the different prompts, padded on the left; each row's prompt; which places are
        filled; the width; the logits after each."""
        import torch
        from transformers import DynamicCache
        unique: dict[tuple[int, ...], int] = {}
        of_row = torch.tensor([unique.setdefault(request.prompt, len(unique)) for request in self.requests],
                              device=self.device)
        width = max(len(prompt) for prompt in unique)
        padded = torch.full((len(unique), width), self.pad_id, dtype=torch.long)
        filled = torch.zeros((len(unique), width), dtype=torch.long)
        for row, prompt in enumerate(unique):
            padded[row, width - len(prompt):] = torch.tensor(prompt, dtype=torch.long)
            filled[row, width - len(prompt):] = 1
        filled = filled.to(self.device)
        has_padding = len({len(prompt) for prompt in unique}) > 1
        cache = DynamicCache(config=self.model.config)
        output = self.model(input_ids=padded.to(self.device), attention_mask=filled if has_padding else None,
                            position_ids=(filled.cumsum(-1) - 1).clamp(min=0), past_key_values=cache,
                            use_cache=True, logits_to_keep=1)
        return cache, of_row, filled, width, output.logits[:, -1, :]

    def _choose(self, logits: Any, alive: Any, step: int) -> Any:
        """A token a row: where the row's random number falls in the cumulated probabilities."""
        import torch
        likeliest = logits.argmax(-1)
        temperature = self.temperature[alive]
        cumulated = torch.softmax(logits / temperature.clamp(min=1e-6).unsqueeze(-1), -1).cumsum(-1)
        point = self.draws[alive, step].unsqueeze(-1) * cumulated[:, -1:]
        drawn = torch.searchsorted(cumulated, point, right=True).squeeze(-1)
        # Rounding may put the point at the very end, behind every token that can be.
        return torch.where((temperature == 0) | (drawn >= logits.shape[-1]), likeliest, drawn)

    def _answer(self, row: list[int], request: Request) -> Generated:
        row = row[:request.max_tokens]
        for number, token in enumerate(row):
            if token in self.end_set:
                return Generated(row[:number + 1], "stop")
        return Generated(row, "length")


class _DynamicSteps:
    """By the model itself, with a cache that grows."""

    def __init__(self, batch: _Batch):
        self.batch = batch

    def first(self) -> Any:
        import torch
        self.cache, of_row, filled, width, logits = self.batch.read_prompts()
        if filled.shape[0] != len(of_row):
            self.cache.batch_select_indices(of_row)
        rows = len(of_row)
        self.has_padding = not bool(filled.all())
        self.mask = torch.ones((rows, width + self.batch.limit), dtype=torch.long, device=filled.device)
        self.mask[:, :width] = filled[of_row]
        self.used = width
        self.position = filled.sum(-1)[of_row].unsqueeze(-1)  # of the next token
        return logits[of_row]

    def keep(self, rows: Any) -> None:
        self.cache.batch_select_indices(rows)
        self.mask, self.position = self.mask[rows], self.position[rows]

    def next(self, tokens: Any) -> Any:
        self.used += 1
        output = self.batch.model(input_ids=tokens.unsqueeze(-1),
                                  attention_mask=self.mask[:, :self.used] if self.has_padding else None,
                                  position_ids=self.position, past_key_values=self.cache, use_cache=True)
        self.position = self.position + 1
        return output.logits[:, -1, :]


class _StaticSteps:
    """By a StaticDecoder."""

    def __init__(self, batch: _Batch):
        self.batch = batch
        self.decoder = batch.decoder

    def first(self) -> Any:
        import torch
        cache, of_row, filled, width, logits = self.batch.read_prompts()
        lengths = filled.sum(-1)[of_row]
        self.rows, self.used = len(of_row), width
        self.decoder.prepare(self.rows, width + self.batch.limit)
        self.decoder.load(cache, of_row, width, torch.zeros_like(of_row), lengths, width - lengths)
        return logits[of_row]

    def keep(self, rows: Any) -> None:
        self.decoder.keep(rows, self.used)
        self.rows = len(rows)

    def next(self, tokens: Any) -> Any:
        self.decoder.token[:self.rows] = tokens
        self.used += 1
        return self.decoder.step(self.rows, self.used)[:self.rows]
