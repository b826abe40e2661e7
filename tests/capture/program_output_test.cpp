#include "capture/problem/program_output.h"

#include <gtest/gtest.h>

namespace regraph::capture::program_output_test {
namespace {

TEST(ProgramOutput, EqualTextsDoNotDiffer) {
  EXPECT_EQ(difference_of_outputs("a 1\nb 2\n", "a 1\nb 2\n", "a 1\nb 2\n"), "");
}

TEST(ProgramOutput, TimesThatDifferAnywayAreNotCompared) {
  EXPECT_EQ(
      difference_of_outputs("sum 3\ntook 1.5 s\n", "sum 3\ntook 1.7 s\n", "sum 3\ntook 9.9 s\n"),
      "");
  EXPECT_EQ(
      difference_of_outputs("sum 3\ntook 1.5 s\n", "sum 3\ntook 1.7 s\n", "sum 4\ntook 1.5 s\n"),
      "line 1 differs");
}

TEST(ProgramOutput, FractionsMayRoundAndIntegersMayNot) {
  EXPECT_EQ(difference_of_outputs("x 1.00000", "x 1.00000", "x 1.00001"), "");
  EXPECT_EQ(difference_of_outputs("x 1.00000", "x 1.00000", "x 1.01"), "line 1 differs");
  EXPECT_EQ(difference_of_outputs("x 1000000", "x 1000000", "x 1000001"), "line 1 differs");
  EXPECT_EQ(difference_of_outputs("x 1.0", "x 1.0", "x -1.0"), "line 1 differs");
  EXPECT_EQ(difference_of_outputs("PASS", "PASS", "FAIL"), "line 1 differs");
}

// Its words are the user's.
TEST(ProgramOutput, SaysWhereAndNotWhat) {
  EXPECT_EQ(difference_of_outputs("a\nsecret 5\n", "a\nsecret 5\n", "a\nother 6\n"),
            "line 2 differs");
  EXPECT_EQ(difference_of_outputs("a\nb\n", "a\nb\n", "a\n"), "1 lines instead of 2");
}

}  // namespace
}  // namespace regraph::capture::program_output_test
