// Inverse rewrites on kernels of the corpus: what they take away the step gives back, and what must
// not be taken is refused.
#include "base/files.h"
#include "rewrite/inverse/inverse_rewrite.h"
#include "rewrite/inverse_rewriter.h"
#include "rewrite/step_checks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace regraph::test::inverse_rewrites_test {
namespace {

using rewrite::InverseRewrite;
using rewrite::KernelState;

const InverseRewrite& inverse(const std::string& id) {
  const auto& all = rewrite::inverse_rewrites();
  const auto found = std::ranges::find(all, id, &InverseRewrite::id);
  EXPECT_NE(found, all.end()) << id;
  return found == all.end() ? all.front() : *found;
}

std::unique_ptr<KernelCase> kernel_of(const std::string& source, const std::string& manifest) {
  auto made = KernelCase::make(source, manifest);
  EXPECT_TRUE(made) << made.error().message;
  return made ? std::move(*made) : nullptr;
}

// bench/corpus/NAME.
std::unique_ptr<KernelCase> corpus_kernel(const std::string& name) {
  const std::string stem = std::string(REGRAPH_SOURCE_DIR) + "/bench/corpus/" + name;
  const auto source = read_file(stem + ".cu", 1 << 20);
  const auto manifest = read_file(stem + ".regraph.yaml", 1 << 20);
  EXPECT_TRUE(source && manifest) << stem;
  return kernel_of(*source, *manifest);
}

Result<KernelState> taken(const KernelCase& kernel, const std::string& id) {
  return rewrite::apply_inverse(inverse(id), kernel.analysis(kernel.original()));
}

KernelState expect_taken(const KernelCase& kernel, const std::string& id) {
  auto slower = taken(kernel, id);
  EXPECT_TRUE(slower) << id << ": " << slower.error().message;
  if (!slower) return kernel.original();
  EXPECT_EQ(kernel.verdict(*slower), "correct");
  EXPECT_FALSE(source::print(slower->unit) == source::print(kernel.original().unit) &&
               slower->plan == kernel.original().plan);
  return std::move(*slower);
}

void expect_kept(const KernelCase& kernel, const std::string& id, const std::string& reason) {
  const auto slower = taken(kernel, id);
  ASSERT_FALSE(slower) << source::print(slower->unit);
  EXPECT_EQ(slower.error().code, ErrorCode::refused);
  EXPECT_NE(slower.error().message.find(reason), std::string::npos) << slower.error().message;
}

// The step makes the original of `slower` again, to the letter, in the form that steps work on.
void expect_way_back(const KernelCase& kernel, const KernelState& slower, const Application& step) {
  const auto back = kernel.apply(slower, step.step, step.parameters);
  ASSERT_TRUE(back) << back.error().message;
  source::Unit original = kernel.original().unit;
  original.kernel = kernel.analysis(kernel.original()).kernel();
  EXPECT_EQ(source::print(back->unit), source::print(original));
  EXPECT_EQ(back->plan, kernel.original().plan);
}

TEST(InverseRewrites, AreNamedOnceAndAreNoSteps) {
  std::set<std::string> ids;
  for (const InverseRewrite& one : rewrite::inverse_rewrites()) {
    EXPECT_TRUE(ids.insert(one.id).second) << one.id;
    EXPECT_EQ(rewrite::find_built_in_step(one.id), nullptr) << one.id;
    EXPECT_NE(rewrite::find_built_in_step(one.undone_by), nullptr) << one.undone_by;
    EXPECT_FALSE(one.taken_away.empty());
  }
}

TEST(InverseRewrites, SwappedAxesAreSwappedBack) {
  const auto product = corpus_kernel("matrix_product/a_textbook");
  expect_way_back(*product, expect_taken(*product, "swapped_axes"), {"coalesce_swap", {}});
  const auto tiles = corpus_kernel("matrix_product/c_half_tuned");
  const KernelState swapped = expect_taken(*tiles, "swapped_axes");
  EXPECT_NE(source::print(swapped.unit).find("threadIdx.y"), std::string::npos);
  expect_way_back(*tiles, swapped, {"coalesce_swap", {}});
}

TEST(InverseRewrites, AxesStayWhereSwappingMakesNothingWorse) {
  const auto swapped = corpus_kernel("matrix_product/b_mapping");
  expect_kept(*swapped, "swapped_axes", "'coalesce_swap' does not apply to the result");
  const auto flat = corpus_kernel("transpose/d_flat");
  expect_kept(*flat, "swapped_axes", "does not use the y axis");
}

TEST(InverseRewrites, PaddingIsTakenFromRowsThatDoNotUseIt) {
  const auto transpose = corpus_kernel("control/padded_transpose");
  const KernelState slower = expect_taken(*transpose, "no_padding");
  EXPECT_NE(source::print(slower.unit).find("tile[32][32]"), std::string::npos);
  expect_way_back(*transpose, slower, {"smem_pad", {{"pad", "1"}}});

  // A tile copied by a flat index, as steps do.
  const auto product = sample("matmul_guard");
  auto tiled = product->apply(product->original(), "smem_tile", {{"loop", "1"}, {"depth", "16"}});
  ASSERT_TRUE(tiled) << tiled.error().message;
  auto padded = product->apply(*tiled, "smem_pad", {{"pad", "4"}});
  ASSERT_TRUE(padded) << padded.error().message;
  const auto again = rewrite::apply_inverse(inverse("no_padding"), product->analysis(*padded));
  ASSERT_TRUE(again) << again.error().message << source::print(padded->unit);
  EXPECT_EQ(source::print(again->unit), source::print(tiled->unit));
}

TEST(InverseRewrites, RowsThatAreUsedKeepTheirLength) {
  // The last two elements of a row are the halo.
  const auto halo = corpus_kernel("stencil_2d/c_half_tuned");
  expect_kept(*halo, "no_padding", "rows longer than it uses");
  const auto patch = corpus_kernel("convolution_2d/c_half_tuned");
  expect_kept(*patch, "no_padding", "rows longer than it uses");
  // One index at the end of a row is enough, and so is a row that is handed on whole.
  const std::string manifest =
      "sizes: {n: 1024}\nargs: {a: {shape: [n]}, b: {dir: out, shape: [n]}}\n"
      "launch: {block: [32, 32], grid: 'cdiv(n, 1024)'}\n"
      "tests: [{n: 2048}]\n";
  const auto with = [&](const std::string& use) {
    return kernel_of(
        "__global__ void f(const float* a, float* b) {\n"
        "  __shared__ float t[32][33];\n"
        "  int i = threadIdx.x + 32 * threadIdx.y;\n"
        "  t[threadIdx.y][threadIdx.x] = a[blockIdx.x * 1024 + i];\n"
        "  __syncthreads();\n" +
            use + "\n}",
        manifest);
  };
  const std::string plain = "b[blockIdx.x * 1024 + i] = t[threadIdx.x][threadIdx.y];";
  expect_taken(*with(plain), "no_padding");
  expect_kept(*with(plain + " if (a[i] > 1e30f) t[0][threadIdx.x + 1] = 0.0f;"), "no_padding",
              "rows longer than it uses");
  expect_kept(*with(plain + " float* row = t[3]; if (a[i] > 1e30f) row[0] = 0.0f;"), "no_padding",
              "rows longer than it uses");
}

TEST(InverseRewrites, RestrictIsTakenAndGivenBack) {
  const auto transpose = corpus_kernel("transpose/c_half_tuned");
  const KernelState slower = expect_taken(*transpose, "no_restrict");
  const std::string text = source::print(slower.unit);
  EXPECT_EQ(text.find("__restrict__"), std::string::npos) << text;
  EXPECT_NE(text.find("const float* a"), std::string::npos) << text;
  expect_way_back(*transpose, slower, {"restrict_ldg", {}});
  const auto momentum = corpus_kernel("fused_map/c_half_tuned");
  expect_way_back(*momentum, expect_taken(*momentum, "no_restrict"), {"restrict_ldg", {}});
}

TEST(InverseRewrites, RestrictThatIsNotThereOrCannotComeBackStays) {
  expect_kept(*corpus_kernel("transpose/a_textbook"), "no_restrict", "no pointer is __restrict__");
  const auto aliased = kernel_of(
      "__global__ void f(const float* __restrict__ a, float* b, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) b[i] = a[i];\n}",
      "sizes: {n: 1000}\nargs: {a: {shape: [n]}, b: {dir: out, shape: [n]}}\n"
      "launch: {block: 64, grid: 'cdiv(n, bx)'}\nassume: {noalias: false}\n");
  expect_kept(*aliased, "no_restrict", "'restrict_ldg' does not apply to the result");
}

TEST(InverseRewrites, UnrollPragmasAreTakenFromAllLoops) {
  const auto transpose = corpus_kernel("control/padded_transpose");
  const KernelState slower = expect_taken(*transpose, "no_unroll");
  EXPECT_EQ(source::print(slower.unit).find("#pragma"), std::string::npos);
  expect_way_back(*transpose, slower, {"loop_unroll", {{"factor", "full"}, {"loop", "all"}}});
  const auto march = corpus_kernel("stencil_3d/c_half_tuned");
  expect_way_back(*march, expect_taken(*march, "no_unroll"),
                  {"loop_unroll", {{"factor", "2"}, {"loop", "all"}}});
}

TEST(InverseRewrites, LoopsThatAreNotUnrolledStay) {
  // It says #pragma unroll 1.
  expect_kept(*corpus_kernel("filter_1d/c_half_tuned"), "no_unroll", "no loop has a #pragma");
  expect_kept(*corpus_kernel("matrix_product/a_textbook"), "no_unroll", "no loop has a #pragma");
}

TEST(InverseRewrites, BlocksBecomeBad) {
  const auto flat = corpus_kernel("transpose/d_flat");
  const KernelState slower = expect_taken(*flat, "block_32");
  EXPECT_EQ(slower.plan.launches[0].block, (Dim3{32, 1, 1}));
  expect_way_back(*flat, slower, {"block_size", {{"block", "256"}}});
  const auto product = corpus_kernel("matrix_product/a_textbook");
  EXPECT_EQ(expect_taken(*product, "block_2x64").plan.launches[0].block, (Dim3{2, 64, 1}));
}

TEST(InverseRewrites, BlocksThatTheCodeKnowsStay) {
  expect_kept(*corpus_kernel("matrix_product/c_half_tuned"), "block_32", "shared arrays");
  expect_kept(*corpus_kernel("transpose/d_flat"), "block_2x64", "does not use threadIdx.y");
}

TEST(InverseRewrites, TilesAreReadWhereTheyCameFrom) {
  const std::string manifest =
      "sizes: {n: 64}\nargs: {a: {shape: [n, n]}, b: {shape: [n, n]}, c: {dir: out, shape: [n, "
      "n]}}\n"
      "launch: {block: [16, 16], grid: ['n / 16', 'n / 16']}\ntests: [{n: 32}]\n";
  const auto tiled = [&](const std::string& fill) {
    return kernel_of(
        "__global__ void f(const float* a, const float* b, float* c, int n) {\n"
        "  __shared__ float s[16][16];\n  __shared__ float t[16][17];\n"
        "  int x = threadIdx.x, y = threadIdx.y;\n"
        "  int row = blockIdx.y * 16 + y;\n  int column = blockIdx.x * 16 + x;\n"
        "  float sum = 0.0f;\n"
        "  for (int k = 0; k < n; k += 16) {\n" +
            fill +
            "    __syncthreads();\n"
            "    for (int i = 0; i < 16; ++i) sum += s[y][i] * t[i][x];\n"
            "    __syncthreads();\n  }\n"
            "  c[row * n + column] = sum;\n}",
        manifest);
  };
  const KernelState slower = expect_taken(
      *tiled("    s[y][x] = a[row * n + k + x];\n    t[y][x] = b[(k + y) * n + column];\n"),
      "no_tile");
  const std::string text = source::print(slower.unit);
  EXPECT_EQ(text.find("__shared__"), std::string::npos) << text;
  EXPECT_EQ(text.find("__syncthreads"), std::string::npos) << text;
  // A guard needs a value for the others; and there is one fill.
  expect_kept(*tiled("    if (k + x < n) s[y][x] = a[row * n + k + x];\n"
                     "    if (k + y < n) t[y][x] = b[(k + y) * n + column];\n"),
              "no_tile", "what an earlier round left");
  expect_kept(*tiled("    s[y][x] = 1.0f;\n    s[y][x] = a[row * n + k + x];\n"
                     "    t[y][x] = 1.0f;\n    t[y][x] = b[(k + y) * n + column];\n"),
              "no_tile", "several times");
}

TEST(InverseRewrites, TurnedTilesAreReadWhereTheyCameFrom) {
  const std::string manifest =
      "sizes: {n: 64}\nargs: {a: {shape: [n, n]}, b: {dir: out, shape: [n, n]}}\n"
      "launch: {block: [16, 16], grid: ['cdiv(n, 16)', 'cdiv(n, 16)']}\ntests: [{n: 50}, {n: "
      "32}]\n";
  const auto turned = kernel_of(
      "__global__ void f(const float* a, float* b, int n) {\n"
      "  __shared__ float s[16][17];\n"
      "  int x = blockIdx.x * 16 + threadIdx.x;\n  int y = blockIdx.y * 16 + threadIdx.y;\n"
      "  if (x < n && y < n) s[threadIdx.y][threadIdx.x] = a[y * n + x];\n"
      "  __syncthreads();\n"
      "  int column = blockIdx.y * 16 + threadIdx.x;\n  int row = blockIdx.x * 16 + threadIdx.y;\n"
      "  if (column < n && row < n) b[row * n + column] = s[threadIdx.x][threadIdx.y];\n}",
      manifest);
  const auto slower = inverse("no_tile").apply(turned->analysis(turned->original()));
  ASSERT_TRUE(slower) << slower.error().message;
  EXPECT_EQ(turned->verdict(*slower), "correct") << source::print(slower->unit);
  EXPECT_EQ(source::print(slower->unit).find("__shared__"), std::string::npos);
  // Its stores are fine, and its loads are not what smem_tile mends.
  expect_kept(*turned, "no_tile", "'smem_tile' does not apply to the result");
}

TEST(InverseRewrites, ArraysThatAreNoCopiesStay) {
  // Tiles filled by rounds; elements that threads exchange; sums.
  expect_kept(*corpus_kernel("transpose/c_half_tuned"), "no_tile",
              "does not fill the element of its own indices");
  expect_kept(*corpus_kernel("transpose/a_textbook"), "no_tile", "no shared array");
}

TEST(InverseRewrites, ATreeBecomesDivergent) {
  const std::string manifest =
      "sizes: {n: 4096}\nargs: {a: {shape: [n]}, b: {dir: out, shape: ['n / 128']}}\n"
      "launch: {block: 128, grid: 'n / 128'}\ntests: [{n: 512}]\n";
  const auto tree = [&](const std::string& loop, const std::string& more = "") {
    return kernel_of(
        "__global__ void f(const float* a, float* b) {\n"
        "  __shared__ float s[128];\n  int t = threadIdx.x;\n"
        "  s[t] = a[blockIdx.x * 128 + t];\n  __syncthreads();\n" +
            loop + "  if (t == 0) b[blockIdx.x] = s[0];\n}",
        manifest + more);
  };
  const std::string halving =
      "  for (int d = 64; d > 0; d /= 2) {\n    if (t < d) s[t] += s[t + d];\n"
      "    __syncthreads();\n  }\n";
  const auto halves = tree(halving);
  const KernelState slower = expect_taken(*halves, "divergent_tree");
  EXPECT_NE(source::print(slower.unit).find("% (2 * "), std::string::npos)
      << source::print(slower.unit);
  const auto shuffled = halves->apply(slower, "reduce_shuffle", {});
  ASSERT_TRUE(shuffled) << shuffled.error().message;
  EXPECT_EQ(halves->verdict(*shuffled), "correct");
  expect_kept(
      *tree("  for (int d = 1; d < 128; d *= 2) {\n    if (t % (2 * d) == 0) s[t] += s[t + d];\n"
            "    __syncthreads();\n  }\n"),
      "divergent_tree", "doubles already");
  expect_kept(*tree(halving, "assume: {reassociate: false}\n"), "divergent_tree", "reassociate");
}

TEST(InverseRewriter, WorksOnCandidatesAndRefusesOpaqueOnes) {
  const auto kernel = corpus_kernel("transpose/c_half_tuned");
  const rewrite::InverseRewriter rewriter(kernel->problem(), sm_90_limits());
  Candidate candidate = source::make_candidate(kernel->original().unit, kernel->original().plan);
  candidate.assumptions = {"some"};
  const auto slower = rewriter.apply(inverse("no_restrict"), candidate);
  ASSERT_TRUE(slower) << slower.error().message;
  EXPECT_EQ(slower->source.find("__restrict__"), std::string::npos);
  EXPECT_EQ(slower->assumptions, candidate.assumptions);
  EXPECT_NE(slower->identity, candidate.identity);
  candidate.form.reset();
  const auto refused = rewriter.apply(inverse("no_restrict"), candidate);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::refused);
}

}  // namespace
}  // namespace regraph::test::inverse_rewrites_test
