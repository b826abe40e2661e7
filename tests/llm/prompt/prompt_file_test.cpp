#include "llm/prompt/prompt_file.h"

#include <gtest/gtest.h>

namespace regraph::llm::prompt_file_test {
namespace {

const std::string kApply =
    "format: regraph-prompt/1\n"
    "kind: apply\n"
    "id: test\n"
    "version: 3\n"
    "system: |\n"
    "  You rewrite {{kernel.name}}.\n"
    "user: |\n"
    "  {{step.instruction}}\n"
    "  {{candidate.source}}\n";

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string message(const std::string& text) {
  const auto file = parse_prompt(text, "p.yaml");
  if (file) return "accepted";
  EXPECT_EQ(file.error().code, ErrorCode::parse);
  return file.error().message;
}

TEST(PromptFile, ReadsAPrompt) {
  const auto file = parse_prompt(kApply, "p.yaml");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->kind, PromptKind::apply);
  EXPECT_EQ(file->id, "test");
  EXPECT_EQ(file->version, 3);
  EXPECT_EQ(file->system.render({{"kernel.name", "f"}}), "You rewrite f.\n");
  EXPECT_FALSE(file->schema);
}

TEST(PromptFile, ErrorsNameFileAndLine) {
  EXPECT_EQ(message(with(kApply, "regraph-prompt/1", "regraph-prompt/3")),
            "p.yaml:1: unknown format, this version reads 'regraph-prompt/1' and "
            "'regraph-prompt/2'");
  EXPECT_EQ(message(with(kApply, "regraph-prompt/1", "regraph-prompt/2")),
            "p.yaml:5: 'system' belongs to the prompt of the kind 'common'");
  EXPECT_EQ(message(with(kApply, "kind: apply", "kind: apples")),
            "p.yaml:2: unknown kind 'apples' (known: apply, propose, judge_correction, "
            "judge_optimisation, repair, common, leap, combine, together)");
  EXPECT_EQ(message(with(kApply, "version: 3", "version: 0")),
            "p.yaml:4: version must be a number of at least 1");
  EXPECT_EQ(message(with(kApply, "id: test", "name: test")), "p.yaml:3: unknown key 'name'");
  EXPECT_EQ(message(kApply + "id: twice\n"), "p.yaml:10: 'id' is given twice");
  EXPECT_EQ(message(with(kApply, "id: test\n", "")), "p.yaml:1: missing key 'id'");
  EXPECT_NE(message("a: [b").find("p.yaml:1: "), std::string::npos);
  EXPECT_EQ(message("format: \xff"), "p.yaml:1: this is not UTF-8 text");
  EXPECT_EQ(message(""), "p.yaml:1: a prompt must be a mapping");
}

TEST(PromptFile, UnknownPlaceholdersAreErrorsWithTheirLine) {
  const std::string wrong = message(with(kApply, "{{candidate.source}}", "{{candidate.sauce}}"));
  EXPECT_EQ(wrong.substr(0, wrong.find(" (")), "p.yaml:9: unknown placeholder 'candidate.sauce'");
  // Known, but of another kind.
  const std::string other = message(with(kApply, "{{step.instruction}}", "{{catalogue}}"));
  EXPECT_EQ(other.substr(0, other.find(" (")), "p.yaml:8: unknown placeholder 'catalogue'");
}

TEST(PromptFile, WhatAKindCannotDoWithoutMustBeUsed) {
  EXPECT_EQ(message(with(kApply, "{{candidate.source}}", "code")),
            "p.yaml:7: a prompt of this kind must use 'candidate.source'");
  EXPECT_EQ(
      message(with(kApply, "{{step.instruction}}", "{{#step.instruction}}{{/step.instruction}}")),
      "p.yaml:7: a prompt of this kind must use 'step.instruction'");
}

TEST(PromptFile, TemplatesMustBeLiteralBlocks) {
  EXPECT_EQ(message(with(kApply, "system: |\n  You", "system: >\n  You")),
            "p.yaml:5: system must be a literal block: 'system: |'");
}

TEST(PromptFile, SchemasBelongToAnswersInJson) {
  EXPECT_EQ(message(kApply + "schema: |\n  {\"type\": \"object\"}\n"),
            "p.yaml:1: 'schema' does not belong here: answers of this kind are no JSON");
  const std::string judge =
      with(with(kApply, "kind: apply", "kind: judge_optimisation"), "{{step.instruction}}", "");
  EXPECT_EQ(message(judge), "p.yaml:1: missing key 'schema': answers of this kind are JSON");
  EXPECT_EQ(message(judge + "schema: |\n  {\"type\": \"objekt\"}\n"),
            "p.yaml:10: schema: type must be one of object, array, string, integer, number, "
            "boolean");
  EXPECT_EQ(message(judge + "schema: |\n  {\"type\": \"object\"}\n"), "accepted");
}

TEST(PromptFile, EveryKindHasANameAndPlaceholders) {
  for (int kind = 0; kind < kPromptKindCount; ++kind) {
    EXPECT_STRNE(name(static_cast<PromptKind>(kind)), "?");
    EXPECT_GT(placeholders(static_cast<PromptKind>(kind)).size(), 10U);
  }
}

}  // namespace
}  // namespace regraph::llm::prompt_file_test
