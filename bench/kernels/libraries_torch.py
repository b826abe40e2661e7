#!/usr/bin/env python3
"""What PyTorch takes for the work of this folder, eager and compiled, on the GPU that is here.

    python3 bench/kernels/libraries_torch.py [--no-compile] [FAMILY ...] > torch.jsonl

A line of JSON for each family, size and way, as libraries.cu writes them. Without PyTorch or a GPU it says so and ends with 77.
Products of single precision are computed without TF32. Median of 30 launches, each after a sweep of the L2 cache.
"""
import argparse
import json
import sys

import kernels as benchmark

try:
    import torch
    import torch.nn.functional as functional
except ImportError:
    torch = None


def draw(*shape, dtype=None):
    return torch.randn(*shape, device="cuda", dtype=dtype)


def half(*shape):
    return draw(*shape, dtype=torch.half)


def bfloat(*shape):
    return draw(*shape, dtype=torch.bfloat16)


# family -> function of the bench size, which makes inputs and returns what is to be timed and its arguments.
def copy(n):
    return (lambda x, out: out.copy_(x)), (draw(n), draw(n))


def transpose(rows, columns):
    return (lambda x: x.t().contiguous()), (draw(rows, columns),)


def axpy(n):
    return (lambda x, y: y.add_(x, alpha=1.5)), (draw(n), draw(n))


def gated_map(n):
    return (lambda g, u, r: functional.silu(g) * u + r), (draw(n), draw(n), draw(n))


def gelu_bias(rows, columns):
    return (lambda x, b: functional.gelu(x + b, approximate="tanh")), (draw(rows, columns), draw(columns))


def layer_norm(rows, columns):
    return (lambda x, g, b: functional.layer_norm(x, (columns,), g, b)), (draw(rows, columns), draw(columns), draw(columns))


def rms_norm_residual(rows, columns):
    def norm(x, residual, weight):
        total = residual.add_(x)
        return total * torch.rsqrt(total.square().mean(1, keepdim=True) + 1e-5) * weight
    return norm, (draw(rows, columns), draw(rows, columns), draw(columns))


def softmax_rows(rows, columns):
    return (lambda x: torch.softmax(x, 1)), (draw(rows, columns),)


def sum_all(n):
    return (lambda x: x.sum()), (draw(n),)


def dot_product(n):
    return torch.dot, (draw(n), draw(n))


def row_sum(rows, columns):
    return (lambda x: x.sum(1)), (draw(rows, columns),)


def column_sum(rows, columns):
    return (lambda x: x.sum(0)), (draw(rows, columns),)


def arg_max(rows, columns):
    return (lambda x: x.argmax(1)), (draw(rows, columns),)


def prefix_rows(rows, columns):
    return (lambda x: x.cumsum(1)), (draw(rows, columns),)


def cumulative_max(steps, series):
    return (lambda x: torch.cummax(x, 0).values), (draw(steps, series),)


def histogram(n):
    return (lambda x: torch.bincount(x, minlength=256)), (torch.randint(0, 256, (n,), device="cuda", dtype=torch.uint8),)


def cross_entropy(rows, classes):
    return (lambda x, y: functional.cross_entropy(x, y, reduction="none")), (draw(rows, classes), torch.randint(0, classes, (rows,), device="cuda"))


def sgemm(M, N, K):
    return (lambda c, a, b: torch.addmm(c, a, b, beta=0.5, alpha=1.5)), (draw(M, N), draw(M, K), draw(K, N))


def batched_gemm(batch):
    return torch.bmm, (draw(batch, 16, 16), draw(batch, 16, 16))


def gemv(rows, columns):
    return torch.mv, (draw(rows, columns), draw(columns))


def gemv_transposed(rows, columns):
    return (lambda y, a, x: torch.addmv(y, a.t(), x)), (draw(columns), draw(rows, columns), draw(rows))


def permute_nchw_nhwc(batch, channels, height, width):
    return (lambda x: x.permute(0, 2, 3, 1).contiguous()), (draw(batch, channels, height, width),)


def causal_mask(heads, length):
    hidden = torch.ones(length, length, dtype=torch.bool, device="cuda").triu(1)
    return (lambda x: x.mul_(0.125).masked_fill_(hidden, -1e30)), (draw(heads, length, length),)


def convolution_17(height, width):
    return (lambda x, f: functional.conv2d(x, f, padding=8)), (draw(1, 1, height, width), draw(1, 1, 17, 17))


def convolution_3x3(inputs, outputs, height, width):
    return (lambda x, f: functional.conv2d(x, f, padding=1)), (draw(1, inputs, height, width), draw(outputs, inputs, 3, 3))


def pairwise_distance(m, n, dim):
    return (lambda a, b: torch.cdist(a, b, compute_mode="donot_use_mm_for_euclid_dist")), (draw(m, dim), draw(n, dim))


def attention_row(queries, length):
    return functional.scaled_dot_product_attention, (draw(1, 1, queries, 64), draw(1, 1, length, 64), draw(1, 1, length, 64))


def embedding(words, tokens, width):
    return (lambda t, i: t[i]), (draw(words, width), torch.randint(0, words, (tokens,), device="cuda"))


def upsample_bilinear(channels, height, width):
    return (lambda x: functional.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)), (draw(1, channels, height, width),)


def max_pool(channels, height, width):
    return (lambda x: functional.max_pool2d(x, 3, 2, 1)), (draw(1, channels, height, width),)


def rotary_embedding(tokens, heads, half):
    def turn(x, c, s):
        a, b = x[..., :half], x[..., half:]
        return torch.cat((a * c - b * s, b * c + a * s), -1)
    return turn, (draw(tokens, heads, 2 * half), draw(tokens, 1, half), draw(tokens, 1, half))


def stencil_2d(height, width):
    def step(x):
        out = x.clone()
        out[1:-1, 1:-1] = 0.5 * x[1:-1, 1:-1] + 0.125 * (x[1:-1, :-2] + x[1:-1, 2:] + x[:-2, 1:-1] + x[2:, 1:-1])
        return out
    return step, (draw(height, width),)


# In 16, 8 and 4 bits: sums are in float, as the kernels' are.
def silu_and_mul(tokens, d):
    return (lambda x: functional.silu(x[:, :d]) * x[:, d:]), (half(tokens, 2 * d),)


def gelu_bias_half(rows, columns):
    return (lambda x, b: functional.gelu(x + b, approximate="tanh")), (half(rows, columns), half(columns))


def softmax_half(rows, columns):
    return (lambda x: torch.softmax(x, 1)), (half(rows, columns),)


def layer_norm_half(rows, columns):
    return (lambda x, g, b: functional.layer_norm(x, (columns,), g, b)), (half(rows, columns), half(columns), half(columns))


def add_rms_norm_bf16(tokens, width):
    def norm(x, residual, weight):
        return functional.rms_norm(residual.add_(x), (width,), weight, 1e-5)
    return norm, (bfloat(tokens, width), bfloat(tokens, width), bfloat(width))


def row_sum_bf16(rows, columns):
    return (lambda x: x.sum(1, dtype=torch.float)), (bfloat(rows, columns),)


def rotary_pairs_bf16(tokens, heads, pairs, length):
    def turn(x, positions, cosines, sines):
        a, b = x[..., 0::2].float(), x[..., 1::2].float()
        c, s = cosines[positions].unsqueeze(1), sines[positions].unsqueeze(1)
        return x.copy_(torch.stack((a * c - b * s, b * c + a * s), -1).flatten(2))
    return turn, (bfloat(tokens, heads, 2 * pairs), torch.randint(0, length, (tokens,), device="cuda"), draw(length, pairs), draw(length, pairs))


def merge_attention_states(tokens, heads, size):
    def merge(a, x, b, y):
        highest = torch.maximum(x, y)
        left, right = torch.exp(x - highest), torch.exp(y - highest)
        total = left + right
        return (a * (left / total).unsqueeze(-1) + b * (right / total).unsqueeze(-1)).half(), highest + torch.log(total)
    return merge, (half(tokens, heads, size), draw(tokens, heads), half(tokens, heads, size), draw(tokens, heads))


def attention_half(heads, sequence):
    return functional.scaled_dot_product_attention, tuple(half(1, heads, sequence, 128) for _ in range(3))


def top_k_gating(tokens, experts, k):
    return (lambda x: torch.topk(torch.softmax(x, 1), k, 1)), (draw(tokens, experts),)


def kv_cache_copy(tokens, heads, size, page):
    pages = -(-tokens // page)

    def keep(keys, values, key_cache, value_cache, slots):
        key_cache[slots // page, :, slots % page] = keys
        value_cache[slots // page, :, slots % page] = values
        return key_cache
    return keep, (half(tokens, heads, size), half(tokens, heads, size), half(pages, heads, page, size), half(pages, heads, page, size),
                  torch.randperm(tokens, device="cuda"))


def embedding_half(words, tokens, width):
    return (lambda t, i: t[i]), (half(words, width), torch.randint(0, words, (tokens,), device="cuda"))


def causal_conv1d(batch, channels, length):
    return ((lambda x, w, b: functional.silu(functional.conv1d(x, w, b, padding=3, groups=channels)[..., :length])),
            (bfloat(batch, channels, length), bfloat(channels, 1, 4), bfloat(channels)))


def quantize_int8_token(tokens, width):
    def quantize(x):
        scale = x.abs().amax(1, keepdim=True).float() / 127
        return torch.round(x / scale).clamp(-127, 127).to(torch.int8), scale
    return quantize, (half(tokens, width),)


def quantize_fp8_group(tokens, groups):
    def quantize(x):
        parts = x.view(tokens, groups, 128)
        scale = parts.abs().amax(2, keepdim=True).float().clamp(min=1e-10) / 448
        return (parts / scale).clamp(-448, 448).to(torch.float8_e4m3fn), scale
    return quantize, (bfloat(tokens, 128 * groups),)


def int4_values(packed, scales, rows, groups):
    shifts = torch.arange(0, 32, 4, device="cuda", dtype=torch.int32)
    four = (packed.unsqueeze(-1) >> shifts) & 15
    return ((four - 8).view(rows, groups, 128).half() * scales.unsqueeze(-1)).view(rows, 128 * groups)


def int4_matrix(rows, groups):
    return torch.randint(-2**31, 2**31 - 1, (rows, 16 * groups), device="cuda", dtype=torch.int32), half(rows, groups)


def dequantize_int4(rows, groups):
    return (lambda packed, scales: int4_values(packed, scales, rows, groups)), int4_matrix(rows, groups)


def gemv_int4(rows, groups):
    return (lambda packed, scales, x: int4_values(packed, scales, rows, groups) @ x), (*int4_matrix(rows, groups), half(128 * groups))


def hgemm(M, N, K):
    return torch.mm, (half(M, K), half(K, N))


def gemm_bf16_nt(M, N, K):
    return functional.linear, (bfloat(M, K), bfloat(N, K), bfloat(N))


def gemm_int8(M, N, K):
    def byte(rows, columns):
        return torch.randint(-127, 128, (rows, columns), device="cuda", dtype=torch.int8)
    return (lambda a, b: torch._int_mm(a, b.t())), (byte(M, K), byte(N, K))


MAKERS = {make.__name__: make for make in (
    copy, transpose, axpy, gated_map, gelu_bias, layer_norm, rms_norm_residual, softmax_rows, sum_all, dot_product, row_sum, column_sum,
    arg_max, prefix_rows, cumulative_max, histogram, cross_entropy, sgemm, batched_gemm, gemv, gemv_transposed, permute_nchw_nhwc, causal_mask,
    convolution_17, convolution_3x3, pairwise_distance, attention_row, embedding, upsample_bilinear, max_pool, rotary_embedding, stencil_2d,
    silu_and_mul, gelu_bias_half, softmax_half, layer_norm_half, add_rms_norm_bf16, row_sum_bf16, rotary_pairs_bf16, merge_attention_states,
    attention_half, top_k_gating, kv_cache_copy, embedding_half, causal_conv1d, quantize_int8_token, quantize_fp8_group, dequantize_int4, gemv_int4,
    hgemm, gemm_bf16_nt, gemm_int8)}


def seconds(call, sweep):
    for _ in range(5):
        call()
    samples = []
    for _ in range(30):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        sweep.zero_()
        begin.record()
        call()
        end.record()
        torch.cuda.synchronize()
        samples.append(begin.elapsed_time(end) * 1e-3)
    return sorted(samples)[len(samples) // 2]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", nargs="*")
    parser.add_argument("--no-compile", action="store_true", help="eager only; compiling takes seconds a size")
    options = parser.parse_args()
    if torch is None or not torch.cuda.is_available():
        print("libraries_torch.py: no PyTorch with a GPU is here", file=sys.stderr)
        return 77
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    sweep = torch.empty(64 << 20, device="cuda")
    for family, make in MAKERS.items():
        if options.families and family not in options.families:
            continue
        manifest = (benchmark.FOLDER / family / "student.regraph.yaml").read_text(encoding="utf-8")
        for size in benchmark.bench_sizes(manifest):
            function, arguments = make(**size)
            ways = {"eager": function} | ({} if options.no_compile else {"compiled": torch.compile(function, dynamic=False)})
            for way, called in ways.items():
                try:
                    taken = seconds(lambda: called(*arguments), sweep)
                except RuntimeError as error:
                    print(f"{family} {size} {way}: {error}", file=sys.stderr)
                    continue
                print(json.dumps({"family": family, "sizes": benchmark.size_text(size), "way": f"torch, {way}", "exact": True, "seconds": taken}),
                      flush=True)
            del function, arguments
            torch.cuda.empty_cache()
    return 0


if __name__ == "__main__":
    sys.exit(main())
