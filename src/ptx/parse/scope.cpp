#include "ptx/parse/scope.h"

#include <charconv>

namespace regraph::ptx {

void ScopeStack::declare(std::string_view name, NameBinding binding) {
  scopes_.back().names[name] = binding;
}

void ScopeStack::declare_range(std::string_view prefix, std::uint32_t count, std::uint32_t first) {
  scopes_.back().ranges[prefix] = Range{count, first};
}

std::optional<NameBinding> ScopeStack::find(std::string_view name) const {
  std::size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
    --digits;
  const std::string_view prefix = name.substr(0, digits);
  std::uint32_t number = 0;
  bool numbered = false;
  if (digits < name.size()) {
    const auto [end, status] =
        std::from_chars(name.data() + digits, name.data() + name.size(), number);
    numbered = status == std::errc() && end == name.data() + name.size();
  }
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto found = scope->names.find(name); found != scope->names.end()) {
      return found->second;
    }
    if (!numbered) continue;
    const auto range = scope->ranges.find(prefix);
    if (range != scope->ranges.end() && number < range->second.count) {
      return NameBinding{NameBinding::Kind::reg, range->second.first + number};
    }
  }
  return std::nullopt;
}

}  // namespace regraph::ptx
