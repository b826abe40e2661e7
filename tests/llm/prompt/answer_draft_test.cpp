#include "llm/prompt/answer_draft.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace regraph::llm::answer_draft_test {
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

constexpr const char* kEdit = "<<<<<<< SEARCH\nint x;\n=======\nint y;\n>>>>>>> REPLACE\n";

TEST(AnswerDraft, ReadsEditsInAnyBlockOrNone) {
  for (const char* frame : {"{}", "A.\n{}B.\n", "```cuda\n{}```", "```\n{}```\n",
                            "```diff\nkernel.cu\n{}```", "```json\n{}```\n"}) {
    const std::string answer = fmt::format(fmt::runtime(frame), kEdit);
    const auto draft = draft_of(answer, "k");
    ASSERT_TRUE(draft) << draft.error().message;
    EXPECT_EQ(draft->code, "");
    ASSERT_EQ(draft->edits.size(), 1U) << answer;
    EXPECT_EQ(draft->edits[0].search, "int x;\n");
    EXPECT_EQ(draft->edits[0].replace, "int y;\n");
  }
}

TEST(AnswerDraft, ALaunchMayStandBesideEdits) {
  const std::string answer = "A.\n```cuda\n" + std::string(kEdit) + "```\nB.\n```cuda\n" + kEdit +
                             "```\n```json\n" + kLaunch + "\n```\n";
  const auto draft = draft_of(answer, "k");
  ASSERT_TRUE(draft) << draft.error().message;
  EXPECT_EQ(draft->edits.size(), 2U);
  EXPECT_EQ(draft->launch->block.x, 64U);
  EXPECT_EQ(draft->notes, "A.\nB.\n");
}

TEST(AnswerDraft, ReadsEditsInAnObject) {
  const auto draft = draft_of(
      R"({"code": "```\n<<<<<<< SEARCH\nint x;\n=======\n>>>>>>> REPLACE\n```", "notes": "n"})",
      "k");
  ASSERT_TRUE(draft) << draft.error().message;
  ASSERT_EQ(draft->edits.size(), 1U);
  EXPECT_EQ(draft->edits[0].replace, "");
  EXPECT_EQ(draft->notes, "n");
}

TEST(AnswerDraft, EditsAndAKernelAreTooMuch) {
  const std::string kernel = "__global__ void other(int n) {}\n";
  const std::string reason =
      "the answer holds search-and-replace blocks and a whole kernel; give one of them";
  EXPECT_EQ(draft_of("```\n" + kernel + "```\n" + kEdit, "k").error().message, reason);
  EXPECT_EQ(draft_of("```\n" + kernel + kEdit + "```\n", "k").error().message, reason);
  EXPECT_EQ(draft_of(std::string(kEdit) + "```json\n{\"code\": \"x\"}\n```\n", "k").error().message,
            reason);
  EXPECT_EQ(draft_of(R"({"code": "<<<<<<< SEARCH\nint x;\n=======\n>>>>>>> REPLACE\n)"
                     R"(__global__ void k() {}\n"})",
                     "k")
                .error()
                .message,
            reason);
  // Lines that are quoted beside the edits are no kernel.
  EXPECT_TRUE(draft_of("The line\n```\nint x;\n```\nbecomes\n" + std::string(kEdit), "k"));
}

TEST(AnswerDraft, ReadsDeclines) {
  for (const char* answer :
       {"It cannot gain.\n\n**DECLINE:** no reuse", "```\nDECLINE: no reuse\n```\n",
        R"({"declined": "no reuse"})", "```json\n{\"decline\": \"no reuse\"}\n```\n",
        R"({"code": null, "declined": "no reuse"})",
        "```json\n{\"code\": null, \"declined\": \"no reuse\"}\n```\n"}) {
    const auto draft = draft_of(answer, "k");
    ASSERT_TRUE(draft) << draft.error().message;
    EXPECT_EQ(draft->declined, "no reuse") << answer;
    EXPECT_EQ(draft->code, "");
  }
  EXPECT_FALSE(draft_of(R"({"declined": false})", "k"));
}

TEST(AnswerDraft, CodeBesideADeclineIsKept) {
  const auto draft = draft_of("DECLINE: no reuse\n\n```\nint x;\n```\n", "k");
  ASSERT_TRUE(draft) << draft.error().message;
  EXPECT_EQ(draft->code, "int x;\n");
  EXPECT_EQ(draft->declined, "no reuse");
}

}  // namespace
}  // namespace regraph::llm::answer_draft_test
