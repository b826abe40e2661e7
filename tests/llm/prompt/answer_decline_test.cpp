#include "llm/prompt/answer_decline.h"

#include "base/utf8.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regraph::llm::answer_decline_test {
namespace {

TEST(AnswerDecline, ReadsALine) {
  EXPECT_EQ(decline_in("DECLINE: each element is read once"), "each element is read once");
  EXPECT_EQ(decline_in("I looked at it.\n\ndecline : no reuse\n"), "no reuse");
  EXPECT_EQ(decline_in("Declined: no reuse"), "no reuse");
}

TEST(AnswerDecline, ReadsMarks) {
  for (const char* text :
       {"**DECLINE:** no reuse", "**DECLINE**: no reuse", "**DECLINE: no reuse**",
        "- DECLINE: no reuse", "* __Decline:__ no reuse", "## DECLINE: no reuse",
        "> DECLINE: *no reuse*", "  DECLINE:no reuse  \r\n"})
    EXPECT_EQ(decline_in(text), "no reuse") << text;
}

TEST(AnswerDecline, TheReasonEndsWithItsParagraph) {
  EXPECT_EQ(decline_in("DECLINE: each element\n  is read once.\n \nBut who knows."),
            "each element is read once.");
  EXPECT_EQ(decline_in("DECLINE:\neach element\r\n\r\nNo."), "each element");
  EXPECT_EQ(decline_in("DECLINE: one\n\nDECLINE: two"), "one");
}

TEST(AnswerDecline, IsNoOtherWord) {
  for (const char* text : {"", "I decline: no", "DECLINE", "DECLINE no reuse", "DECLINING: no",
                           "performance will decline: a lot", "DECLINEDLY: no"})
    EXPECT_FALSE(decline_in(text)) << text;
}

TEST(AnswerDecline, AReasonIsOneCleanShortLine) {
  EXPECT_EQ(decline_in("DECLINE:"), "no reason given");
  EXPECT_EQ(decline_in("**DECLINE:** **"), "no reason given");
  EXPECT_EQ(decline_reason("\x01\x02"), "no reason given");
  EXPECT_EQ(decline_reason(" a\t\x1b b\n c "), "a b c");
  std::string umlauts;
  for (int count = 0; count < 400; ++count)
    umlauts += "\xc3\xbc";
  const std::string reason = decline_reason(umlauts);
  EXPECT_LE(reason.size(), 300U);
  EXPECT_TRUE(reason.ends_with("..."));
  EXPECT_FALSE(find_invalid_utf8(reason));
}

TEST(AnswerDecline, ReadsObjects) {
  const auto of = [](const char* text) { return decline_of_object(nlohmann::json::parse(text)); };
  EXPECT_EQ(of(R"({"declined": "no reuse"})"), "no reuse");
  EXPECT_EQ(of(R"({"decline": "no\nreuse", "launch": null})"), "no reuse");
  EXPECT_EQ(of(R"({"declined": true})"), "no reason given");
  EXPECT_EQ(of(R"({"declined": ""})"), "no reason given");
  EXPECT_FALSE(of(R"({"declined": false})"));
  EXPECT_FALSE(of(R"({"declined": null})"));
  EXPECT_FALSE(of(R"({"code": "x"})"));
}

TEST(AnswerDecline, TellsWhetherATextOnlyDeclines) {
  EXPECT_TRUE(only_declines("\n DECLINE: no\nreuse\n\n"));
  EXPECT_FALSE(only_declines("DECLINE: no\n\nint x;\n"));
  EXPECT_FALSE(only_declines("int x;\nDECLINE: no\n"));
  EXPECT_FALSE(only_declines(""));
}

}  // namespace
}  // namespace regraph::llm::answer_decline_test
