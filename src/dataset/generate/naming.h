// The names that authors give to things: a role of a family ("in", "row", "sum") becomes one name
// of a pool, no name standing for two roles of a kernel.
#pragma once

#include "dataset/generate/dice.h"

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace regraph::dataset {

class Names {
 public:
  explicit Names(const Dice& dice) : dice_(dice) {}

  // The name of a role, chosen when it is asked for first; a role without a pool is its own name.
  // Which name it is depends on which roles were asked for before: families ask in a fixed order.
  [[nodiscard]] const std::string& of(std::string_view role);

 private:
  Dice dice_;
  std::map<std::string, std::string, std::less<>> chosen_;
  std::set<std::string, std::less<>> taken_;
};

}  // namespace regraph::dataset
