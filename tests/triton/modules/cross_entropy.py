import torch
import triton
import triton.language as tl

MAX_FUSED = 65536 // 2

@triton.jit
def cross_entropy(logits_ptr, labels_ptr, loss_ptr, stride, n_cols, ignore_index, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    logits_ptr += row * stride
    label = tl.load(labels_ptr + row)
    m = float("-inf")
    d = 0.0
    for i in range(0, n_cols, BLOCK):
        at = i + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + at, mask=at < n_cols, other=float("-inf")).to(tl.float32)
        m_new = tl.maximum(m, tl.max(x))
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new))
        m = m_new
    picked = tl.load(logits_ptr + label).to(tl.float32)
    tl.store(loss_ptr + row, m + tl.log(d) - picked)

def calculate_settings(n):
    BLOCK_SIZE = triton.next_power_of_2(n)
    if BLOCK_SIZE > MAX_FUSED:
        raise RuntimeError("too many")
    num_warps = 4
    if BLOCK_SIZE >= 32768:
        num_warps = 32
    elif BLOCK_SIZE >= 8192:
        num_warps = 16
    elif BLOCK_SIZE >= 2048:
        num_warps = 8
    return BLOCK_SIZE, num_warps

def loss(logits, labels, ignore_index=-100):
    *_, V = logits.shape
    logits = logits.view(-1, V)
    n_rows = logits.shape[0]
    BLOCK, num_warps = calculate_settings(V)
    losses = torch.empty(n_rows, dtype=torch.float32, device=logits.device)
    cross_entropy[(n_rows,)](logits, labels, losses, logits.stride(-2), V, ignore_index, BLOCK=BLOCK, num_warps=num_warps)
    return losses.mean()
