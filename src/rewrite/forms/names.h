// Names for what steps add to a kernel.
#pragma once

#include "rewrite/forms/ir.h"
#include "source/walk.h"

#include <map>
#include <set>
#include <string>

namespace regraph::rewrite {

// Hands out names that are used nowhere in a kernel nor handed out before.
class Names {
 public:
  // `separator`: what stands between a name and the number that makes it new.
  explicit Names(const Kernel& kernel, std::string separator = "");

  // `stem`, or `stem` with the smallest number that makes it new.
  [[nodiscard]] std::string fresh(const std::string& stem);
  // The same, which may be handed out again.
  [[nodiscard]] std::string unused(const std::string& stem) const;

  // Keeps the name from being handed out.
  void take(const std::string& name) { used_.insert(name); }

  // The block with every name that it declares replaced by a new one, so that it can stand beside
  // the original: a name must keep one meaning within a kernel.
  [[nodiscard]] Block renamed(const Block& block);

 private:
  std::set<std::string> used_;
  std::string separator_;
};

// Replaces names where they are used; they must outlive the rewriting.
[[nodiscard]] ExprRewrite renaming(const std::map<std::string, std::string>& names);
// Replaces names where they are declared and where they are used.
[[nodiscard]] Block renamed(const Block& block, const std::map<std::string, std::string>& names);

}  // namespace regraph::rewrite
