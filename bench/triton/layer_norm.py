# regraph-triton:
#   kernel: layer_norm
#   signature: {x_ptr: "*fp32", gain_ptr: "*fp32", shift_ptr: "*fp32", y_ptr: "*fp32", columns: i32}
#   constants: {BLOCK: 256}
#   grid: [rows]
#   num_warps: 4

import triton
import triton.language as tl


@triton.jit
def layer_norm(x_ptr, gain_ptr, shift_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for begin in range(0, columns, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * columns + at, mask=at < columns, other=0.0)
    mean = tl.sum(total, axis=0) / columns
    squares = tl.zeros((BLOCK,), dtype=tl.float32)
    for begin in range(0, columns, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + at, mask=at < columns, other=0.0)
        difference = tl.where(at < columns, x - mean, 0.0)
        squares += difference * difference
    scale = 1.0 / tl.sqrt(tl.sum(squares, axis=0) / columns + 1e-5)
    for begin in range(0, columns, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + at, mask=at < columns, other=0.0)
        gain = tl.load(gain_ptr + at, mask=at < columns, other=0.0)
        shift = tl.load(shift_ptr + at, mask=at < columns, other=0.0)
        tl.store(y_ptr + row * columns + at, (x - mean) * scale * gain + shift, mask=at < columns)
