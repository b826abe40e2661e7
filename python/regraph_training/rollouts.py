"""Answers for GRPO by our own sampling loop, in place of TRL's call of `generate`.

A copy of the model in bf16 with adapters merged in samples: `generate` would compute every adapter beside
its layer, cast weights in every step, and run all rows until the longest has ended.
"""

from __future__ import annotations

import time
from typing import Any

from .merging import SamplingCopy
from .sampling import Request, generate, seed_of
from .static_decoder import decoder_text
from .tokenizer import token_ids


class Rollouts:
    """A `rollout_func` of GRPOTrainer. `seconds` and `tokens` are of the last batch."""

    def __init__(self, seed: int, rows_at_once: int = 512):
        self.seed, self.rows_at_once = seed, rows_at_once
        self.seconds, self.tokens = 0.0, 0
        self.decoder = ""
        self._copy: SamplingCopy | None = None

    def __call__(self, prompts: list[Any], trainer: Any) -> dict[str, Any]:
        import torch
        begin = time.monotonic()
        model = trainer.accelerator.unwrap_model(trainer.model)
        if self._copy is None:
            self._copy = SamplingCopy(model, torch.bfloat16 if model.device.type == "cuda" else torch.float32)
        sampler = self._copy.refresh(model)
        tokenizer = trainer.processing_class
        known: dict[str, tuple[int, ...]] = {}
        requests = []
        for number, prompt in enumerate(prompts):
            key = repr(prompt)
            if key not in known:
                known[key] = tuple(token_ids(tokenizer, prompt, True))
            requests.append(Request(known[key], trainer.args.max_completion_length, trainer.args.temperature,
                                    seed_of(self.seed, trainer.state.global_step, number)))
        answers = generate(sampler, requests, trainer.eos_token_ids, tokenizer.pad_token_id, self.rows_at_once)
        self.seconds = time.monotonic() - begin
        self.decoder = decoder_text(sampler)
        self.tokens = sum(len(answer.tokens) for answer in answers)
        return {"prompt_ids": [list(request.prompt) for request in requests],
                "completion_ids": [answer.tokens for answer in answers], "logprobs": None}
