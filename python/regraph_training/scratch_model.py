"""A Qwen3 with random weights for our tokenizer: 25.7 M parameters with the default numbers."""

from __future__ import annotations

import dataclasses
from typing import Any

from .errors import BadInput

# docs: 8 layers 512 wide; 49 MiB in bf16, 176 MFLOP a token forward and backward.
DEFAULT_CONFIG = {"hidden_size": 512, "num_hidden_layers": 8, "num_attention_heads": 8, "num_key_value_heads": 4,
                  "head_dim": 64, "intermediate_size": 1408, "tie_word_embeddings": True,
                  "max_position_embeddings": 4096}


def build_model(tokenizer: Any, config: dict[str, Any], seed: int) -> Any:
    """A Qwen3ForCausalLM in float32. Raises BadInput for settings that Qwen3Config does not know."""
    import torch
    from transformers import GenerationConfig, Qwen3Config, Qwen3ForCausalLM

    known = {field.name for field in dataclasses.fields(Qwen3Config)} if dataclasses.is_dataclass(Qwen3Config) \
        else set(Qwen3Config().to_dict())
    for name in config:
        if name not in known:
            raise BadInput(f"model: config: unknown setting '{name}' of Qwen3Config")
    torch.manual_seed(seed)
    end, pad = tokenizer.eos_token_id, tokenizer.pad_token_id
    made = Qwen3Config(**{**DEFAULT_CONFIG, **config, "vocab_size": len(tokenizer), "eos_token_id": end,
                          "pad_token_id": pad, "bos_token_id": None})
    model = Qwen3ForCausalLM(made)
    # do_sample: without it `transformers serve` ignores the temperature, and all variants are equal.
    model.generation_config = GenerationConfig(eos_token_id=end, pad_token_id=pad, do_sample=True, temperature=1.0,
                                               top_p=1.0, top_k=0)
    return model


def parameter_count(model: Any) -> int:
    """Tied weights once."""
    return sum(parameter.numel() for parameter in model.parameters())
