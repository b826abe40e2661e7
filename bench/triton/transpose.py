# regraph-triton:
#   kernel: transpose
#   signature: {x_ptr: "*fp32", y_ptr: "*fp32", rows: i32, columns: i32}
#   constants: {HEIGHT: 16, WIDTH: 16}
#   grid: ["cdiv(rows, HEIGHT)", "cdiv(columns, WIDTH)"]
#   num_warps: 4

import triton
import triton.language as tl


@triton.jit
def transpose(x_ptr, y_ptr, rows, columns, HEIGHT: tl.constexpr, WIDTH: tl.constexpr):
    row = tl.program_id(0) * HEIGHT + tl.arange(0, HEIGHT)
    column = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    inside = (row[:, None] < rows) & (column[None, :] < columns)
    tile = tl.load(x_ptr + row[:, None] * columns + column[None, :], mask=inside, other=0.0)
    outside = (column[:, None] < columns) & (row[None, :] < rows)
    tl.store(y_ptr + column[:, None] * rows + row[None, :], tl.trans(tile), mask=outside)
