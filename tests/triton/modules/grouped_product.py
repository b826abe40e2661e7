"""A product with tuned tiles, whose programs go through the result in groups of rows."""
import torch
import triton
import triton.language as tl


def on_nvidia():
    return triton.runtime.driver.active.get_current_target().backend == "cuda"


def choices():
    if on_nvidia():
        return [triton.Config({"TM": m, "TN": n, "TK": 32, "GROUP": 8}, num_stages=stages, num_warps=4)
                for m, n in ((64, 64), (128, 64)) for stages in (3, 4)]
    return [triton.Config({"TM": 32, "TN": 32, "TK": 32, "GROUP": 1})]


@triton.jit
def squared_relu(x):
    return tl.where(x > 0, x * x, 0.0)


@triton.autotune(configs=choices(), key=["rows", "columns", "depth"])
@triton.jit
def product(left, right, result, rows, columns, depth, left_row, left_depth, right_depth, right_column, result_row,
            result_column, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr, GROUP: tl.constexpr, ACT: tl.constexpr):
    number = tl.program_id(axis=0)
    down, across = tl.cdiv(rows, TM), tl.cdiv(columns, TN)
    group = number // (GROUP * across)
    height = min(down - group * GROUP, GROUP)
    inside = number % (GROUP * across)
    row = (group * GROUP + inside % height) * TM + tl.arange(0, TM)
    column = inside // height * TN + tl.arange(0, TN)
    step = tl.arange(0, TK)
    a = left + row[:, None] * left_row + step[None, :] * left_depth
    b = right + step[:, None] * right_depth + column[None, :] * right_column
    total = tl.zeros((TM, TN), dtype=tl.float32)
    for k in range(0, tl.cdiv(depth, TK)):
        rest = depth - k * TK
        x = tl.load(a, mask=(row[:, None] < rows) & (step[None, :] < rest), other=0.0)
        y = tl.load(b, mask=(step[:, None] < rest) & (column[None, :] < columns), other=0.0)
        total = tl.dot(x, y, total)
        a += TK * left_depth
        b += TK * right_depth
    if ACT == "squared":
        total = squared_relu(total)
    c = result + row[:, None] * result_row + column[None, :] * result_column
    tl.store(c, total.to(result.dtype.element_ty), mask=(row[:, None] < rows) & (column[None, :] < columns))


def multiply(left, right, act=None):
    assert left.shape[1] == right.shape[0], "extents do not fit"
    rows, depth = left.shape
    _, columns = right.shape
    result = torch.empty((rows, columns), device=left.device, dtype=left.dtype)
    grid = lambda tiles: (triton.cdiv(rows, tiles["TM"]) * triton.cdiv(columns, tiles["TN"]),)
    product[grid](left, right, result, rows, columns, depth, left.stride(0), left.stride(1), right.stride(0), right.stride(1),
                  result.stride(0), result.stride(1), ACT=act)
    return result


small = torch.ones(256, 256, device="cuda", dtype=torch.float16)
print(multiply(small, small, act="squared"))
