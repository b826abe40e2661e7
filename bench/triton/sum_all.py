# regraph-triton:
#   kernel: sum_all
#   signature: {x_ptr: "*fp32", total_ptr: "*fp32", n: i32}
#   constants: {BLOCK: 256}
#   grid: ["cdiv(n, BLOCK)"]
#   num_warps: 4

import triton
import triton.language as tl


@triton.jit
def sum_all(x_ptr, total_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.atomic_add(total_ptr, tl.sum(x, axis=0))
