#include "triton_expander/dot_tiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace regraph::triton::dot_tiles_test {
namespace {

KernelText product(const std::string& type = "fp16") {
  const std::string pointer = "\"*" + type + "\"";
  const auto text =
      parse_kernel_text("# regraph-triton:\n#   kernel: product\n#   signature: {a: " + pointer +
                        ", b: " + pointer + ", c: " + pointer +
                        ", M: i32, N: i32, K: i32}\n"
                        R"text(#   constants: {BM: 32, BN: 32, BK: 32}
#   grid: ["cdiv(M, BM)", "cdiv(N, BN)"]

import triton
import triton.language as tl

@triton.jit
def product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        total += tl.dot(x, y)
)text");
  EXPECT_TRUE(text.ok()) << (text.ok() ? "" : text.error().message);
  return *text;
}

TEST(DotTiles, AreFoundInTheAccumulatorAndTheLoop) {
  const auto tile = dot_tile_of(product());
  ASSERT_TRUE(tile.has_value());
  EXPECT_EQ(tile->rows, "BM");
  EXPECT_EQ(tile->columns, "BN");
  EXPECT_EQ(tile->depth, "BK");
}

TEST(DotTiles, NeedAProductWhoseExtentsFollow) {
  KernelText text = product();
  text.module.replace(text.module.find("tl.dot"), 6, "tl.sum");
  EXPECT_FALSE(dot_tile_of(text).has_value());
  text = product();
  text.grid[1] = "cdiv(N, 32)";  // nothing makes up for another BN
  EXPECT_FALSE(dot_tile_of(text).has_value());
  EXPECT_TRUE(dot_tile_proposals(text).empty());
  text = product();
  text.module.replace(text.module.find("K, BK)"), 6, "K, 32)");
  EXPECT_FALSE(dot_tile_of(text).has_value());
}

TEST(DotTiles, AreProposedAsAWholeAndFitSharedMemory) {
  const KernelText text = product();
  const auto proposals = dot_tile_proposals(text);
  ASSERT_FALSE(proposals.empty());
  for (const StepProposal& one : proposals) {
    const auto changed = with_dot_tile(text, one);
    ASSERT_TRUE(changed.ok()) << one.text();
    const auto of = [&](const char* name) { return std::stoi(changed->constants.at(name)); };
    EXPECT_EQ(of("BK"), 64);
    EXPECT_LE((of("BM") + of("BN")) * of("BK") * 2 * changed->stages, 227 * 1024) << one.text();
    // What a kernel has is not proposed to it.
    const auto next = dot_tile_proposals(*changed);
    EXPECT_TRUE(std::ranges::none_of(
        next, [&](const StepProposal& other) { return other.text() == one.text(); }));
  }
  const auto of_floats = dot_tile_proposals(product("fp32"));
  ASSERT_FALSE(of_floats.empty());
  EXPECT_TRUE(of_floats.front().parameters.at("tile").ends_with("x32"));
}

TEST(DotTiles, RefuseWhatIsNoTile) {
  StepProposal proposal;
  proposal.step = "dot_tile";
  proposal.parameters = {{"tile", "128x64"}, {"warps", "8"}, {"stages", "3"}};
  EXPECT_FALSE(with_dot_tile(product(), proposal).ok());
  proposal.parameters["tile"] = "100000x64x64";
  proposal.parameters["warps"] = "64";  // more than 1024 threads
  const auto changed = with_dot_tile(product(), proposal);
  EXPECT_TRUE(!changed.ok() || !changed->launch(0).ok());
}

}  // namespace
}  // namespace regraph::triton::dot_tiles_test
