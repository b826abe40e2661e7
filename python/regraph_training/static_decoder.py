"""Decoding of a Qwen3 with buffers of fixed shapes, so that a step is one replayed CUDA graph.

At 26 M parameters a step of the model in transformers is some 400 kernels that take a few microseconds
each and longer to be launched; replayed as a graph they follow each other without the host. The
arithmetic is the model's own (grouped-query attention over a cache, RMS norms, rotary positions); the
weights are read where the model has them. A graph is captured for each number of rows and each length
of the cache in steps, when it is first needed.

The first use on a GPU is checked against the model; what fails there is not used (`why_not`).
"""

from __future__ import annotations

import os
from typing import Any

SWITCH = "REGRAPH_STATIC_DECODER"  # 0: never
_LENGTH_STEP = 256
_ROW_STEPS = (8, 16, 32, 64, 128, 192, 256, 384, 512)


def rows_for(rows: int) -> int:
    """The number of rows that is computed for so many: a few shapes serve all."""
    return next((step for step in _ROW_STEPS if step >= rows), -(-rows // 512) * 512)


def length_for(length: int) -> int:
    return -(-length // _LENGTH_STEP) * _LENGTH_STEP


def suits(model: Any) -> bool:
    """Whether its arithmetic is what this file computes."""
    config = model.config
    return (config.model_type == "qwen3" and not getattr(config, "use_sliding_window", False)
            and not getattr(config, "attention_bias", False) and config.hidden_act == "silu"
            and (getattr(config, "rope_parameters", None) or {}).get("rope_type", "default") == "default"
            and not hasattr(model, "peft_config"))


class StaticDecoder:
    """For one model; call `prepare`, then `step` for every further token. Rows [0, rows) of every buffer are in use."""

    def __init__(self, model: Any, graphs: bool):
        self.model, self.graphs = model, graphs
        self.config = model.config
        self.heads, self.key_heads = self.config.num_attention_heads, self.config.num_key_value_heads
        self.head_size = model.model.layers[0].self_attn.head_dim
        self.room_rows = self.room_length = 0
        self.keys: list[Any] = []
        self.values: list[Any] = []
        self._captured: dict[tuple[int, int], Any] = {}
        self._pool: Any = None
        self.why_not = ""
        self.checked = not graphs

    # --- buffers ---

    def prepare(self, rows: int, length: int) -> None:
        """Makes room. Buffers that grow make the captured graphs void."""
        import torch
        rows, length = rows_for(rows), length_for(length)
        if rows <= self.room_rows and length <= self.room_length:
            return
        self.room_rows, self.room_length = max(rows, self.room_rows), max(length, self.room_length)
        self._captured.clear()
        self._pool = None
        device, dtype = self.model.device, self.model.dtype
        shape = (self.room_rows, self.key_heads, self.room_length, self.head_size)
        self.keys = [torch.zeros(shape, device=device, dtype=dtype) for _ in self.model.model.layers]
        self.values = [torch.zeros(shape, device=device, dtype=dtype) for _ in self.model.model.layers]
        whole = {"device": device, "dtype": torch.long}
        self.token = torch.zeros(self.room_rows, **whole)
        self.position = torch.zeros(self.room_rows, **whole)  # of the token
        self.start = torch.zeros(self.room_rows, **whole)     # first slot of the cache that is no padding
        self.slot = torch.zeros(1, **whole)                   # of the token, in all rows
        self.logits = torch.zeros((self.room_rows, self.config.vocab_size), device=device, dtype=torch.float32)
        places = torch.arange(max(self.room_length, 1), device=device).unsqueeze(0)
        cosine, sine = self.model.model.rotary_emb(self.keys[0], places)
        self.cosine, self.sine = cosine[0], sine[0]

    def load(self, cache: Any, of_row: Any, width: int, token: Any, position: Any, start: Any) -> None:
        """Takes over a DynamicCache of `width` slots, row r from its row of_row[r], and the rows' first tokens."""
        count = len(of_row)
        for number, layer in enumerate(cache.layers):
            self.keys[number][:count, :, :width].copy_(layer.keys[of_row])
            self.values[number][:count, :, :width].copy_(layer.values[of_row])
        for buffer, values in ((self.token, token), (self.position, position), (self.start, start)):
            buffer.zero_()  # rows that are computed beside, up to rows_for(count), must stay within the tables
            buffer[:count] = values
        self.slot.fill_(width)

    def keep(self, rows: Any, length: int) -> None:
        """Row rows[i] becomes row i."""
        count = len(rows)
        for buffer in (*self.keys, *self.values):
            buffer[:count, :, :length].copy_(buffer[rows, :, :length])
        for buffer in (self.token, self.position, self.start):
            buffer[:count].copy_(buffer[rows])

    # --- arithmetic ---

    def _norm(self, x: Any, module: Any) -> Any:
        import torch
        return torch.nn.functional.rms_norm(x, (x.shape[-1],), module.weight, module.variance_epsilon)

    def _attention(self, layer: Any, number: int, x: Any, rotation: tuple[Any, Any], bias: Any, length: int) -> Any:
        import torch
        rows = x.shape[0]
        attention = layer.self_attn
        query = self._norm(attention.q_proj(x).view(rows, self.heads, self.head_size), attention.q_norm)
        key = self._norm(attention.k_proj(x).view(rows, self.key_heads, self.head_size), attention.k_norm)
        value = attention.v_proj(x).view(rows, self.key_heads, self.head_size)
        query, key = _rotate(query, *rotation), _rotate(key, *rotation)
        keys, values = self.keys[number][:rows, :, :length], self.values[number][:rows, :, :length]
        keys.index_copy_(2, self.slot, key.unsqueeze(2))
        values.index_copy_(2, self.slot, value.unsqueeze(2))
        # Queries that share a key's head stand beside each other: one product reads each key once.
        grouped = query.view(rows, self.key_heads, self.heads // self.key_heads, self.head_size)
        scores = torch.matmul(grouped, keys.transpose(2, 3)).float() * attention.scaling + bias
        weights = torch.softmax(scores, -1).to(values.dtype)
        return attention.o_proj(torch.matmul(weights, values).reshape(rows, self.heads * self.head_size))

    def _forward(self, rows: int, length: int) -> None:
        """Logits of the token after `token`; then the next slot and position."""
        import torch
        inner = self.model.model
        x = inner.embed_tokens(self.token[:rows])
        position = self.position[:rows]
        rotation = (self.cosine[position].unsqueeze(1), self.sine[position].unsqueeze(1))
        slots = torch.arange(length, device=x.device)
        visible = (slots >= self.start[:rows].unsqueeze(1)) & (slots <= self.slot)
        bias = torch.zeros(visible.shape, device=x.device).masked_fill_(~visible, float("-inf"))[:, None, None, :]
        for number, layer in enumerate(inner.layers):
            x = x + self._attention(layer, number, self._norm(x, layer.input_layernorm), rotation, bias, length)
            x = x + layer.mlp(self._norm(x, layer.post_attention_layernorm))
        self.logits[:rows].copy_(self.model.lm_head(self._norm(x, inner.norm)))
        self.slot.add_(1)
        self.position[:rows].add_(1)

    def step(self, rows: int, used: int) -> Any:
        """Logits after `token`, which goes to slot used - 1, for rows_for(rows) rows: the first `rows` mean something."""
        shape = rows_for(rows), min(length_for(used), self.room_length)
        if not self.graphs:
            self._forward(*shape)
        else:
            if shape not in self._captured:
                self._captured[shape] = self._capture(*shape)
            self._captured[shape].replay()
        return self.logits

    def _capture(self, rows: int, length: int) -> Any:
        """Runs the step a few times first, as libraries set themselves up in their first calls; what those
        change is put back."""
        import torch
        before = [buffer.clone() for buffer in (self.slot, self.position)]
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(2):
                self._forward(rows, length)
                self.slot.copy_(before[0])
                self.position.copy_(before[1])
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._pool, capture_error_mode="thread_local"):
            self._forward(rows, length)
        self._pool = self._pool or graph.pool()
        return graph

    # --- check ---

    def check(self) -> None:
        """Compares one step with the model's own, once; what goes wrong is in `why_not`, and `usable` says no."""
        import torch
        self.checked = True
        with torch.no_grad():
            self._check()

    def _check(self) -> None:
        import torch
        from transformers import DynamicCache
        try:
            self.prepare(2, 16)
            tokens = torch.arange(24, device=self.model.device).view(2, 12) % self.config.vocab_size
            cache = DynamicCache(config=self.config)
            self.model(input_ids=tokens[:, :11], past_key_values=cache, use_cache=True)
            ends = torch.full((2,), 11, device=self.model.device)
            self.load(cache, torch.arange(2, device=self.model.device), 11, tokens[:, 11], ends, ends * 0)
            ours = self.step(2, 12)[:2].clone()
            theirs = self.model(input_ids=tokens).logits[:, -1].float()
            error = ((ours - theirs).abs().max() / theirs.std().clamp(min=1e-6)).item()
            if not error < 0.1:  # bf16's rounding is about 0.02
                self.why_not = f"its logits differ by {error:.3g} deviations from the model's"
        except (RuntimeError, AttributeError, TypeError, ValueError) as error:
            self.why_not = f"{type(error).__name__}: {error}".splitlines()[0]

    @property
    def usable(self) -> bool:
        if not self.checked:
            self.check()
        return not self.why_not


def _rotate(x: Any, cosine: Any, sine: Any) -> Any:
    import torch
    half = x.shape[-1] // 2
    return x * cosine + torch.cat((-x[..., half:], x[..., :half]), -1) * sine


def decoder_text(model: Any) -> str:
    """Which decoder answers of the model come from, for a run's record."""
    decoder = getattr(model, "_regraph_decoder", None)
    if decoder is None:
        return "dynamic"
    return f"dynamic: {decoder.why_not}" if decoder.why_not else "static"


def decoder_for(model: Any) -> StaticDecoder | None:
    """A decoder where one pays: on a GPU, for a model of this kind. It stays with the model."""
    if model.device.type != "cuda" or os.environ.get(SWITCH) == "0" or not suits(model):
        return None
    known = getattr(model, "_regraph_decoder", None)
    if known is None:
        known = StaticDecoder(model, graphs=True)
        object.__setattr__(model, "_regraph_decoder", known)
    return known
