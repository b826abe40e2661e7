// Names for what steps add to a kernel.
#pragma once

#include "rewrite/forms/ir.h"

#include <set>
#include <string>

namespace regraph::rewrite {

// Hands out names that are used nowhere in a kernel nor handed out before.
class Names {
 public:
  explicit Names(const Kernel& kernel);

  // `stem`, or `stem` with the smallest number that makes it new.
  [[nodiscard]] std::string fresh(const std::string& stem);

  // Keeps the name from being handed out.
  void take(const std::string& name) { used_.insert(name); }

  // The block with every name that it declares replaced by a new one, so that it can stand beside
  // the original: a name must keep one meaning within a kernel.
  [[nodiscard]] Block renamed(const Block& block);

 private:
  std::set<std::string> used_;
};

}  // namespace regraph::rewrite
