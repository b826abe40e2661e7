# regraph-triton:
#   kernel: softmax
#   signature: {x_ptr: "*fp32", y_ptr: "*fp32", columns: i32}
#   constants: {BLOCK: 4096}
#   grid: [rows]
#   num_warps: 4

import triton
import triton.language as tl


@triton.jit
def softmax(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    x = tl.load(x_ptr + row * columns + at, mask=inside, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * columns + at, e / tl.sum(e, axis=0), mask=inside)
