import torch, triton
import triton.language as tl

@triton.heuristics({"EVEN": lambda args: args["N"] % args["BLOCK"] == 0})
@triton.jit
def rms_kernel(x_ptr, w_ptr, y_ptr, N, eps, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    acc = tl.zeros((BLOCK,), tl.float32)
    for s in range(0, N, BLOCK):
        at = s + tl.arange(0, BLOCK)
        if EVEN:
            x = tl.load(x_ptr + row * N + at)
        else:
            x = tl.load(x_ptr + row * N + at, mask=at < N, other=0.0)
        x = x.to(tl.float32)
        acc += x * x
    r = tl.rsqrt(tl.sum(acc, 0) / N + eps)
    for s in range(0, N, BLOCK):
        at = s + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * N + at, mask=at < N, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + at, mask=at < N, other=0.0).to(tl.float32)
        tl.store(y_ptr + row * N + at, (x * r * w).to(y_ptr.dtype.element_ty), mask=at < N)

def rms_norm(x, weight, eps: float = 1e-6):
    """x: bf16 tensor of shape [tokens, hidden]
    weight: bf16 tensor [hidden]"""
    orig = x.shape
    x2 = x.view(-1, x.size(-1))
    rows, N = x2.shape
    assert weight.numel() == N
    y = torch.empty_like(x2)
    BLOCK = max(128, min(4096, 128 * 2 ** ((N // 128).bit_length() - 1)))
    grid = (rows,)
    rms_kernel[grid](x2, weight, y, N, eps, BLOCK)
    return y.view(orig)
