"""Which elements stay is drawn from a seed."""
import torch
import triton
import triton.language as tl


@triton.jit
def drop(x_ptr, kept_ptr, count, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < count)
    stays = tl.rand(seed, at) > p
    tl.store(kept_ptr + at, tl.where(stays, x / (1 - p), 0.0), mask=at < count)


def dropout(x, p, seed):
    kept = torch.empty_like(x)
    assert x.is_contiguous()
    count = x.numel()
    drop[lambda meta: (triton.cdiv(count, meta["BLOCK"]),)](x, kept, count, p, seed, BLOCK=1024)
    return kept


print(dropout(torch.ones(12, device="cuda"), p=0.25, seed=7))
