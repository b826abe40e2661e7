// What a language model costs, from a YAML file:
//
//   format: regraph-prices/1
//   prices:                       # US dollars for a million tokens
//     - {model: my-model, prompt: 2.5, cached: 0.25, completion: 10}
//     - {model: "my-family-*", prompt: 0.1, completion: 0.4}
//     - {model: "*", prompt: 0, completion: 0}
//
// The first entry whose pattern fits counts; '*' stands for any characters. Without "cached",
// tokens that the server had in its own cache cost as much as others.
#pragma once

#include "base/result.h"
#include "llm/chat/chat.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::llm {

// US dollars for a million tokens.
struct Price {
  double prompt = 0.0;
  double cached = 0.0;
  double completion = 0.0;

  // US dollars for what was used.
  [[nodiscard]] double cost(const TokenUsage& usage) const;
};

class PriceTable {
 public:
  // Errors: not_found, io, parse with file:line (also a negative price).
  [[nodiscard]] static Result<PriceTable> load(const std::filesystem::path& path);
  [[nodiscard]] static Result<PriceTable> parse(const std::string& text, const std::string& file);

  // The price of a model, nothing when no entry fits.
  [[nodiscard]] std::optional<Price> find(std::string_view model) const;

 private:
  struct Entry {
    std::string pattern;
    Price price;
  };
  std::vector<Entry> entries_;
};

// Whether `text` fits `pattern`, in which '*' stands for any characters. Linear memory, time of the
// product of the lengths at most.
[[nodiscard]] bool fits_pattern(std::string_view text, std::string_view pattern);

}  // namespace regraph::llm
