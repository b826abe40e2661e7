// The part of JSON Schema that answers of a model are checked against, by our own code: type
// (object, array, string, integer, number, boolean), properties, required, additionalProperties
// (false, or one schema for all other members), maxProperties, items, minItems, maxItems,
// minLength, maxLength (characters), enum (strings) and description. An object without
// additionalProperties allows no other members.
#pragma once

#include "base/result.h"

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace regraph::llm {

// Immutable; checking is safe from several threads at once.
class JsonSchema {
 public:
  // Reads a schema. Errors (parse): not JSON, a keyword that is not in the list above or has a
  // value of the wrong type, more than 8 schemas in each other, a required member that is no
  // property.
  [[nodiscard]] static Result<JsonSchema> parse(std::string_view text);

  // Whether `value` satisfies the schema. The error (parse) says where and what is wrong, e.g.
  // "critical_issue: 412 characters, at most 160 are allowed".
  [[nodiscard]] Status check(const nlohmann::json& value) const;

  // JSON text of it, canonical: for ChatRequest::json_schema.
  [[nodiscard]] std::string text() const;

 private:
  explicit JsonSchema(std::shared_ptr<const nlohmann::json> schema) : schema_(std::move(schema)) {}
  std::shared_ptr<const nlohmann::json> schema_;
};

}  // namespace regraph::llm
