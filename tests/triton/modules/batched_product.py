import torch
import triton
import triton.language as tl

@triton.jit
def bmm(a, b, c, M, N, K, sab, sam, sak, sbb, sbk, sbn, scb, scm, scn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    z = tl.program_id(2)
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        x = tl.load(a + z * sab + rm[:, None] * sam + rk[None, :] * sak, mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
        y = tl.load(b + z * sbb + rk[:, None] * sbk + rn[None, :] * sbn, mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(x, y)
    tl.store(c + z * scb + rm[:, None] * scm + rn[None, :] * scn, acc, mask=(rm[:, None] < M) & (rn[None, :] < N))

class BatchedProduct(torch.nn.Module):
    def forward(self, x, y):
        B, M, K = x.shape
        _, _, N = y.shape
        out = torch.empty(B, M, N, device=x.device, dtype=torch.float32)
        grid = (triton.cdiv(M, 64), triton.cdiv(N, 64), B)
        bmm[grid](x, y, out, M, N, K, x.stride(0), x.stride(1), x.stride(2), y.stride(0), y.stride(1), y.stride(2),
                  out.stride(0), out.stride(1), out.stride(2), BM=64, BN=64, BK=32)
        return out
