"""Answers of a model for many prompts at once: one loop for serving, evaluation and training.

Every row has random numbers of its own, all drawn from its seed beforehand, so its answer does not
depend on its neighbours but through the rounding of matrix products of other shapes. Equal prompts
are read once. Rows that have ended leave the batch when half are done.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

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
             rows_at_once: int = 512, bf16: bool = False) -> list[Generated]:
    """One answer a request, in order. bf16: computes float32 weights under autocast."""
    import torch
    results: list[Generated] = [Generated() for _ in requests]
    # Rows of like length and limit together: less padding, and they end together.
    order = sorted(range(len(requests)), key=lambda row: (-len(requests[row].prompt), requests[row].prompt))
    autocast = torch.autocast(model.device.type, dtype=torch.bfloat16) if bf16 else contextlib.nullcontext()
    was_training = model.training
    model.eval()
    try:
        with torch.inference_mode(), autocast:
            for begin in range(0, len(order), rows_at_once):
                rows = order[begin:begin + rows_at_once]
                answers = _Batch(model, [requests[row] for row in rows], sorted(set(end_ids)), pad_id).run()
                for row, answer in zip(rows, answers, strict=True):
                    results[row] = answer
    finally:
        model.train(was_training)
    return results


class _Batch:
    """Rows that are decoded together."""

    def __init__(self, model: Any, requests: Sequence[Request], end_ids: Sequence[int], pad_id: int):
        import torch
        self.model, self.requests, self.pad_id = model, requests, pad_id
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
        if len(unique) != len(self.requests):
            cache.batch_select_indices(of_row)
        logits = output.logits[:, -1, :][of_row]
        mask = torch.ones((len(self.requests), width + self.limit), dtype=torch.long, device=self.device)
        mask[:, :width] = filled[of_row]
        position = filled.sum(-1)[of_row].unsqueeze(-1)  # of the next token

        tokens = torch.full((len(self.requests), self.limit), self.pad_id, dtype=torch.long, device=self.device)
        alive = torch.arange(len(self.requests), device=self.device)  # the batch's rows, by their first numbers
        done = torch.zeros(len(self.requests), dtype=torch.bool, device=self.device)
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
                    cache.batch_select_indices(keep)
                    alive, done, chosen = alive[keep], done[keep], chosen[keep]
                    mask, position = mask[keep], position[keep]
            output = self.model(input_ids=chosen.unsqueeze(-1),
                                attention_mask=mask[:, :width + step + 1] if has_padding else None,
                                position_ids=position, past_key_values=cache, use_cache=True)
            position = position + 1
            logits = output.logits[:, -1, :]
        return [self._answer(row, request) for row, request in zip(tokens.tolist(), self.requests, strict=True)]

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
