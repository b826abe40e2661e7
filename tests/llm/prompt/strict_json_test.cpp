#include "llm/prompt/strict_json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regraph::llm::strict_json_test {
namespace {

std::string message(std::string_view text, const JsonLimits& limits = {}) {
  const auto value = parse_strict_json(text, limits);
  if (value) return "accepted";
  EXPECT_EQ(value.error().code, ErrorCode::parse);
  return value.error().message;
}

TEST(StrictJson, ReadsJson) {
  const auto value = parse_strict_json(R"( {"a": [1, 2.5, true, null, "x\n"]} )");
  ASSERT_TRUE(value);
  EXPECT_EQ((*value)["a"].size(), 5U);
}

TEST(StrictJson, SaysWhereItIsNotJson) {
  EXPECT_EQ(message("{\"a\": 1,\n \"b\": oops}"), "not valid JSON at line 2, column 7");
  EXPECT_EQ(message("{\"a\": 1,}"), "not valid JSON at line 1, column 9");
  EXPECT_EQ(message("{\"a\": \"line\nbreak\"}"), "not valid JSON at line 1, column 12");
  EXPECT_NE(message("{} {}"), "accepted");
  EXPECT_NE(message(""), "accepted");
  EXPECT_NE(message("\"\xff\""), "accepted");
}

TEST(StrictJson, RejectsRepeatedKeys) {
  EXPECT_EQ(message(R"({"a": 1, "b": {"a": 2}})"), "accepted");
  EXPECT_EQ(message(R"({"a": 1, "a": 2})"), "key 'a' is given twice");
}

TEST(StrictJson, BoundsSizeDepthAndCount) {
  EXPECT_EQ(message(std::string(100000, '[')), "JSON nested deeper than 16 levels");
  EXPECT_EQ(message("[1,2,3]", {.bytes = 100, .depth = 4, .values = 3}),
            "more than 3 values in the JSON");
  EXPECT_EQ(message("[1,2,3]", {.bytes = 5, .depth = 4, .values = 3}),
            "7 bytes of JSON, at most 5 are read");
}

}  // namespace
}  // namespace regraph::llm::strict_json_test
