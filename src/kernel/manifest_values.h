// Typed values out of YAML nodes, with "path:line: ..." errors. Private to the manifest reader.
#pragma once

#include "base/result.h"
#include "kernel/launch_plan.h"
#include "kernel/problem.h"

#include <yaml-cpp/yaml.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace regraph::manifest_internal {

// Where a value stands, for messages: the manifest's path and a key such as "args.A.shape".
class Place {
 public:
  Place(std::string_view path, std::string key) : path_(path), key_(std::move(key)) {}
  [[nodiscard]] Place at(std::string_view child) const;
  [[nodiscard]] const std::string& key() const { return key_; }
  // "path:line: key: what".
  [[nodiscard]] Error error(const YAML::Node& node, std::string_view what,
                            ErrorCode code = ErrorCode::parse) const;

 private:
  std::string_view path_;
  std::string key_;
};

// Without the blanks and tabs around it.
[[nodiscard]] std::string_view trim(std::string_view text);
// Foreign text shortened for a message.
[[nodiscard]] std::string shown_text(std::string_view text);
// All of the text as a number, ".inf" and ".nan" too.
[[nodiscard]] std::optional<double> parse_double(std::string_view text);
// In a flow sequence or map YAML cuts plain text at commas, so `[cdiv(N, bx)]` becomes two items.
[[nodiscard]] bool looks_cut_at_comma(std::string_view text);
inline constexpr std::string_view kQuoteHint =
    "; put quotes around text that holds a comma, e.g. \"cdiv(N, bx)\"";

// 1-based line of a node, 0 when unknown.
[[nodiscard]] int line_of(const YAML::Node& node);

// Checks that `node` is a map with distinct keys, all of which are in `known` (empty: any names).
[[nodiscard]] Status check_keys(const YAML::Node& node, const Place& place,
                                std::initializer_list<std::string_view> known);

[[nodiscard]] Result<std::string> read_text(const YAML::Node& node, const Place& place);
[[nodiscard]] Result<bool> read_flag(const YAML::Node& node, const Place& place);
[[nodiscard]] Result<double> read_number(const YAML::Node& node, const Place& place);
[[nodiscard]] Result<IntegerExpression> read_expression(const YAML::Node& node, const Place& place);
// One expression, or a sequence of them.
[[nodiscard]] Result<std::vector<IntegerExpression>> read_expressions(const YAML::Node& node,
                                                                      const Place& place);
// An integer, possibly written as an expression of constants ("64 * 1024").
[[nodiscard]] Result<std::int64_t> read_integer(const YAML::Node& node, const Place& place);
[[nodiscard]] Result<Symbols> read_symbols(const YAML::Node& node, const Place& place);
// An even number of hexadecimal digits, spaces between them allowed.
[[nodiscard]] Result<std::vector<std::byte>> read_bytes(const YAML::Node& node, const Place& place);
[[nodiscard]] Result<BufferInit> read_init(const YAML::Node& node, const Place& place);
// A number, or else an expression of sizes. Integers that a double would round are expressions.
[[nodiscard]] Result<ScalarValue> read_value(const YAML::Node& node, const Place& place);
// Stores a read value, or hands its error on.
template <typename Target, typename Value>
Status store(Result<Value> value, Target& target) {
  if (!value.ok()) return value.error();
  target = std::move(*value);
  return {};
}

// Calls `read(key, node, place)` for each entry of a map until one fails.
template <typename Read>
Status for_each_entry(const YAML::Node& map, const Place& place, Read read) {
  for (const auto& entry : map) {
    const std::string& key = entry.first.Scalar();
    if (Status status = read(key, entry.second, place.at(key)); !status.ok()) return status;
  }
  return {};
}

// 32, [16, 16] or "16x16"; or expressions of sizes, whose values resolve_blocks puts in.
[[nodiscard]] Status read_block(const YAML::Node& node, const Place& place, Launch& launch);

}  // namespace regraph::manifest_internal
