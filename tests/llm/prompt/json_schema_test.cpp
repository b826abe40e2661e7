#include "llm/prompt/json_schema.h"

#include "llm/prompt/strict_json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regraph::llm::json_schema_test {
namespace {

constexpr std::string_view kSchema = R"json({"type": "object", "required": ["name", "list"],
  "properties": {
    "name": {"type": "string", "minLength": 2, "maxLength": 5},
    "kind": {"type": "string", "enum": ["a", "b"]},
    "count": {"type": "integer"},
    "list": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "number"}},
    "map": {"type": "object", "maxProperties": 1, "additionalProperties": {"type": "boolean"}}}})json";

std::string check(std::string_view value) {
  const auto schema = JsonSchema::parse(kSchema);
  EXPECT_TRUE(schema) << schema.error().message;
  const Status status = schema->check(*parse_strict_json(value));
  if (status) return "accepted";
  EXPECT_EQ(status.error().code, ErrorCode::parse);
  return status.error().message;
}

std::string schema_error(std::string_view text) {
  const auto schema = JsonSchema::parse(text);
  return schema ? "accepted" : schema.error().message;
}

TEST(JsonSchema, AcceptsWhatFits) {
  EXPECT_EQ(check(R"({"name": "abc", "list": [1]})"), "accepted");
  EXPECT_EQ(
      check(R"({"name": "abc", "list": [1, 2.5], "kind": "b", "count": 3, "map": {"x": true}})"),
      "accepted");
}

TEST(JsonSchema, SaysWhereAndWhatIsWrong) {
  EXPECT_EQ(check("[]"), "the answer: expected an object, found array");
  EXPECT_EQ(check(R"({"name": "abc"})"), "the answer: key 'list' is missing");
  EXPECT_EQ(check(R"({"name": "abc", "list": [1], "more": 1})"),
            "the answer: key 'more' is not asked for");
  EXPECT_EQ(check(R"({"name": 1, "list": [1]})"), "name: expected a string, found number");
  EXPECT_EQ(check(R"({"name": "abcdef", "list": [1]})"),
            "name: 6 characters, at most 5 are allowed");
  EXPECT_EQ(check(R"({"name": "a", "list": [1]})"), "name: 1 characters, at least 2 needed");
  EXPECT_EQ(check(R"({"name": "abc", "list": []})"), "list: 0 entries, at least 1 needed");
  EXPECT_EQ(check(R"({"name": "abc", "list": [1, "x"]})"),
            "list[1]: expected a number, found string");
  EXPECT_EQ(check(R"({"name": "abc", "list": [1], "kind": "c"})"),
            R"(kind: must be one of ["a","b"])");
  EXPECT_EQ(check(R"({"name": "abc", "list": [1], "count": 1.5})"),
            "count: expected an integer, found number");
  EXPECT_EQ(check(R"({"name": "abc", "list": [1], "map": {"x": 1}})"),
            "map.x: expected a boolean, found number");
  EXPECT_EQ(check(R"({"name": "abc", "list": [1], "map": {"x": true, "y": true}})"),
            "map: 2 members, at most 1 are allowed");
}

TEST(JsonSchema, LengthsCountCharacters) {
  EXPECT_EQ(check("{\"name\": \"\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\", \"list\": [1]}"),
            "accepted");
}

TEST(JsonSchema, SchemasAreChecked) {
  EXPECT_EQ(schema_error(R"({"type": "object", "patternProperties": {}})"),
            "schema: unknown keyword 'patternProperties' in the schema");
  EXPECT_EQ(schema_error(R"({"properties": {}})"),
            "schema: a schema must be an object with a type");
  EXPECT_EQ(schema_error(R"({"type": "object", "required": ["a"]})"),
            "schema: 'a' is required but no property");
  EXPECT_EQ(schema_error(R"({"type": "string", "maxLength": "5"})"),
            "schema: maxLength must be a number");
  std::string deep = R"({"type": "string"})";
  for (int level = 0; level < 9; ++level)
    deep = R"({"type": "array", "items": )" + deep + "}";
  EXPECT_NE(schema_error(deep).find("more than 8 schemas in each other"), std::string::npos);
}

}  // namespace
}  // namespace regraph::llm::json_schema_test
