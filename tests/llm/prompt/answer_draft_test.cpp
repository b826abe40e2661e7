#include "llm/prompt/answer_draft.h"

#include <gtest/gtest.h>

namespace regraph::llm {
namespace {

constexpr const char* kLaunch = R"({"block": 64, "grid": 1})";

TEST(AnswerDraft, TellsCodeFromLaunchInUnlabelledBlocks) {
  const auto draft =
      draft_of(std::string("A.\n```\nint x;\n```\nB.\n```\n") + kLaunch + "\n```\n", "k");
  ASSERT_TRUE(draft) << draft.error().message;
  EXPECT_EQ(draft->code, "int x;\n");
  EXPECT_EQ(draft->launch->block.x, 64U);
  EXPECT_EQ(draft->notes, "A.\nB.\n");
}

TEST(AnswerDraft, EqualLaunchesAreOne) {
  AnswerDraft draft;
  EXPECT_TRUE(draft.add_launch(kLaunch));
  EXPECT_TRUE(draft.add_launch("block: [64]\ngrid: [1]\n"));
  EXPECT_EQ(draft.add_launch("block: 32\ngrid: 1\n").error().message,
            "the answer holds two different launch plans; give one");
}

TEST(AnswerDraft, AnObjectAndBlocksAreTooMuch) {
  const std::string object = "```json\n{\"code\": \"int x;\"}\n```\n";
  EXPECT_TRUE(draft_of(object, "k"));
  EXPECT_TRUE(draft_of(object + object, "k"));
  EXPECT_EQ(draft_of(object + "```cuda\nint y;\n```\n", "k").error().message,
            "the answer holds an object with code and other blocks; give one of them");
  EXPECT_EQ(draft_of(object + "```json\n{\"code\": \"int z;\"}\n```\n", "k").error().message,
            "the answer holds several objects with code; give one");
}

TEST(AnswerDraft, TheKernelChoosesAmongBlocks) {
  const std::string wanted = "__global__ void k(int n) {}\n";
  const std::string other = "__global__ void other(int n) {}\n";
  const auto draft = draft_of("```\n" + other + "```\n```\n" + wanted + "```\n", "k");
  ASSERT_TRUE(draft) << draft.error().message;
  EXPECT_EQ(draft->code, wanted);
  // A mention is no definition.
  EXPECT_FALSE(draft_of("```\n// __global__ void k(int n) {}\n```\n```\n" + other + "```\n", "k"));
}

TEST(AnswerDraft, ObjectsMustHaveTheRightMembers) {
  EXPECT_EQ(draft_of(R"({"code": 7})", "k").error().message, "'code' must be text");
  EXPECT_EQ(draft_of(R"({"code": "x", "launch": 7})", "k").error().message,
            "'launch' must be an object with block, grid and smem");
  EXPECT_EQ(draft_of(R"({"code": "```\nx\n```\n```\ny\n```"})", "k").error().message,
            "'code' holds several blocks; give one");
  EXPECT_TRUE(draft_of(R"({"code": "x", "why": "ignored"})", "k"));
}

}  // namespace
}  // namespace regraph::llm
