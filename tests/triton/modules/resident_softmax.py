"""As many programs as the device holds at a time, each for several rows; the kernel is asked how many registers it takes."""
import torch
import triton
import triton.language as tl
from triton.runtime import driver

device = torch.cuda.current_device()
facts = driver.active.utils.get_device_properties(device)
MULTIPROCESSORS, REGISTERS, LANES = facts["multiprocessor_count"], facts["max_num_regs"], facts["warpSize"]


@triton.jit
def softmax_of_rows(dst, src, pitch, height, width, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    for row in tl.range(tl.program_id(0), height, tl.num_programs(0)):
        logits = tl.load(src + row * pitch + lane, mask=lane < width, other=-float("inf"))
        weights = tl.exp(logits - tl.max(logits, axis=0))
        tl.store(dst + row * pitch + lane, weights / tl.sum(weights, axis=0), mask=lane < width)


def softmax(x):
    height, width = x.shape
    y = torch.empty_like(x)
    warps = 8
    compiled = softmax_of_rows.warmup(y, x, x.stride(0), height, width, BLOCK=triton.next_power_of_2(width), num_warps=warps,
                                      grid=(1,))
    compiled._init_handles()
    resident = REGISTERS // (compiled.n_regs * LANES * warps)
    programs = min(MULTIPROCESSORS * resident, height)
    compiled[(programs, 1, 1)](y, x, x.stride(0), height, width, triton.next_power_of_2(width))
    return y


probe = torch.randn(1000, 500, device="cuda")
torch.testing.assert_close(softmax(probe), torch.softmax(probe, dim=1))
