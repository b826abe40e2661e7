#include "rewrite/step_checks.h"

#include <fmt/format.h>

#include <string>

namespace regraph::test::tensor_attention_test {
namespace {

// Attention as it is written by hand, of which tests vary the pieces.
struct Kernel {
  std::string type = "__half";
  int elements = 64;
  std::string keys = "sequence";        // bound of the loop over keys
  std::string skip = "";                // a statement in front of a score
  std::string score = "s * scale";      // of the product s
  std::string key_head = "blockIdx.y";  // of query head blockIdx.y
  std::string tests =
      "[{group: 1, key_heads: 2, sequence: 37}, {group: 1, key_heads: 1, sequence: 130}]";
  std::string assume = "{noalias: true, reassociate: true, precision: any}";
  std::string result = "from_float(mix[d] / sum)";
};

std::string prelude(const Kernel& kernel) {
  const bool is_half = kernel.type == "__half";
  return fmt::format(
      "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#define DIM {}\n#define to_float "
      "{}\n#define "
      "from_float {}\n",
      kernel.elements, is_half ? "__half2float" : "__bfloat162float",
      is_half ? "__float2half" : "__float2bfloat16");
}

std::string signature(const Kernel& kernel) {
  return fmt::format(
      "__global__ void attention(const {0}* query, const {0}* keys, const {0}* values, {0}* out,\n"
      "                          float scale, int sequence, int group) {{\n",
      kernel.type);
}

// One pass over the keys.
std::string online(const Kernel& kernel) {
  return prelude(kernel) + signature(kernel) +
         "  const int q = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  const int head = blockIdx.y;\n  const int key_head = " +
         kernel.key_head +
         ";\n  if (q >= sequence) return;\n  float mix[DIM];\n"
         "  for (int d = 0; d < DIM; ++d) mix[d] = 0.0f;\n"
         "  float m = -INFINITY, sum = 0.0f;\n  for (int t = 0; t < " +
         kernel.keys + "; ++t) {\n    " + kernel.skip +
         "\n    float s = 0.0f;\n    for (int d = 0; d < DIM; ++d)\n"
         "      s += to_float(query[(head * sequence + q) * DIM + d]) * "
         "to_float(keys[(key_head * sequence + t) * DIM + d]);\n    s = " +
         kernel.score +
         ";\n    const float larger = fmaxf(m, s);\n    const float c = expf(m - larger);\n"
         "    const float w = expf(s - larger);\n    sum = sum * c + w;\n"
         "    for (int d = 0; d < DIM; ++d)\n"
         "      mix[d] = mix[d] * c + w * to_float(values[(key_head * sequence + t) * DIM + d]);\n"
         "    m = larger;\n  }\n"
         "  for (int d = 0; d < DIM; ++d) out[(head * sequence + q) * DIM + d] = " +
         kernel.result + ";\n}\n";
}

// A pass for the largest score, and one for the sums.
std::string two_passes(const Kernel& kernel) {
  const std::string dot =
      "    float s = 0.0f;\n    for (int d = 0; d < DIM; ++d)\n"
      "      s += to_float(q_row[d]) * to_float(k[t * DIM + d]);\n    s = " +
      kernel.score + ";\n";
  return prelude(kernel) + signature(kernel) +
         "  const int q = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  if (q < sequence) {\n  const int key_head = " +
         kernel.key_head +
         ";\n  const auto* q_row = query + (blockIdx.y * sequence + q) * DIM;\n"
         "  const auto* k = keys + key_head * sequence * DIM;\n"
         "  const auto* v = values + key_head * sequence * DIM;\n"
         "  float m = -INFINITY;\n  for (int t = 0; t < " +
         kernel.keys + "; ++t) {\n    " + kernel.skip + "\n" + dot +
         "    m = fmaxf(m, s);\n  }\n  float sum = 0.0f;\n  float mix[DIM] = {0.0f};\n"
         "  for (int t = 0; t < " +
         kernel.keys + "; ++t) {\n    " + kernel.skip + "\n" + dot +
         "    const float p = expf(s - m);\n    sum += p;\n"
         "    for (int d = 0; d < DIM; ++d) mix[d] += p * to_float(v[t * DIM + d]);\n  }\n"
         "  for (int d = 0; d < DIM; ++d) out[(blockIdx.y * sequence + q) * DIM + d] = " +
         kernel.result + ";\n  }\n}\n";
}

// A block a query, a thread an element.
std::string block_of_elements(const Kernel& kernel) {
  return prelude(kernel) + signature(kernel) +
         "  __shared__ float products[DIM];\n  const int d = threadIdx.x;\n"
         "  const size_t head = (size_t)blockIdx.y * sequence * DIM;\n"
         "  const float q = to_float(query[head + (size_t)blockIdx.x * DIM + d]) * scale;\n"
         "  float peak = -INFINITY, sum = 0.0f, mix = 0.0f;\n"
         "  for (int t = 0; t < " +
         kernel.keys +
         "; ++t) {\n    products[d] = q * to_float(keys[head + (size_t)t * DIM + d]);\n"
         "    __syncthreads();\n    for (int half = DIM / 2; half > 0; half /= 2) {\n"
         "      if (d < half) products[d] += products[d + half];\n      __syncthreads();\n    }\n"
         "    const float score = products[0];\n"
         "    const float value = to_float(values[head + (size_t)t * DIM + d]);\n"
         "    const float higher = fmaxf(peak, score);\n"
         "    const float shrink = expf(peak - higher);\n"
         "    const float weight = expf(score - higher);\n"
         "    mix = mix * shrink + weight * value;\n    sum = sum * shrink + weight;\n"
         "    peak = higher;\n    __syncthreads();\n  }\n"
         "  out[head + (size_t)blockIdx.x * DIM + d] = from_float(mix / sum);\n}\n";
}

std::unique_ptr<KernelCase> made(const Kernel& kernel, const std::string& source,
                                 bool block_of_row = false) {
  auto result = KernelCase::make(
      source,
      fmt::format(
          "sizes: {{group: 2, key_heads: 2, sequence: 256}}\nargs:\n"
          "  query: {{dir: in, shape: ['group*key_heads', sequence, {0}], init: normal}}\n"
          "  keys: {{dir: in, shape: [key_heads, sequence, {0}], init: normal}}\n"
          "  values: {{dir: in, shape: [key_heads, sequence, {0}], init: normal}}\n"
          "  out: {{dir: out, shape: ['group*key_heads', sequence, {0}]}}\n"
          "  scale: 0.125\n"
          "launch: {{block: {1}, grid: [{2}, 'group*key_heads']}}\ntests: {3}\nassume: {4}\n",
          kernel.elements, block_of_row ? kernel.elements : 64,
          block_of_row ? "sequence" : "'cdiv(sequence, bx)'", kernel.tests, kernel.assume));
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message) << source;
  return result.ok() ? std::move(*result) : nullptr;
}

Application step(const char* queries = "64", const char* keys = "64", const char* warps = "4",
                 const char* stages = "2", const char* instruction = "mma") {
  return {"tensor_attention",
          {{"instruction", instruction},
           {"queries", queries},
           {"keys", keys},
           {"warps", warps},
           {"stages", stages}}};
}

Application by_warpgroups(const char* queries, const char* keys, const char* warps) {
  return step(queries, keys, warps, "2", "wgmma");
}

std::string code_of(const Kernel& kernel, const std::string& source, const Application& applied,
                    bool block_of_row = false) {
  const auto one = made(kernel, source, block_of_row);
  if (one == nullptr) return "";
  return source::print(expect_correct(*one, {applied}).unit);
}

TEST(TensorAttention, MultipliesFragmentsOfHalf) {
  const Kernel kernel;
  const std::string code = code_of(kernel, online(kernel), step());
  expect_text(code, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
  expect_text(code, "ldmatrix.sync.aligned.m8n8.x4.trans");
  expect_text(code, "*(uint4*)");
}

TEST(TensorAttention, GoesInOnePass) {
  const Kernel kernel;
  code_of(kernel, two_passes(kernel), step());
}

TEST(TensorAttention, LeavesOutWhatIsMasked) {
  for (const Kernel& kernel :
       {Kernel{.keys = "min(q + 1, sequence)"}, Kernel{.skip = "if (t > q) continue;"},
        Kernel{.skip = "if (t > q || q - t >= 20) continue;",
        .assume = "{noalias: true, reassociate: true, precision: any, finite: true}"},
        Kernel{.score = "t <= q ? s * scale : -INFINITY"},
        Kernel{.score = "t <= q ? s * scale : -INFINITY",
        .assume = "{noalias: true, reassociate: true, precision: any, finite: true}"}}) {
    SCOPED_TRACE(kernel.keys + kernel.skip + kernel.score);
    code_of(kernel, online(kernel), step());
  }
  for (const Kernel& kernel :
       {Kernel{.keys = "q + 1"},
        Kernel{.score = "t <= q ? s * scale : -INFINITY",
        .assume = "{noalias: true, reassociate: true, precision: any, finite: true}"}}) {
    SCOPED_TRACE(kernel.keys + kernel.score);
    code_of(kernel, two_passes(kernel), step());
  }
}

TEST(TensorAttention, TakesBfloat16AndOtherTiles) {
  Kernel kernel{.type = "__nv_bfloat16", .elements = 128};
  kernel.tests =
      "[{group: 1, key_heads: 1, sequence: 37}, {group: 1, key_heads: 1, sequence: 140}]";
  code_of(kernel, online(kernel), step("128", "64", "4", "3"));
  kernel.keys = "q + 1";
  code_of(kernel, online(kernel), step("128", "128", "8"));
}

TEST(TensorAttention, MultipliesByWarpgroups) {
  const Kernel kernel;
  const std::string code = code_of(kernel, online(kernel), by_warpgroups("128", "64", "8"));
  expect_text(code, "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16");
  expect_text(code, "__launch_bounds__(256, 2)");
  // One for all of memory would be a fence of the GPU.
  expect_text(code, "fence.proxy.async.shared::cta;");
  for (const int elements : {16, 80, 128, 256}) {
    SCOPED_TRACE(elements);
    Kernel other{.type = elements == 80 ? "__nv_bfloat16" : "__half", .elements = elements};
    other.tests =
        "[{group: 1, key_heads: 1, sequence: 37}, {group: 1, key_heads: 1, sequence: 140}]";
    code_of(other, online(other), by_warpgroups("64", "64", "4"));
    if (elements <= 128) code_of(other, online(other), by_warpgroups("192", "128", "12"));
  }
}

TEST(TensorAttention, ScalesScoresWhateverTheirSign) {
  for (const char* score : {"s * scale", "s * -scale", "s / 8.0f", "s * scale * 0.0f"}) {
    SCOPED_TRACE(score);
    const Kernel kernel{.score = score,
                        .tests = "[{group: 1, key_heads: 1, sequence: 37}]",
                        .result = "from_float(mix[d] / sum + 0.01f * m)"};
    expect_text(code_of(kernel, online(kernel), step()), "is_scaled_late");
  }
}

TEST(TensorAttention, WarpgroupsLeaveOutWhatIsMasked) {
  for (const Kernel& kernel :
       {Kernel{.keys = "min(q + 1, sequence)"},
        Kernel{.skip = "if (t > q || q - t >= 20) continue;",
        .assume = "{noalias: true, reassociate: true, precision: any, finite: true}"},
        Kernel{.score = "t <= q ? s * scale : -INFINITY"}}) {
    SCOPED_TRACE(kernel.keys + kernel.skip + kernel.score);
    code_of(kernel, online(kernel), by_warpgroups("128", "64", "8"));
    code_of(kernel, online(kernel), by_warpgroups("64", "128", "4"));
  }
}

TEST(TensorAttention, RefusesWarpgroupsWithoutRegisters) {
  Kernel kernel{.elements = 256};
  expect_refusal(*made(kernel, online(kernel)), by_warpgroups("128", "128", "8"),
                 "more registers for sums than there are");
}

TEST(TensorAttention, TakesHeadsOfOtherSizes) {
  for (const int elements : {16, 80, 96, 256}) {
    SCOPED_TRACE(elements);
    Kernel kernel{.elements = elements};
    kernel.tests = "[{group: 1, key_heads: 1, sequence: 70}]";
    code_of(kernel, online(kernel), step());
  }
}

TEST(TensorAttention, SharesKeysAmongHeads) {
  const Kernel kernel{.key_head = "blockIdx.y / group",
                      .tests = "[{group: 3, key_heads: 2, sequence: 37}]"};
  code_of(kernel, online(kernel), step());
  code_of(kernel, two_passes(kernel), step());
}

TEST(TensorAttention, TakesBlocksForRows) {
  const Kernel kernel{.tests = "[{group: 1, key_heads: 2, sequence: 37}]"};
  code_of(kernel, block_of_elements(kernel), step(), true);
}

TEST(TensorAttention, RefusesWhatLowersPrecision) {
  const Kernel kernel{.assume = "{noalias: true, reassociate: true}"};
  expect_refusal(*made(kernel, online(kernel)), step(), "assume: {precision: any}");
}

TEST(TensorAttention, RefusesOtherKernels) {
  expect_refusal(*sample("attention_online"), step(), "precision: any");
  const Kernel gathered{.key_head = "(q + blockIdx.y) % 2",
                        .tests = "[{group: 1, key_heads: 2, sequence: 37}]"};
  expect_refusal(*made(gathered, online(gathered)), step(),
                 "the index of 'keys' is not one of neighbours in a row");
  Kernel wide{.elements = 8};
  expect_refusal(*made(wide, online(wide)), step(), "tensor cores take multiples of 16");
  Kernel mixed{.score = "s * scale + to_float(values[q])"};
  mixed.keys = "sequence / 2";
  expect_correct(*made(mixed, online(mixed)), {step()});
}

}  // namespace
}  // namespace regraph::test::tensor_attention_test
