import torch, triton
import triton.language as tl

@triton.jit
def quantise(x_ptr, q_ptr, s_ptr, K, stride_x, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride_x + at, mask=at < K, other=0.0).to(tl.float32)
    s = tl.max(tl.abs(x)) / 127.0
    tl.store(s_ptr + row, s)
    tl.store(q_ptr + row * stride_x + at, (x / s + tl.where(x >= 0, 0.5, -0.5)).to(tl.int8), mask=at < K)

@torch.no_grad()
def quantise_rows(x: torch.Tensor):
    assert x.dim() == 2 and x.dtype in (torch.float16, torch.bfloat16)
    T, K = x.shape
    q = torch.empty(T, K, dtype=torch.int8, device=x.device)
    s = torch.empty((T, 1), dtype=torch.float32, device=x.device)
    BLOCK = triton.next_power_of_2(K)
    with torch.cuda.device(x.device):
        quantise[(T,)](x, q, s, K, x.stride(0), BLOCK=BLOCK, num_warps=4 if BLOCK <= 2048 else 8)
    return q, s

if __name__ == "__main__":
    for T in (1024, 4096):
        x = torch.randn(T, 8192, device="cuda", dtype=torch.bfloat16)
        quantise_rows(x)
