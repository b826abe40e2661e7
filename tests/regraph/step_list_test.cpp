#include "regraph/step_list.h"

#include <gtest/gtest.h>

namespace regraph::step_list_test {
namespace {

TEST(StepList, ReadsStepsOneAfterAnother) {
  const auto steps = parse_step_list(
      "coalesce_swap; thread_coarsen(axis=y, factor=8)\n\tsmem_tile( depth = 16 ,loop=1 ) ;");
  ASSERT_TRUE(steps.ok()) << steps.error().message;
  ASSERT_EQ(steps->size(), 3U);
  EXPECT_EQ((*steps)[0].step, "coalesce_swap");
  EXPECT_TRUE((*steps)[0].parameters.empty());
  EXPECT_EQ((*steps)[1].parameters, (StepParameters{{"axis", "y"}, {"factor", "8"}}));
  EXPECT_EQ((*steps)[2].text(), "smem_tile(depth=16, loop=1)");
}

TEST(StepList, ReadsWhatAProposalWrites) {
  StepProposal step;
  step.step = "contraction";
  step.parameters = {{"block", "16x16"}, {"depth", "-0.5"}, {"outputs", "8x8"}};
  for (const std::string& text :
       {step.text(), std::string("fast_math"), std::string("double_buffer()")}) {
    const auto read = parse_step_list(text);
    ASSERT_TRUE(read.ok()) << read.error().message;
    ASSERT_EQ(read->size(), 1U);
    EXPECT_EQ((*read)[0].text() + (text.ends_with("()") ? "()" : ""), text);
  }
}

TEST(StepList, NothingIsNoStep) {
  for (const char* text : {"", " ", ";;\n;", "# nothing", "# one; two\n", "\r\n"}) {
    const auto steps = parse_step_list(text);
    ASSERT_TRUE(steps.ok()) << text;
    EXPECT_TRUE(steps->empty()) << text;
  }
}

// Semicolons in a comment separate nothing.
TEST(StepList, CommentsGoOnToTheEndOfTheirLine) {
  const auto steps = parse_step_list(
      "# first: coalesce_swap; smem_pad\nwindow(rows=4) # not smem_halo; fast_math\nrestrict_ldg;# "
      "end");
  ASSERT_TRUE(steps.ok()) << steps.error().message;
  ASSERT_EQ(steps->size(), 2U);
  EXPECT_EQ((*steps)[0].text(), "window(rows=4)");
  EXPECT_EQ((*steps)[1].text(), "restrict_ldg");
}

TEST(StepList, SaysWhichEntryIsNoStep) {
  for (const char* entry :
       {"smem pad", "(a=1)", "smem_pad(", "smem_pad)", "smem_pad(pad)", "smem_pad(pad=)",
        "smem_pad(=1)", "smem_pad(pad=1", "smem_pad(pad=1) x", "smem_pad(pad=1))",
        "smem_pad(pad=1,)", "smem_pad(,)", "smem_pad(pad=1, pad=2)", "smem_pad(pad=1=2)",
        "smem_pad(pad=(1))", "a,b"}) {
    const auto steps = parse_step_list(std::string("restrict_ldg; ") + entry + "; fast_math");
    ASSERT_FALSE(steps.ok()) << entry;
    EXPECT_EQ(steps.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(steps.error().message.find('\'' + std::string(entry) + '\''), std::string::npos)
        << steps.error().message;
  }
}

}  // namespace
}  // namespace regraph::step_list_test
