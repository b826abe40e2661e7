#include "llm/record/price_table.h"

#include "base/files.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <cmath>

namespace regraph::llm {

namespace {

constexpr const char* kPriceFormat = "regraph-prices/1";
constexpr std::size_t kLargestTable = std::size_t{1} << 20;
constexpr double kTokensOfAPrice = 1e6;

Error at(const std::string& file, const YAML::Node& node, const std::string& what) {
  return fail(ErrorCode::parse, fmt::format("{}:{}: {}", file, node.Mark().line + 1, what));
}

}  // namespace

double Price::cost(const TokenUsage& usage) const {
  const auto fresh = static_cast<double>(usage.prompt_tokens - usage.cached_tokens);
  return (fresh * prompt + static_cast<double>(usage.cached_tokens) * cached +
          static_cast<double>(usage.completion_tokens) * completion) /
         kTokensOfAPrice;
}

bool fits_pattern(std::string_view text, std::string_view pattern) {
  std::size_t at = 0;
  std::size_t in = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  while (at < text.size()) {
    if (in < pattern.size() && pattern[in] == '*') {
      star = in++;
      resume = at;
    } else if (in < pattern.size() && pattern[in] == text[at]) {
      ++in;
      ++at;
    } else if (star != std::string_view::npos) {
      in = star + 1;
      at = ++resume;
    } else {
      return false;
    }
  }
  while (in < pattern.size() && pattern[in] == '*')
    ++in;
  return in == pattern.size();
}

Result<PriceTable> PriceTable::load(const std::filesystem::path& path) {
  Result<std::string> text = read_file(path, kLargestTable);
  if (!text) return text.error();
  return parse(*text, path.string());
}

Result<PriceTable> PriceTable::parse(const std::string& text, const std::string& file) {
  YAML::Node root;
  try {
    root = YAML::Load(text);
  } catch (const YAML::Exception& error) {
    return fail(ErrorCode::parse,
                fmt::format("{}:{}: not valid YAML: {}", file, error.mark.line + 1, error.msg));
  }
  if (!root.IsMap() || !root["format"] || !root["format"].IsScalar() ||
      root["format"].Scalar() != kPriceFormat) {
    return fail(ErrorCode::parse,
                fmt::format("{}:1: a price table begins with 'format: {}'", file, kPriceFormat));
  }
  const YAML::Node prices = root["prices"];
  if (!prices || !prices.IsSequence()) return at(file, root, "'prices' must be a list");
  PriceTable table;
  for (const YAML::Node& node : prices) {
    if (!node.IsMap()) return at(file, node, "a price is {model, prompt, completion}");
    Entry entry;
    std::optional<double> cached;
    for (const auto& member : node) {
      const std::string key = member.first.IsScalar() ? member.first.Scalar() : "";
      if (key == "model") {
        if (!member.second.IsScalar()) return at(file, member.second, "'model' must be a text");
        entry.pattern = member.second.Scalar();
        continue;
      }
      double value = 0.0;
      const bool number =
          member.second.IsScalar() && YAML::convert<double>::decode(member.second, value);
      if (!number || !(value >= 0.0) || !std::isfinite(value)) {
        return at(file, member.second,
                  fmt::format("'{}' must be dollars for a million tokens, 0 or more", key));
      }
      if (key == "prompt") {
        entry.price.prompt = value;
      } else if (key == "completion") {
        entry.price.completion = value;
      } else if (key == "cached") {
        cached = value;
      } else {
        return at(file, member.first, fmt::format("unknown key '{}'", key));
      }
    }
    if (entry.pattern.empty()) return at(file, node, "a price needs a 'model'");
    entry.price.cached = cached.value_or(entry.price.prompt);
    table.entries_.push_back(std::move(entry));
  }
  return table;
}

std::optional<Price> PriceTable::find(std::string_view model) const {
  for (const Entry& entry : entries_) {
    if (fits_pattern(model, entry.pattern)) return entry.price;
  }
  return std::nullopt;
}

}  // namespace regraph::llm
