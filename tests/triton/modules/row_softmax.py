"""A row a program; warps by a chain of conditions."""
import torch
import triton
import triton.language as tl


@triton.jit
def normalise_rows(dst, src, src_stride, dst_stride, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, BLOCK)
    inside = lane < width
    logits = tl.load(src + row * src_stride + lane, mask=inside, other=-float("inf"))
    weights = tl.exp(logits - tl.max(logits, axis=0))
    tl.store(dst + row * dst_stride + lane, weights / tl.sum(weights, axis=0), mask=inside)


def softmax(logits: torch.Tensor) -> torch.Tensor:
    """Softmax over the last axis of a matrix."""
    if logits.ndim != 2:
        raise ValueError(f"a matrix is expected, not {logits.ndim} axes")
    height, width = logits.shape
    BLOCK = triton.next_power_of_2(width)
    num_warps = 4
    if BLOCK >= 2048:
        num_warps = 8
    if BLOCK >= 4096:
        num_warps = 16
    result = torch.empty_like(logits)
    normalise_rows[(height,)](result, logits, logits.stride(0), result.stride(0), width, BLOCK=BLOCK, num_warps=num_warps)
    return result
