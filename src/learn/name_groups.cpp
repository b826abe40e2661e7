#include "learn/name_groups.h"

#include <algorithm>

namespace regraph::learn {

void NameGroups::join(const std::vector<std::string>& names) {
  if (names.empty()) return;
  std::string first = leader(names.front());
  for (const std::string& name : names)
    first = std::min(first, leader(name));
  for (const std::string& name : names) {
    parents_[leader(name)] = first;
    parents_[name] = first;
  }
}

std::string NameGroups::leader(std::string_view name) const {
  auto at = parents_.find(name);
  if (at == parents_.end()) return std::string(name);
  while (at->second != at->first)
    at = parents_.find(at->second);
  return at->second;
}

}  // namespace regraph::learn
