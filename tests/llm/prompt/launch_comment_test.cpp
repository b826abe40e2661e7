#include "llm/prompt/launch_comment.h"

#include <gtest/gtest.h>

namespace regraph::llm::launch_comment_test {
namespace {

TEST(LaunchComment, IsTakenOutOfTheCode) {
  std::string source =
      "// launch: {block: 64, grid: N}\nint x; /* launch:\n  block: 8\n*/ int y;\n";
  const auto plans = take_launch_comments(source, "");
  ASSERT_EQ(plans.size(), 2U);
  EXPECT_EQ(plans[0], " {block: 64, grid: N}");
  EXPECT_EQ(plans[1], "\n  block: 8\n");
  EXPECT_EQ(source, "\nint x;   int y;\n");
}

TEST(LaunchComment, DoesNotJoinWhatStandsAroundIt) {
  std::string source = "as/* launch: {block: 1, grid: 1} */m";
  EXPECT_EQ(take_launch_comments(source, "").size(), 1U);
  EXPECT_EQ(source, "as m");
}

TEST(LaunchComment, OtherCommentsAndTextStay) {
  const std::string original =
      "// launch: one block a row\nconst char* s = \"// launch: {block: 1}\";\n// a launch: {x}\n";
  std::string source = original;
  EXPECT_TRUE(take_launch_comments(source, "").empty());
  EXPECT_EQ(source, original);
}

TEST(LaunchComment, ThatOfTheBaseIsTheUsers) {
  const std::string original = "// launch: {block: 64, grid: N}\nint x;\n";
  std::string source = original;
  EXPECT_TRUE(take_launch_comments(source, "int y; // launch: {block: 64, grid: N}\n").empty());
  EXPECT_EQ(source, original);
  // A base that no compiler would take must not hang.
  EXPECT_EQ(take_launch_comments(source, "int y; /* launch: ").size(), 1U);
}

}  // namespace
}  // namespace regraph::llm::launch_comment_test
