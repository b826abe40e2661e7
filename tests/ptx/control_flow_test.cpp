#include "ptx/decode/control_flow.h"

#include <gtest/gtest.h>

namespace regraph::ptx::control_flow_test {
namespace {

FlowEffect branch(std::uint32_t target, bool conditional = true) {
  return {FlowEffect::Kind::branch, conditional, {target}};
}

TEST(ControlFlow, StraightCodeHasNoLoop) {
  const ControlFlow flow = analyse_control_flow({{}, {}, {FlowEffect::Kind::exit, false, {}}}, {0});
  ASSERT_EQ(flow.blocks.size(), 1u);
  EXPECT_TRUE(flow.loops.empty());
  EXPECT_EQ(flow.blocks[0].loop, -1);
  EXPECT_TRUE(flow.inside(-1, -1));
}

// 0: before  1: outer header  2: inner (to itself)  3: outer latch, to 1  4: another loop  5: exit
TEST(ControlFlow, LoopsKnowWhatIsAroundThem) {
  const ControlFlow flow = analyse_control_flow(
      {{}, {}, branch(2), branch(1), branch(4), {FlowEffect::Kind::exit, false, {}}}, {0});
  ASSERT_EQ(flow.loops.size(), 3u);
  const auto loop_at = [&](std::uint32_t instruction) {
    return flow.blocks[flow.block_of[instruction]].loop;
  };
  const auto depth_at = [&](std::uint32_t instruction) {
    return flow.blocks[flow.block_of[instruction]].loop_depth;
  };
  const std::int32_t outer = loop_at(1);
  const std::int32_t inner = loop_at(2);
  const std::int32_t later = loop_at(4);
  EXPECT_EQ(loop_at(0), -1);
  EXPECT_EQ(loop_at(3), outer);
  EXPECT_EQ(loop_at(5), -1);
  EXPECT_EQ(flow.loops[static_cast<std::size_t>(inner)].parent, outer);
  EXPECT_EQ(flow.loops[static_cast<std::size_t>(outer)].parent, -1);
  EXPECT_EQ(flow.loops[static_cast<std::size_t>(later)].parent, -1);
  EXPECT_EQ(flow.loops[static_cast<std::size_t>(inner)].header, flow.block_of[2]);
  EXPECT_TRUE(flow.inside(inner, outer));
  EXPECT_TRUE(flow.inside(inner, inner));
  EXPECT_TRUE(flow.inside(inner, -1));
  EXPECT_FALSE(flow.inside(outer, inner));
  EXPECT_FALSE(flow.inside(later, outer));
  EXPECT_FALSE(flow.inside(-1, outer));
  EXPECT_EQ(depth_at(2), 2);
  EXPECT_EQ(depth_at(3), 1);
  EXPECT_EQ(depth_at(4), 1);
}

// Two back edges to one header are one loop.
TEST(ControlFlow, AHeaderIsOneLoop) {
  const ControlFlow flow =
      analyse_control_flow({{}, branch(1), branch(1), {FlowEffect::Kind::exit, false, {}}}, {0});
  EXPECT_EQ(flow.loops.size(), 1u);
  EXPECT_EQ(flow.blocks[flow.block_of[2]].loop, 0);
}

}  // namespace
}  // namespace regraph::ptx::control_flow_test
