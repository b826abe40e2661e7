#include "llm/prompt/prompt_template.h"

#include <gtest/gtest.h>

#include <array>

namespace regraph::llm::prompt_template_test {
namespace {

constexpr std::array<std::string_view, 3> kKnown = {"a", "b.c", "d"};

std::string rendered(std::string_view text, const PromptValues& values) {
  const auto parsed = PromptTemplate::parse(text, "p.yaml", 1, kKnown);
  return parsed ? parsed->render(values) : parsed.error().message;
}

std::string message(std::string_view text) {
  const auto parsed = PromptTemplate::parse(text, "p.yaml", 10, kKnown);
  if (parsed) return "accepted";
  EXPECT_EQ(parsed.error().code, ErrorCode::parse);
  return parsed.error().message;
}

TEST(PromptTemplate, PutsValuesIn) {
  EXPECT_EQ(rendered("x {{a}} y {{ b.c }}{{d}}.", {{"a", "1"}, {"b.c", "2"}}), "x 1 y 2.");
}

TEST(PromptTemplate, ValuesAreNotReadAgain) {
  EXPECT_EQ(rendered("{{a}}", {{"a", "{{d}} {{#a}}"}, {"d", "secret"}}), "{{d}} {{#a}}");
}

TEST(PromptTemplate, SingleBracesAreText) {
  EXPECT_EQ(rendered(R"({"a": {"b": {{a}}}})", {{"a", "1"}}), R"({"a": {"b": 1}})");
}

TEST(PromptTemplate, SectionsDependOnTheirValue) {
  constexpr std::string_view kText = "{{#a}}with {{a}}{{/a}}{{^a}}without{{/a}}!";
  EXPECT_EQ(rendered(kText, {{"a", "1"}}), "with 1!");
  EXPECT_EQ(rendered(kText, {}), "without!");
  EXPECT_EQ(rendered(kText, {{"a", ""}}), "without!");
}

TEST(PromptTemplate, LinesOfSectionTagsDisappear) {
  constexpr std::string_view kText =
      "1\n  {{#a}}  \n2\n{{#d}}{{^b.c}}\n3\n{{/b.c}}{{/d}}\n{{/a}}\n4\n";
  EXPECT_EQ(rendered(kText, {{"a", "x"}, {"d", "x"}}), "1\n2\n3\n4\n");
  EXPECT_EQ(rendered(kText, {{"a", "x"}}), "1\n2\n4\n");
  EXPECT_EQ(rendered(kText, {}), "1\n4\n");
  // A line with more than tags keeps its end.
  EXPECT_EQ(rendered("{{#a}}x{{/a}}\n{{d}}\n", {}), "\n\n");
}

TEST(PromptTemplate, ErrorsNameFileAndLine) {
  EXPECT_EQ(message("one\ntwo {{e}}\n"), "p.yaml:11: unknown placeholder 'e' (known: a, b.c, d)");
  EXPECT_EQ(message("{{}}"), "p.yaml:10: unknown placeholder '' (known: a, b.c, d)");
  EXPECT_EQ(message("\n\n{{a\n}}"), "p.yaml:12: '{{' is not closed on its line");
  EXPECT_EQ(message("{{#a}}\n\n"), "p.yaml:10: section 'a' is never closed");
  EXPECT_EQ(message("\n{{/a}}"), "p.yaml:11: section 'a' was never opened");
  EXPECT_EQ(message("{{#a}}\n{{#d}}\n{{/a}}\n{{/d}}"),
            "p.yaml:12: section 'a' is closed where 'd' is open since line 11");
}

TEST(PromptTemplate, NestingIsBounded) {
  std::string text;
  for (int depth = 0; depth < 9; ++depth)
    text += "{{#a}}";
  EXPECT_EQ(message(text), "p.yaml:10: more than 8 sections in each other");
}

TEST(PromptTemplate, KnowsWhatItUses) {
  const auto parsed = PromptTemplate::parse("{{#a}}{{b.c}}{{/a}}", "p.yaml", 1, kKnown);
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(parsed->uses("b.c"));
  EXPECT_FALSE(parsed->uses("a"));  // a section only
}

}  // namespace
}  // namespace regraph::llm::prompt_template_test
