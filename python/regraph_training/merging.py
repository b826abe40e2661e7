"""The plain weights of a model that LoRA adapters are on, without changing it."""

from __future__ import annotations

from typing import Any


def merged_state(model: Any) -> dict[str, Any]:
    """Weights by the base model's names, each adapter's product added. The model stays as it is: merging in place
    and back would round a little every time."""
    import torch
    inner = model.get_base_model() if hasattr(model, "get_base_model") else model
    deltas = {}
    with torch.no_grad():
        for name, module in inner.named_modules():
            if hasattr(module, "get_delta_weight") and hasattr(module, "base_layer"):
                for adapter in module.active_adapters:
                    delta = module.get_delta_weight(adapter)
                    deltas[name] = deltas[name] + delta if name in deltas else delta
        state = {}
        for name, value in inner.state_dict().items():
            if ".lora_" in name or name.startswith("lora_"):
                continue
            if ".base_layer." in name:
                module, _, leaf = name.rpartition(".base_layer.")
                name = f"{module}.{leaf}"
                if leaf == "weight" and module in deltas:
                    value = value + deltas[module].to(value.dtype)
            state[name] = value
    return state


class SamplingCopy:
    """A second model to sample with, in the type that is fastest there; `refresh` takes over the trained weights."""

    def __init__(self, model: Any, dtype: Any):
        from transformers import AutoModelForCausalLM
        inner = model.get_base_model() if hasattr(model, "get_base_model") else model
        device = next(inner.parameters()).device
        self.model = AutoModelForCausalLM.from_config(inner.config, dtype=dtype).to(device).eval()
        self.model.requires_grad_(False)

    def refresh(self, model: Any) -> Any:
        import torch
        own = self.model.state_dict()
        with torch.no_grad():
            for name, value in merged_state(model).items():
                own[name].copy_(value)
        return self.model
