// Inverse rewrites on kernels of the corpus: what they take away the step gives back, and what must
// not be taken is refused.
#include "base/files.h"
#include "rewrite/inverse/inverse_rewrite.h"
#include "rewrite/inverse_rewriter.h"
#include "rewrite/step_checks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace regraph::test {
namespace {

using rewrite::InverseRewrite;
using rewrite::KernelState;

const InverseRewrite& inverse(const std::string& id) {
  const auto& all = rewrite::inverse_rewrites();
  const auto found = std::ranges::find(all, id, &InverseRewrite::id);
  EXPECT_NE(found, all.end()) << id;
  return found == all.end() ? *all.front() : **found;
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

// The step makes the original of `slower` again, to the letter.
void expect_way_back(const KernelCase& kernel, const KernelState& slower, const Application& step) {
  const auto back = kernel.apply(slower, step.step, step.parameters);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(source::print(back->unit), source::print(kernel.original().unit));
  EXPECT_EQ(back->plan, kernel.original().plan);
}

TEST(InverseRewrites, AreNamedOnceAndAreNoSteps) {
  std::set<std::string> ids;
  for (const InverseRewrite* one : rewrite::inverse_rewrites()) {
    EXPECT_TRUE(ids.insert(one->id()).second) << one->id();
    EXPECT_EQ(rewrite::find_built_in_step(one->id()), nullptr) << one->id();
    EXPECT_NE(rewrite::find_built_in_step(one->undone_by()), nullptr) << one->undone_by();
    EXPECT_FALSE(one->taken_away().empty());
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
  expect_kept(*with(plain + " if (i < 0) t[0][threadIdx.x + 1] = 0.0f;"), "no_padding",
              "rows longer than it uses");
  expect_kept(*with(plain + " float* row = t[3]; if (i < 0) row[0] = 0.0f;"), "no_padding",
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
}  // namespace regraph::test
