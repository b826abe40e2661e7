import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def depthwise(x_ptr, w_ptr, b_ptr, y_ptr, C, H, W, OH, OW, K: tl.constexpr, STRIDE: tl.constexpr, PAD: tl.constexpr, HAS_BIAS: tl.constexpr, BLOCK: tl.constexpr):
    nc = tl.program_id(0)
    c = nc % C
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    oy = at // OW
    ox = at % OW
    acc = tl.zeros((BLOCK,), tl.float32)
    for i in tl.static_range(K):
        for j in tl.static_range(K):
            iy = oy * STRIDE + i - PAD
            ix = ox * STRIDE + j - PAD
            ok = (iy >= 0) & (iy < H) & (ix >= 0) & (ix < W) & (at < OH * OW)
            acc += tl.load(x_ptr + nc * H * W + iy * W + ix, mask=ok, other=0.0) * tl.load(w_ptr + c * K * K + i * K + j)
    if HAS_BIAS:
        acc += tl.load(b_ptr + c)
    tl.store(y_ptr + nc * OH * OW + at, acc, mask=at < OH * OW)

class ModelNew(nn.Module):
    def __init__(self, channels: int, kernel_size: int, stride: int = 1, padding: int = 0, bias: bool = False):
        super(ModelNew, self).__init__()
        self.conv = nn.Conv2d(channels, channels, kernel_size, stride=stride, padding=padding, groups=channels, bias=bias)
        self.weight = nn.Parameter(torch.randn(channels, 1, kernel_size, kernel_size))
        self.bias = nn.Parameter(torch.zeros(channels)) if bias else None
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding

    def forward(self, x):
        N, C, H, W = x.shape
        OH = (H + 2 * self.padding - self.kernel_size) // self.stride + 1
        OW = (W + 2 * self.padding - self.kernel_size) // self.stride + 1
        y = torch.empty((N, C, OH, OW), device=x.device, dtype=x.dtype)
        BLOCK = 256
        grid = (N * C, triton.cdiv(OH * OW, BLOCK))
        depthwise[grid](x, self.weight, self.bias, y, C, H, W, OH, OW, K=self.kernel_size, STRIDE=self.stride, PAD=self.padding, HAS_BIAS=self.bias is not None, BLOCK=BLOCK)
        return y

batch_size = 16
channels = 32
height = 128
width = 256

def get_inputs():
    return [torch.rand(batch_size, channels, height, width)]

def get_init_inputs():
    return [channels, 3, 1, 1]
