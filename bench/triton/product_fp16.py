# regraph-triton:
#   kernel: product
#   signature: {a_ptr: "*fp16", b_ptr: "*fp16", c_ptr: "*fp16", M: i32, N: i32, K: i32}
#   constants: {BM: 32, BN: 32, BK: 32}
#   grid: ["cdiv(M, BM)", "cdiv(N, BN)"]
#   num_warps: 4
#   num_stages: 2

import triton
import triton.language as tl


@triton.jit
def product(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row_tile = tl.program_id(0)
    column_tile = tl.program_id(1)
    row = row_tile * BM + tl.arange(0, BM)
    column = column_tile * BN + tl.arange(0, BN)
    lane = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        a = tl.load(a_ptr + row[:, None] * K + (k + lane)[None, :],
                    mask=(row[:, None] < M) & ((k + lane)[None, :] < K), other=0.0)
        b = tl.load(b_ptr + (k + lane)[:, None] * N + column[None, :],
                    mask=((k + lane)[:, None] < K) & (column[None, :] < N), other=0.0)
        total += tl.dot(a, b)
    tl.store(c_ptr + row[:, None] * N + column[None, :], total.to(tl.float16),
             mask=(row[:, None] < M) & (column[None, :] < N))
