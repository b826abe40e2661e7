import torch, triton
import triton.language as tl

@triton.jit
def rope(q_ptr, cos_ptr, sin_ptr, out_ptr, seq_len, n_heads, head_dim: tl.constexpr, BLOCK: tl.constexpr):
    pos = tl.program_id(0)
    head = tl.program_id(1)
    batch = tl.program_id(2)
    half: tl.constexpr = head_dim // 2
    at = tl.arange(0, BLOCK)
    mask = at < half
    base = ((batch * seq_len + pos) * n_heads + head) * head_dim
    a = tl.load(q_ptr + base + at, mask=mask)
    b = tl.load(q_ptr + base + half + at, mask=mask)
    c = tl.load(cos_ptr + pos * half + at, mask=mask)
    s = tl.load(sin_ptr + pos * half + at, mask=mask)
    tl.store(out_ptr + base + at, a * c - b * s, mask=mask)
    tl.store(out_ptr + base + half + at, b * c + a * s, mask=mask)


def apply_rope(q, cos, sin):
    # q: [batch, seq, heads, dim]
    batch, seq_len, n_heads, head_dim = q.shape
    assert head_dim % 2 == 0
    assert cos.shape == (seq_len, head_dim // 2)
    out = torch.empty_like(q)
    rope[(seq_len, n_heads, batch)](q, cos, sin, out, seq_len, n_heads, head_dim, BLOCK=triton.next_power_of_2(head_dim // 2))
    return out
