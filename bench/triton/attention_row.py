# regraph-triton:
#   kernel: attention_row
#   signature: {q_ptr: "*fp32", k_ptr: "*fp32", v_ptr: "*fp32", out_ptr: "*fp32", keys: i32, scale: fp32}
#   constants: {WIDTH: 64, BLOCK: 16}
#   grid: [queries]
#   num_warps: 4

import triton
import triton.language as tl


@triton.jit
def attention_row(q_ptr, k_ptr, v_ptr, out_ptr, keys, scale, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    query = tl.program_id(0)
    d = tl.arange(0, WIDTH)
    q = tl.load(q_ptr + query * WIDTH + d) * scale
    largest = -float("inf")
    total = 0.0
    sums = tl.zeros((WIDTH,), dtype=tl.float32)
    for begin in range(0, keys, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        k = tl.load(k_ptr + at[:, None] * WIDTH + d[None, :], mask=at[:, None] < keys, other=0.0)
        score = tl.where(at < keys, tl.sum(k * q[None, :], axis=1), -float("inf"))
        higher = tl.maximum(largest, tl.max(score, axis=0))
        weight = tl.exp(score - higher)
        kept = tl.exp(largest - higher)
        v = tl.load(v_ptr + at[:, None] * WIDTH + d[None, :], mask=at[:, None] < keys, other=0.0)
        sums = sums * kept + tl.sum(weight[:, None] * v, axis=0)
        total = total * kept + tl.sum(weight, axis=0)
        largest = higher
    tl.store(out_ptr + query * WIDTH + d, sums / total)
