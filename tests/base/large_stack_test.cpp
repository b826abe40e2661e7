#include "base/large_stack.h"

#include <gtest/gtest.h>

namespace regraph::large_stack_test {
namespace {

int depth_reached(int levels) {
  volatile char frame[1024] = {};
  frame[levels % 1024] = 1;
  return levels == 0 ? 0 : depth_reached(levels - 1) + frame[levels % 1024];
}

TEST(LargeStack, HoldsWhatAnOrdinaryOneDoesNot) {
  int reached = 0;
  run_on_large_stack(std::size_t{256} << 20, [&] { reached = depth_reached(100'000); });
  EXPECT_EQ(reached, 100'000);
}

TEST(LargeStack, DoesWithoutWhereNoneCanBeHad) {
  int calls = 0;
  run_on_large_stack(1, [&] { ++calls; });  // less than any thread may have
  run_on_large_stack(std::size_t{1} << 60, [&] { ++calls; });
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace regraph::large_stack_test
