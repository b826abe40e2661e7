"""How often a model's likeliest answer is the expected one, token by token.

Greedy decoding gives the reference exactly when, with the reference so far as context, every token of
it is the likeliest next one. So one pass over question and answer together tells what would take
hundreds of decoding steps: an evaluation costs less than a training step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .batches import make_batches, padded
from .examples import Example


def pad_batch(examples: Sequence[Example], pad_id: int, device: Any) -> tuple[Any, Any]:
    """Tokens padded on the right, and per row (answer's begin, end). No attention mask: under a causal one the
    padding behind a row cannot reach it."""
    import torch
    width = padded(max(len(example) for example in examples))
    tokens = torch.full((len(examples), width), pad_id, dtype=torch.long)
    spans = torch.tensor([[example.answer, len(example)] for example in examples])
    for row, example in enumerate(examples):
        tokens[row, :len(example)] = torch.frombuffer(example.tokens, dtype=torch.int32)
    if str(device).startswith("cuda"):
        return tokens.pin_memory().to(device, non_blocking=True), spans.pin_memory().to(device, non_blocking=True)
    return tokens, spans


def hidden_states(model: Any, tokens: Any) -> Any:
    """The last layer's. Full attention without a mask, said so explicitly: transformers would look through the
    positions for packed rows, which waits for the GPU in every step."""
    return model.model(input_ids=tokens, attention_mask={"full_attention": None}, use_cache=False).last_hidden_state


def evaluate(model: Any, examples: Sequence[Example], pad_id: int, budget: int, autocast: Any) -> dict[str, Any]:
    """loss and token_accuracy of the answers' tokens, exact: the share of answers, matches: one a row."""
    import torch
    matches = [False] * len(examples)
    loss_sum, right, count = 0.0, 0, 0
    was_training = model.training
    model.eval()
    with torch.inference_mode(), autocast():
        for batch in make_batches([len(example) for example in examples], budget, 0):
            tokens, spans = pad_batch([examples[index] for index in batch], pad_id, model.device)
            hidden = hidden_states(model, tokens)
            place = torch.arange(tokens.shape[1] - 1, device=tokens.device) + 1
            answered = (place >= spans[:, :1]) & (place < spans[:, 1:])
            targets = tokens[:, 1:]
            hits = torch.ones_like(targets, dtype=torch.bool)
            logits = model.lm_head(hidden[:, :-1][answered]).float()
            hit = logits.argmax(-1) == targets[answered]
            hits[answered] = hit
            loss_sum += torch.nn.functional.cross_entropy(logits, targets[answered], reduction="sum").item()
            right += int(hit.sum())
            count += int(hit.numel())
            for index, match in zip(batch, hits.all(-1).tolist(), strict=True):
                matches[index] = match
    model.train(was_training)
    return {"loss": loss_sum / max(1, count), "token_accuracy": right / max(1, count),
            "exact": sum(matches) / max(1, len(matches)), "matches": matches}
