// Which scalars are read later on: one backward pass over the statement tree.
#pragma once

#include "rewrite/forms/ir.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace regraph::rewrite {

// Covers scalars whose address is never taken. Loops are passed through until nothing changes; a
// statement that stands in several places of the tree has what any of them says. Not thread-safe
// while it is made, read-only afterwards.
class Liveness {
 public:
  Liveness(const Block& body, const std::vector<std::string>& names);

  // Whether the value that the variable has after the statement may be read; after a jump, where it
  // leads to. False for names that are not covered.
  [[nodiscard]] bool is_live_after(const Stmt& stmt, const std::string& name) const;

 private:
  friend class LivenessPass;
  using Set = std::vector<std::uint64_t>;

  std::unordered_map<std::string, std::size_t> positions_;
  std::unordered_map<const Stmt*, Set> after_;
};

}  // namespace regraph::rewrite
