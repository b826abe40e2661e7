import torch, triton
import triton.language as tl
from typing import Optional

@triton.jit
def bias_act(x_ptr, b_ptr, y_ptr, rows, cols, alpha, BLOCK: tl.constexpr, HAS_BIAS: tl.constexpr, ACT: tl.constexpr):
    pid = tl.program_id(0)
    at = pid * BLOCK + tl.arange(0, BLOCK)
    mask = at < rows * cols
    x = tl.load(x_ptr + at, mask=mask)
    if HAS_BIAS:
        x += tl.load(b_ptr + at % cols, mask=mask)
    if ACT == "relu":
        x = tl.maximum(x, 0.0)
    elif ACT == "leaky":
        x = tl.where(x > 0, x, alpha * x)
    tl.store(y_ptr + at, x, mask=mask)

class Op:
    BLOCK = 2048

    @staticmethod
    def run(x: torch.Tensor, bias: Optional[torch.Tensor] = None, act: str = "leaky", alpha: float = 0.01):
        rows, cols = x.shape[0], x.shape[1]
        y = torch.zeros_like(x)
        total = rows * cols
        num_blocks = -(-total // Op.BLOCK)
        bias_act[(num_blocks, 1, 1)](x, bias, y, rows, cols, alpha, BLOCK=Op.BLOCK, HAS_BIAS=bias is not None, ACT=act)
        return y
