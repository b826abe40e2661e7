// Names that belong together, directly or over others: union-find.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::learn {

class NameGroups {
 public:
  // Puts the groups of all `names` together. One name alone becomes known.
  void join(const std::vector<std::string>& names);
  // The first name of the group, in order of the alphabet; `name` itself where it is not known.
  [[nodiscard]] std::string leader(std::string_view name) const;
  [[nodiscard]] bool together(std::string_view one, std::string_view other) const {
    return leader(one) == leader(other);
  }

 private:
  std::map<std::string, std::string, std::less<>> parents_;  // a leader is its own
};

}  // namespace regraph::learn
