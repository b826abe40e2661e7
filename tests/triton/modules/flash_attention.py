"""Attention with a running maximum; its test says the types."""
import math

import pytest
import torch
import triton
import triton.language as tl


@triton.autotune([triton.Config({"QUERIES": q, "KEYS": k}, num_warps=w) for q in (64, 128) for k in (32, 64) for w in (4, 8)],
                 key=["length"])
@triton.jit
def attend(Q, K, V, Out, scale, q_batch, q_head, q_row, q_lane, k_batch, k_head, k_row, k_lane, v_batch, v_head, v_row, v_lane,
           o_batch, o_head, o_row, o_lane, heads, length, WIDTH: tl.constexpr, CAUSAL: tl.constexpr, QUERIES: tl.constexpr,
           KEYS: tl.constexpr):
    batch, head = tl.program_id(1) // heads, tl.program_id(1) % heads
    row = tl.program_id(0) * QUERIES + tl.arange(0, QUERIES)
    lane = tl.arange(0, WIDTH)
    q = tl.load(Q + batch * q_batch + head * q_head + row[:, None] * q_row + lane[None, :] * q_lane, mask=row[:, None] < length,
                other=0.0)
    best = tl.full([QUERIES], float("-inf"), dtype=tl.float32)
    weight = tl.zeros([QUERIES], dtype=tl.float32)
    total = tl.zeros([QUERIES, WIDTH], dtype=tl.float32)
    last = length
    if CAUSAL:
        last = min(length, (tl.program_id(0) + 1) * QUERIES)
    for first in range(0, last, KEYS):
        key = first + tl.arange(0, KEYS)
        k = tl.load(K + batch * k_batch + head * k_head + key[None, :] * k_row + lane[:, None] * k_lane,
                    mask=key[None, :] < length, other=0.0)
        score = tl.dot(q, k) * scale
        score = tl.where(key[None, :] < length, score, float("-inf"))
        if CAUSAL:
            score = tl.where(row[:, None] >= key[None, :], score, float("-inf"))
        now = tl.maximum(best, tl.max(score, 1))
        p = tl.exp(score - now[:, None])
        old = tl.exp(best - now)
        weight = weight * old + tl.sum(p, 1)
        v = tl.load(V + batch * v_batch + head * v_head + key[:, None] * v_row + lane[None, :] * v_lane,
                    mask=key[:, None] < length, other=0.0)
        total = total * old[:, None] + tl.dot(p.to(v.dtype), v)
        best = now
    tl.store(Out + batch * o_batch + head * o_head + row[:, None] * o_row + lane[None, :] * o_lane,
             (total / weight[:, None]).to(Out.dtype.element_ty), mask=row[:, None] < length)


def attention(q, k, v, causal):
    batch, heads, length, width = q.shape
    assert width == k.shape[-1] and k.shape[-1] == v.shape[-1] and width in {16, 32, 64, 128}
    out = torch.empty_like(q)
    grid = lambda meta: (triton.cdiv(length, meta["QUERIES"]), batch * heads, 1)
    attend[grid](q, k, v, out, 1.0 / math.sqrt(width), *q.stride(), *k.stride(), *v.stride(), *out.stride(), heads, length,
                 WIDTH=width, CAUSAL=causal)
    return out


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("batch, heads, length, width", [(2, 4, 128, 64)])
def test_attention(batch, heads, length, width, causal, dtype=torch.float16):
    q, k, v = (torch.randn((batch, heads, length, width), dtype=dtype, device="cuda") for _ in range(3))
    attention(q, k, v, causal)
