#include "llm/prompt/json_schema.h"

#include "llm/prompt/prompt_text.h"
#include "llm/prompt/strict_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace regraph::llm {

namespace {

using Json = nlohmann::json;

constexpr int kMostNesting = 8;
constexpr auto kTypes =
    std::to_array<std::string_view>({"object", "array", "string", "integer", "number", "boolean"});
constexpr auto kCounts = std::to_array<std::string_view>(
    {"maxProperties", "minItems", "maxItems", "minLength", "maxLength"});

Error wrong(const std::string& where, const std::string& what) {
  return fail(ErrorCode::parse, (where.empty() ? "the answer" : where) + ": " + what);
}

std::string member_of(const std::string& where, std::string_view key) {
  constexpr std::size_t kShown = 60;
  return where.empty() ? one_line(key, kShown) : where + "." + one_line(key, kShown);
}

bool all_strings(const Json& list) {
  return list.is_array() && std::ranges::all_of(list, [](const Json& v) { return v.is_string(); });
}

Status check_schema(const Json& schema, const std::string& where, int depth);

Status check_keyword(const Json& schema, std::string_view key, const Json& value,
                     const std::string& where, int depth) {
  if (key == "type") {
    if (value.is_string() && std::ranges::find(kTypes, value.get<std::string>()) != kTypes.end())
      return {};
    return wrong(where, fmt::format("type must be one of {}", fmt::join(kTypes, ", ")));
  }
  if (key == "description") {
    return value.is_string() ? Status{} : wrong(where, "a description must be text");
  }
  if (std::ranges::find(kCounts, key) != kCounts.end()) {
    return value.is_number_unsigned() ? Status{}
                                      : wrong(where, fmt::format("{} must be a number", key));
  }
  if (key == "enum" || key == "required") {
    if (!all_strings(value)) return wrong(where, fmt::format("{} must be a list of names", key));
    if (key == "enum") return {};
    for (const Json& name : value) {
      if (!schema.contains("properties") || !schema["properties"].is_object() ||
          !schema["properties"].contains(name.get<std::string>())) {
        return wrong(where,
                     fmt::format("'{}' is required but no property", name.get<std::string>()));
      }
    }
    return {};
  }
  if (key == "properties") {
    if (!value.is_object()) return wrong(where, "properties must be an object");
    for (const auto& [name, property] : value.items()) {
      if (Status status = check_schema(property, member_of(where, name), depth + 1); !status)
        return status;
    }
    return {};
  }
  if (key == "items") return check_schema(value, where + "[]", depth + 1);
  if (key == "additionalProperties") {
    if (value.is_boolean() && !value.get<bool>()) return {};
    return check_schema(value, member_of(where, "*"), depth + 1);
  }
  return wrong(where, fmt::format("unknown keyword '{}' in the schema", key));
}

Status check_schema(const Json& schema, const std::string& where, int depth) {
  if (depth > kMostNesting) {
    return wrong(where, fmt::format("more than {} schemas in each other", kMostNesting));
  }
  if (!schema.is_object() || !schema.contains("type")) {
    return wrong(where, "a schema must be an object with a type");
  }
  for (const auto& [key, value] : schema.items()) {
    if (Status status = check_keyword(schema, key, value, where, depth); !status) return status;
  }
  return {};
}

bool has_type(const Json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  return value.is_boolean();
}

// A bound of the schema, or `otherwise`.
std::uint64_t bound(const Json& schema, const char* key, std::uint64_t otherwise) {
  const auto found = schema.find(key);
  return found == schema.end() ? otherwise : found->get<std::uint64_t>();
}

Status check_count(const Json& schema, const std::string& where, std::uint64_t count,
                   const char* least_key, const char* most_key, std::string_view unit) {
  const std::uint64_t least = bound(schema, least_key, 0);
  const std::uint64_t most = bound(schema, most_key, UINT64_MAX);
  if (count < least) {
    return wrong(where, fmt::format("{} {}, at least {} needed", count, unit, least));
  }
  if (count > most) {
    return wrong(where, fmt::format("{} {}, at most {} are allowed", count, unit, most));
  }
  return {};
}

Status check_value(const Json& schema, const Json& value, const std::string& where);

Status check_object(const Json& schema, const Json& value, const std::string& where) {
  static const Json kNothing = Json::object();
  const auto found = schema.find("properties");
  const Json& properties = found == schema.end() ? kNothing : *found;
  if (const auto required = schema.find("required"); required != schema.end()) {
    for (const Json& name : *required) {
      if (!value.contains(name.get<std::string>()))
        return wrong(where, fmt::format("key '{}' is missing", name.get<std::string>()));
    }
  }
  for (const auto& [key, member] : value.items()) {
    const auto property = properties.find(key);
    const auto others = schema.find("additionalProperties");
    if (property != properties.end()) {
      if (Status status = check_value(*property, member, member_of(where, key)); !status)
        return status;
    } else if (others != schema.end() && others->is_object()) {
      if (Status status = check_value(*others, member, member_of(where, key)); !status)
        return status;
    } else {
      return wrong(where, fmt::format("key '{}' is not asked for", member_of("", key)));
    }
  }
  return check_count(schema, where, value.size(), "minProperties", "maxProperties", "members");
}

Status check_value(const Json& schema, const Json& value, const std::string& where) {
  const std::string type = schema["type"].get<std::string>();
  if (!has_type(value, type)) {
    return wrong(where,
                 fmt::format("expected {} {}, found {}",
                             type == "object" || type == "array" || type == "integer" ? "an" : "a",
                             type, value.type_name()));
  }
  if (value.is_object()) return check_object(schema, value, where);
  if (value.is_array()) {
    const auto items = schema.find("items");
    for (std::size_t index = 0; items != schema.end() && index < value.size(); ++index) {
      Status status = check_value(*items, value[index], fmt::format("{}[{}]", where, index));
      if (!status) return status;
    }
    return check_count(schema, where, value.size(), "minItems", "maxItems", "entries");
  }
  if (!value.is_string()) return {};
  const std::string& text = value.get_ref<const std::string&>();
  if (const auto names = schema.find("enum"); names != schema.end()) {
    if (std::ranges::find(*names, value) == names->end())
      return wrong(where, fmt::format("must be one of {}", names->dump()));
  }
  const auto characters = std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
  return check_count(schema, where, static_cast<std::uint64_t>(characters), "minLength",
                     "maxLength", "characters");
}

}  // namespace

Result<JsonSchema> JsonSchema::parse(std::string_view text) {
  Result<Json> schema = parse_strict_json(text, {.bytes = 64 << 10, .depth = 24, .values = 2000});
  if (!schema) return schema.error();
  if (Status status = check_schema(*schema, "schema", 0); !status) return status.error();
  return JsonSchema(std::make_shared<const Json>(std::move(*schema)));
}

Status JsonSchema::check(const Json& value) const {
  return check_value(*schema_, value, "");
}

std::string JsonSchema::text() const {
  return schema_->dump();
}

}  // namespace regraph::llm
