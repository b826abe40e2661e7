#include "sass/loop_entries.h"

#include <gtest/gtest.h>

namespace regraph::sass::loop_entries_test {
namespace {

using Kind = ptx::FlowEffect::Kind;

TEST(LoopEntries, AreThePassesThatComeFromOutside) {
  // 0; 1: outer loop's head; 2: inner loop, branches to itself; 3: branches to 1; 4: exit.
  const ptx::ControlFlow flow = ptx::analyse_control_flow(
      {{}, {}, {Kind::branch, true, {2}}, {Kind::branch, true, {1}}, {Kind::exit, false, {}}}, {0});
  ASSERT_EQ(flow.loops.size(), 2u);
  // Entered twice by each warp, 5 rounds each time; in each of those the inner one goes round 8
  // times.
  std::vector<double> executions(flow.blocks.size(), 0.0);
  const double times[] = {2.0, 10.0, 80.0, 10.0, 2.0};
  for (std::uint32_t i = 0; i < 5; ++i)
    executions[flow.block_of[i]] = times[i];
  const std::vector<double> shares = entered_shares(flow, executions);
  for (std::size_t loop = 0; loop < 2; ++loop) {
    const bool inner = flow.loops[loop].parent >= 0;
    EXPECT_DOUBLE_EQ(shares[loop], inner ? 10.0 / 80.0 : 2.0 / 10.0);
  }
  // Loops that never ran.
  for (const double share : entered_shares(flow, std::vector<double>(flow.blocks.size(), 0.0)))
    EXPECT_EQ(share, 0.0);
}

}  // namespace
}  // namespace regraph::sass::loop_entries_test
