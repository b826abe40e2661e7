// Kernels whose blocks are numbered by two things at once.
#include "rewrite/outer_blocks.h"

#include "rewrite/step_checks.h"

namespace regraph::test::outer_blocks_test {
namespace {

using rewrite::OuterBlocks;

// A kernel of rows whose blocks are images times `rows`; `body` has image and row.
std::unique_ptr<KernelCase> of_rows(const std::string& body,
                                    const std::string& grid = "images * rows",
                                    const std::string& more = "") {
  auto made = KernelCase::make(
      "__global__ void rows_of(const float* a, float* b, int rows, int n) {\n" + body + "}\n", R"~(
sizes: {images: 6, rows: 10, n: 300}
args:
  a: {dir: in, shape: [images, n]}
  b: {dir: )~" + std::string(more.empty() ? "out" : more) + R"~(, shape: [images, rows, n]}
launch: {block: 64, grid: ["cdiv(n, bx)", ")~" + grid + R"~("]}
tests: [{images: 3, rows: 5, n: 70}]
)~");
  EXPECT_TRUE(made.ok()) << made.error().message;
  return made.ok() ? std::move(*made) : nullptr;
}

constexpr const char* kRow = R"~(
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int image = blockIdx.y / rows;
  int row = blockIdx.y % rows;
  if (i < n) b[(image * rows + row) * n + i] = a[image * n + i] * row;
)~";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

TEST(OuterBlocks, StepsSeeOneImage) {
  const auto kernel = sample("image_filters");
  const auto outer = OuterBlocks::find(kernel->original());
  ASSERT_TRUE(outer);
  const std::string code = source::print(outer->inner().unit);
  const auto& parameters = outer->inner().unit.kernel.parameters;
  ASSERT_EQ(parameters.size(), 10U);
  EXPECT_EQ(parameters[8].name, "image");
  EXPECT_EQ(parameters[9].name, "images");
  expect_text(code, "int filter = blockIdx.z;");
  EXPECT_EQ(code.find("int image ="), std::string::npos) << code;
  EXPECT_EQ(outer->inner().plan.launches.front().grid[2].text(), "filters");
}

TEST(OuterBlocks, WhatIsPutBackIsWhatItWas) {
  const auto kernel = sample("image_filters");
  const auto outer = OuterBlocks::find(kernel->original());
  ASSERT_TRUE(outer);
  auto again = outer->put_back(outer->inner());
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->plan, kernel->original().plan);
  EXPECT_EQ(again->unit.kernel.parameters.size(), 8U);
  EXPECT_EQ(kernel->verdict(*again), "correct");
  EXPECT_TRUE(OuterBlocks::find(*again));
}

TEST(OuterBlocks, BlocksOfAnImageAreMerged) {
  const auto kernel = sample("image_filters");
  const auto state = expect_correct(
      *kernel, {{"thread_coarsen", {{"axis", "z"}, {"factor", "4"}}},
                {"thread_coarsen", {{"axis", "y"}, {"factor", "2"}, {"order", "contiguous"}}},
                {"window_tile", {{"depth", "2"}}}});
  const std::string code = source::print(state.unit);
  EXPECT_EQ(state.plan.launches.front().grid[2].text(), "images * cdiv(filters, 4)");
  expect_text(code, "image = blockIdx.z / ((filters + 3) / 4)");
  expect_text(code, "__shared__");
  // The number of images is that of the blocks.
  expect_text(code, "images = gridDim.z / ((filters + 3) / 4)");
  EXPECT_TRUE(OuterBlocks::find(state));
}

TEST(OuterBlocks, AConvolutionIsTiledAtAllLevels) {
  const auto state = expect_correct(
      *sample("image_filters"),
      {{"convolution", {{"block", "32x8"}, {"rows", "2"}, {"outputs", "8"}, {"depth", "4"}}}});
  EXPECT_EQ(state.plan.launches.front().grid[2].text(), "images * cdiv(filters, 8)");
}

// Not among the sample kernels: random sequences of it take minutes.
constexpr const char* kVolumes = R"~(
__global__ void filters(const float* in, const float* weights, float* out, int filters, int depth, int extent) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int image = blockIdx.z / (filters * (depth - 1));
  int filter = blockIdx.z / (depth - 1) % filters;
  int z = blockIdx.z % (depth - 1);
  if (y < extent - 2 && x < extent - 2) {
    float sum = 0.0f;
    for (int k = 0; k < 2; ++k) {
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
          sum += in[((image * depth + z + k) * extent + y + i) * extent + x + j] * weights[((filter * 2 + k) * 3 + i) * 3 + j];
        }
      }
    }
    out[(((image * filters + filter) * (depth - 1) + z) * (extent - 2) + y) * (extent - 2) + x] = sum;
  }
})~";
constexpr const char* kVolumesManifest = R"~(
sizes: {images: 3, filters: 8, depth: 9, extent: 66}
args:
  in: {dir: in, shape: [images, depth, extent, extent]}
  weights: {dir: in, shape: [filters, 2, 3, 3]}
  out: {dir: out, shape: [images, filters, depth - 1, extent - 2, extent - 2]}
launch: {block: [32, 8], grid: ["cdiv(extent - 2, bx)", "cdiv(extent - 2, by)", "images * filters * (depth - 1)"]}
tests: [{images: 2, filters: 3, depth: 5, extent: 21}, {images: 2, filters: 2, depth: 3, extent: 40}]
assume: {noalias: true, reassociate: true}
)~";

TEST(OuterBlocks, ThreeDigitsAreTakenApartInTurn) {
  const auto made = KernelCase::make(kVolumes, kVolumesManifest);
  ASSERT_TRUE(made.ok()) << made.error().message;
  const std::unique_ptr<KernelCase>& kernel = *made;
  const auto images = OuterBlocks::find(kernel->original());
  ASSERT_TRUE(images);
  expect_text(source::print(images->inner().unit), "int filter = blockIdx.z / (depth - 1);");
  const auto filters = OuterBlocks::find(images->inner());
  ASSERT_TRUE(filters);
  expect_text(source::print(filters->inner().unit), "int z = blockIdx.z;");
  EXPECT_EQ(filters->inner().unit.kernel.parameters.size(), 9U);
  const auto state = expect_correct(
      *kernel, {{"thread_coarsen", {{"axis", "y"}, {"factor", "4"}, {"order", "contiguous"}}},
                {"thread_coarsen", {{"axis", "z"}, {"factor", "2"}}},
                {"window_tile", {{"depth", "all"}}}});
  EXPECT_TRUE(OuterBlocks::find(state));
}

TEST(OuterBlocks, AStripOfChannelsIsStagedWhereTheirNumberIsConstant) {
  const auto kernel = sample("few_channels");
  for (const char* depth : {"2", "4"}) {
    const auto state =
        expect_correct(*kernel, {{"thread_coarsen", {{"axis", "z"}, {"factor", "8"}}},
                                 {"window_tile", {{"depth", depth}}}});
    expect_text(source::print(state.unit), std::string("channel0 < 6; channel0 += ") + depth);
  }
  expect_refusal(*kernel, {"window_tile", {{"depth", "8"}}}, "have constant lengths");
}

TEST(OuterBlocks, NamesAndNumbersInTheOtherSpellings) {
  for (const std::string& body :
       {std::string(kRow), replaced(kRow, "blockIdx.y", "(int)blockIdx.y"),
        "int block = blockIdx.y;" + replaced(kRow, "blockIdx.y", "block"),
        // No name for the image.
        replaced(replaced(kRow, "int image = blockIdx.y / rows;", ""), "image",
                 "(blockIdx.y / rows)"),
        replaced(kRow, "int image", "const long long image"),
        replaced(kRow, "int row", "unsigned row")}) {
    const auto kernel = of_rows(body);
    const auto outer = OuterBlocks::find(kernel->original());
    ASSERT_TRUE(outer) << body;
    auto again = outer->put_back(outer->inner());
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(kernel->verdict(*again), "correct");
    expect_correct(*kernel, {{"thread_coarsen", {{"axis", "y"}, {"factor", "4"}}}});
  }
  const auto number = of_rows(replaced(kRow, "rows;", "5;"), "images * 5");
  EXPECT_TRUE(OuterBlocks::find(number->original()));
}

TEST(OuterBlocks, IsNotForOthers) {
  const auto is_found = [](const std::unique_ptr<KernelCase>& kernel) {
    return OuterBlocks::find(kernel->original()).has_value();
  };
  // The block's number itself, another divisor, a grid of other extents, one that is rounded.
  EXPECT_FALSE(is_found(of_rows(replaced(kRow, "* row;", "* row + blockIdx.y;"))));
  EXPECT_FALSE(is_found(of_rows(replaced(kRow, "% rows", "% (rows - 1)"), "images * rows")));
  EXPECT_FALSE(is_found(of_rows(replaced(kRow, "/ rows", "/ (rows + 1)"))));
  EXPECT_FALSE(is_found(of_rows(kRow, "images * (rows + 1) - images")));
  EXPECT_FALSE(is_found(of_rows(replaced(kRow, "* row;", "* row + gridDim.y;"))));
  // Indices that are polynomials as they are.
  EXPECT_FALSE(is_found(of_rows(replaced(kRow, "a[image * n + i]", "1.0f"))));
  // Blocks of several images that add to one place: none may count on being alone.
  const std::string adds =
      replaced(kRow, "b[(image * rows + row) * n + i] = a[image * n + i] * row;",
               "atomicAdd(&b[row * n + i], a[image * n + i]);");
  EXPECT_FALSE(is_found(of_rows(adds, "images * rows", "inout")));
}

}  // namespace
}  // namespace regraph::test::outer_blocks_test
