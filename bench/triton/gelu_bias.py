# regraph-triton:
#   kernel: gelu_bias
#   signature: {x_ptr: "*fp32", bias_ptr: "*fp32", y_ptr: "*fp32", n: i32, columns: i32}
#   constants: {BLOCK: 256}
#   grid: ["cdiv(n, BLOCK)"]
#   num_warps: 4

import triton
import triton.language as tl


@triton.jit
def gelu_bias(x_ptr, bias_ptr, y_ptr, n, columns, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + at, mask=inside, other=0.0) + tl.load(bias_ptr + at % columns, mask=inside, other=0.0)
    y = 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))
    tl.store(y_ptr + at, y, mask=inside)
