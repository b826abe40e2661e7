#include "kernel/front_matter.h"

#include <algorithm>

namespace regraph {

std::optional<FrontMatter> find_front_matter(std::string_view source) {
  constexpr std::string_view kOpening = "/*@regraph";
  const std::size_t begin = source.find("/*");
  if (begin == std::string_view::npos || source.substr(begin, kOpening.size()) != kOpening) {
    return std::nullopt;
  }
  const std::size_t close = source.find("*/", begin + kOpening.size());
  if (close == std::string_view::npos) return std::nullopt;
  FrontMatter found;
  found.begin = begin;
  found.end = close + 2;
  const auto lines = std::count(source.begin(), source.begin() + static_cast<long>(begin), '\n');
  found.line = static_cast<int>(lines) + 1;
  found.yaml.assign(static_cast<std::size_t>(lines), '\n');
  found.yaml += source.substr(begin + kOpening.size(), close - begin - kOpening.size());
  return found;
}

void blank_front_matter(const FrontMatter& front_matter, std::string& source) {
  const auto first = source.begin() + static_cast<long>(front_matter.begin);
  const auto last = source.begin() + static_cast<long>(front_matter.end);
  const auto lines = std::count(first, last, '\n');
  source.replace(front_matter.begin, front_matter.end - front_matter.begin,
                 std::string(static_cast<std::size_t>(lines), '\n'));
}

}  // namespace regraph
