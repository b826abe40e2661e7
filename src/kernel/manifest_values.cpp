#include "kernel/manifest_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

namespace regraph::manifest_internal {

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
    text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
    text.remove_suffix(1);
  return text;
}

std::string shown_text(std::string_view text) {
  constexpr std::size_t kShown = 60;
  std::string out = "'";
  for (const char c : text.substr(0, kShown))
    out += c >= 32 && c < 127 ? c : '?';
  return out + (text.size() > kShown ? "...'" : "'");
}

std::optional<double> parse_double(std::string_view text) {
  text = trim(text);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  bool negative = false;
  if (!text.empty() && text.front() == '-') {
    negative = true;
    text.remove_prefix(1);
  }
  double value = 0.0;
  if (text == ".inf" || text == "inf") {
    value = std::numeric_limits<double>::infinity();
  } else if (text == ".nan" || text == "nan") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else {
    if (text.empty() || text.front() == '-') return std::nullopt;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  }
  return negative ? -value : value;
}

bool looks_cut_at_comma(std::string_view text) {
  return std::count(text.begin(), text.end(), '(') != std::count(text.begin(), text.end(), ')');
}

Place Place::at(std::string_view child) const {
  return {path_, key_.empty() ? std::string(child) : fmt::format("{}.{}", key_, child)};
}

Error Place::error(const YAML::Node& node, std::string_view what, ErrorCode code) const {
  const int line = line_of(node);
  const std::string where =
      line > 0 ? fmt::format("{}:{}: ", path_, line) : fmt::format("{}: ", path_);
  return fail(
      code, key_.empty() ? where + std::string(what) : fmt::format("{}{}: {}", where, key_, what));
}

int line_of(const YAML::Node& node) {
  const YAML::Mark mark = node.Mark();
  return mark.is_null() ? 0 : mark.line + 1;
}

Status check_keys(const YAML::Node& node, const Place& place,
                  std::initializer_list<std::string_view> known) {
  if (!node.IsMap()) return place.error(node, "expected a map of keys and values");
  std::set<std::string> seen;
  for (const auto& entry : node) {
    if (!entry.first.IsScalar()) return place.error(entry.first, "keys must be plain names");
    const std::string& key = entry.first.Scalar();
    if (!seen.insert(key).second) {
      return place.error(entry.first, fmt::format("key {} is given twice", shown_text(key)));
    }
    if (known.size() == 0 || std::find(known.begin(), known.end(), key) != known.end()) continue;
    std::string names;
    for (const std::string_view name : known)
      names += (names.empty() ? "" : ", ") + std::string(name);
    return place.error(entry.first, fmt::format("unknown key {} (known: {}){}", shown_text(key),
                                                names, looks_cut_at_comma(key) ? kQuoteHint : ""));
  }
  return {};
}

Result<std::string> read_text(const YAML::Node& node, const Place& place) {
  if (!node.IsScalar() || node.Scalar().empty()) return place.error(node, "expected text");
  return node.Scalar();
}

Result<bool> read_flag(const YAML::Node& node, const Place& place) {
  if (node.IsScalar()) {
    if (node.Scalar() == "true") return true;
    if (node.Scalar() == "false") return false;
  }
  return place.error(node, "expected true or false");
}

Result<double> read_number(const YAML::Node& node, const Place& place) {
  if (node.IsScalar()) {
    if (node.Scalar() == "true") return 1.0;
    if (node.Scalar() == "false") return 0.0;
    if (const std::optional<double> value = parse_double(node.Scalar())) return *value;
    return place.error(node, fmt::format("expected a number, found {}", shown_text(node.Scalar())));
  }
  return place.error(node, "expected a number");
}

Result<IntegerExpression> read_expression(const YAML::Node& node, const Place& place) {
  if (!node.IsScalar() || node.Scalar().empty()) {
    return place.error(node, "expected an integer expression such as N, 4*N or \"cdiv(N, bx)\"");
  }
  Result<IntegerExpression> expression = IntegerExpression::parse(node.Scalar());
  if (expression.ok()) return expression;
  return place.error(node, fmt::format("cannot read the expression {}: {}{}",
                                       shown_text(node.Scalar()), expression.error().message,
                                       looks_cut_at_comma(node.Scalar()) ? kQuoteHint : ""));
}

Result<std::vector<IntegerExpression>> read_expressions(const YAML::Node& node,
                                                        const Place& place) {
  std::vector<IntegerExpression> expressions;
  if (!node.IsSequence()) {
    Result<IntegerExpression> one = read_expression(node, place);
    if (!one.ok()) return one.error();
    expressions.push_back(std::move(*one));
    return expressions;
  }
  for (const YAML::Node& item : node) {
    Result<IntegerExpression> one = read_expression(item, place);
    if (!one.ok()) return one.error();
    expressions.push_back(std::move(*one));
  }
  if (expressions.empty()) return place.error(node, "the list is empty");
  return expressions;
}

Result<std::int64_t> read_integer(const YAML::Node& node, const Place& place) {
  const Result<IntegerExpression> expression = read_expression(node, place);
  if (!expression.ok()) return expression.error();
  const Result<std::int64_t> value = expression->evaluate({});
  if (!value.ok()) return place.error(node, "expected an integer: " + value.error().message);
  return *value;
}

Result<Symbols> read_symbols(const YAML::Node& node, const Place& place) {
  if (const Status keys = check_keys(node, place, {}); !keys.ok()) return keys.error();
  Symbols symbols;
  for (const auto& entry : node) {
    const std::string& name = entry.first.Scalar();
    const Result<IntegerExpression> parsed = IntegerExpression::parse(name);
    if (!parsed.ok() || parsed->symbols().count(name) == 0) {
      return place.error(entry.first,
                         fmt::format("{} is not a valid symbol name", shown_text(name)));
    }
    if (name == "bx" || name == "by" || name == "bz") {
      return place.error(entry.first, name + " is the block's extent and cannot be a size");
    }
    const Result<std::int64_t> value = read_integer(entry.second, place.at(name));
    if (!value.ok()) return value.error();
    symbols[name] = *value;
  }
  return symbols;
}

Result<std::vector<std::byte>> read_bytes(const YAML::Node& node, const Place& place) {
  auto text = read_text(node, place);
  if (!text.ok()) return text.error();
  std::string digits;
  for (const char c : *text) {
    if (c != ' ') digits += c;
  }
  const bool well = !digits.empty() && digits.size() % 2 == 0 &&
                    digits.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
  if (!well) return place.error(node, "expected bytes as hexadecimal digits, two a byte");
  std::vector<std::byte> bytes;
  bytes.reserve(digits.size() / 2);
  for (std::size_t i = 0; i < digits.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  return bytes;
}

namespace {

// "32x8": numbers and crosses alone; `max(n, 8)` is an expression.
bool is_crossed(std::string_view text) {
  return text.find('x') != std::string_view::npos &&
         text.find_first_not_of("0123456789x ") == std::string_view::npos;
}

Result<std::vector<IntegerExpression>> read_extents(const YAML::Node& node, const Place& place) {
  if (!node.IsScalar() || !is_crossed(node.Scalar())) return read_expressions(node, place);
  std::vector<IntegerExpression> extents;
  std::string_view rest = node.Scalar();
  while (true) {
    const std::size_t cross = rest.find('x');
    const std::optional<double> value = parse_double(rest.substr(0, cross));
    if (!value || std::floor(*value) != *value || std::abs(*value) > 1e9) {
      return place.error(node, "expected numbers such as 32x8");
    }
    extents.emplace_back(static_cast<std::int64_t>(*value));
    if (cross == std::string_view::npos) return extents;
    rest.remove_prefix(cross + 1);
  }
}

Result<Dim3> read_fixed_block(const YAML::Node& node, const Place& place,
                              const std::vector<IntegerExpression>& expressions) {
  std::array<std::int64_t, 3> extents = {1, 1, 1};
  for (std::size_t axis = 0; axis < expressions.size(); ++axis) {
    const Result<std::int64_t> value = expressions[axis].evaluate({});
    if (!value.ok()) return place.error(node, "expected an integer: " + value.error().message);
    if (*value < 1 || *value > kMaxThreadsPerBlock) {
      return place.error(node, fmt::format("a block extent must be 1 to {}, found {}",
                                           kMaxThreadsPerBlock, *value));
    }
    extents[axis] = *value;
  }
  const Dim3 block{static_cast<std::uint32_t>(extents[0]), static_cast<std::uint32_t>(extents[1]),
                   static_cast<std::uint32_t>(extents[2])};
  if (block.count() > kMaxThreadsPerBlock) {
    return place.error(node, fmt::format("a block of {} threads is over CUDA's limit of {}",
                                         block.count(), kMaxThreadsPerBlock));
  }
  return block;
}

}  // namespace

Status read_block(const YAML::Node& node, const Place& place, Launch& launch) {
  if (node.IsScalar() && node.Scalar() == "auto") {
    return place.error(node, "a block chosen by the search is not supported yet; write numbers",
                       ErrorCode::unsupported);
  }
  const Result<std::vector<IntegerExpression>> extents = read_extents(node, place);
  if (!extents.ok()) return extents.error();
  if (extents->empty() || extents->size() > 3) return place.error(node, "expected 1 to 3 extents");
  if (std::ranges::all_of(*extents, &IntegerExpression::is_constant))
    return store(read_fixed_block(node, place, *extents), launch.block);
  BlockOfSizes block;
  std::ranges::copy(*extents, block.extents.begin());
  launch.block_of_sizes = std::move(block);
  return {};
}

}  // namespace regraph::manifest_internal
