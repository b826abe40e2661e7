#include "eval/verify/warp_order.h"

#include "base/random.h"

#include <gtest/gtest.h>

namespace regraph::verify::warp_order_test {
namespace {

TEST(WarpOrder, FlipsTheBitsAboveTheLane) {
  EXPECT_EQ(with_reversed_warps("\tmov.u32 \t%r3, %tid.x;\n\tret;\n", {256, 1, 1}),
            "\tmov.u32 \t%r3, %tid.x;\n\txor.b32 \t%r3, %r3, 224;\n\tret;\n");
  // 16 x 16: a warp is two rows, so the lowest bit of y belongs to the lane.
  EXPECT_EQ(with_reversed_warps("mov.u32 %a, %tid.x;\nmov.u32 %b, %tid.y;\n", {16, 16, 1}),
            "mov.u32 %a, %tid.x;\nmov.u32 %b, %tid.y;\n\txor.b32 \t%b, %b, 14;\n");
  EXPECT_EQ(with_reversed_warps("mov.u32 %c, %tid.z;\n", {8, 2, 8}),
            "mov.u32 %c, %tid.z;\n\txor.b32 \t%c, %c, 6;\n");
}

// A warp's place in its group decides which rows it multiplies, whatever %tid says.
TEST(WarpOrder, KeepsTheWarpsOfAWarpgroup) {
  const std::string ptx =
      "mov.u32 %a, %tid.x;\nwgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 ...\n";
  const auto reversed = with_reversed_warps(ptx, {512, 1, 1});
  ASSERT_TRUE(reversed.has_value());
  EXPECT_NE(reversed->find("xor.b32 \t%a, %a, 384;"), std::string::npos) << *reversed;
  EXPECT_FALSE(with_reversed_warps(ptx, {128, 1, 1}).has_value());
}

TEST(WarpOrder, LeavesOutWhatItCannotRenumber) {
  EXPECT_FALSE(with_reversed_warps("mov.u32 %a, %tid.x;\n", {96, 1, 1}).has_value());
  EXPECT_FALSE(with_reversed_warps("mov.u32 %a, %tid.x;\n", {32, 1, 1}).has_value());
  EXPECT_FALSE(with_reversed_warps("@%p1 mov.u32 %a, %tid.x;\n", {64, 1, 1}).has_value());
  EXPECT_FALSE(with_reversed_warps("mov.v4.u32 %a, %tid;\n", {64, 1, 1}).has_value());
  EXPECT_FALSE(with_reversed_warps("add.u32 %a, %tid.x, 1;\n", {64, 1, 1}).has_value());
}

TEST(WarpOrder, SurvivesGarbage) {
  const std::string original = "\tmov.u32 \t%r3, %tid.x;\n\tmov.u32 \t%r4, %tid.y;\n";
  for (std::uint64_t round = 0; round < 5000; ++round) {
    std::string text = original.substr(0, random_bits(round, 1) % (original.size() + 1));
    for (std::uint64_t edit = 0; edit < round % 4 && !text.empty(); ++edit) {
      text[random_bits(round, edit, 2) % text.size()] =
          static_cast<char>(random_bits(round, edit, 3));
    }
    (void)with_reversed_warps(text, {16, 16, 1});
  }
}

}  // namespace
}  // namespace regraph::verify::warp_order_test
