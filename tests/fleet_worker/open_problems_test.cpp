#include "fleet_worker/open_problems.h"

#include <gtest/gtest.h>

namespace regraph::fleet::open_problems_test {
namespace {

Hash128 id(int number) {
  return hash_text(std::to_string(number));
}

void add(OpenProblems<int>& open, int number, std::uint64_t gpu_bytes) {
  EXPECT_EQ(*open.add(id(number), std::make_unique<int>(number), gpu_bytes), number);
}

TEST(OpenProblems, ThoseUsedLastStay) {
  OpenProblems<int> open(3, 100);
  for (int number = 1; number <= 3; ++number)
    add(open, number, 0);
  ASSERT_NE(open.find(id(1)), nullptr);
  EXPECT_EQ(*open.find(id(1)), 1);
  add(open, 4, 0);
  EXPECT_EQ(open.find(id(2)), nullptr);
  EXPECT_NE(open.find(id(1)), nullptr);
  EXPECT_NE(open.find(id(3)), nullptr);
}

TEST(OpenProblems, MeasuredOnesShareTheRoom) {
  OpenProblems<int> open(8, 100);
  add(open, 1, 30);
  add(open, 2, 30);
  add(open, 3, 0);
  open.expect_another();
  // Half of it: the older one goes.
  EXPECT_EQ(open.find(id(1)), nullptr);
  EXPECT_NE(open.find(id(2)), nullptr);
  add(open, 4, 60);
  EXPECT_NE(open.find(id(2)), nullptr);
  add(open, 5, 90);
  EXPECT_EQ(open.find(id(4)), nullptr);
  EXPECT_EQ(open.find(id(2)), nullptr);
  EXPECT_NE(open.find(id(3)), nullptr) << "what is predicted needs no room there";
}

TEST(OpenProblems, OneMayBeLargerThanTheRoom) {
  OpenProblems<int> open(8, 100);
  add(open, 1, 1);
  add(open, 2, 1000);
  EXPECT_EQ(open.find(id(1)), nullptr);
  EXPECT_NE(open.find(id(2)), nullptr);
  open.expect_another();
  EXPECT_EQ(open.size(), 0U);
}

TEST(OpenProblems, TheMeasuredOnesCanBeClosed) {
  OpenProblems<int> open(8, 100);
  add(open, 1, 0);
  EXPECT_FALSE(open.close_measured());
  add(open, 2, 30);
  EXPECT_TRUE(open.close_measured());
  EXPECT_NE(open.find(id(1)), nullptr);
  EXPECT_EQ(open.find(id(2)), nullptr);
}

}  // namespace
}  // namespace regraph::fleet::open_problems_test
