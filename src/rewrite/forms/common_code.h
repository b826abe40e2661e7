// What pieces of code have in common that differ by their place alone.
#pragma once

#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace regraph::rewrite {

// What two copies have in common, as code that is each of them for one value of a counter: integers
// of the first, and so much for each copy in between. The analysis must outlive it.
class CommonCode {
 public:
  // The second is `distance` copies behind the first.
  CommonCode(const Analysis& analysis, std::string counter, std::int64_t distance);

  // Nothing, or null, where they are not alike.
  [[nodiscard]] std::optional<Block> of(const Block& first, const Block& second);
  [[nodiscard]] ExprPtr of(const ExprPtr& first, const ExprPtr& second);

 private:
  [[nodiscard]] StmtPtr of(const StmtPtr& first, const StmtPtr& second);
  [[nodiscard]] std::optional<Polynomial> place(const ExprPtr& expr) const;
  [[nodiscard]] std::string own_name(const std::string& name) const;
  [[nodiscard]] ExprPtr moved(const ExprPtr& first, std::int64_t between) const;
  [[nodiscard]] ExprPtr with_common_operands(const ExprPtr& first, const ExprPtr& second);

  const Analysis& analysis_;
  const std::string counter_;
  const std::int64_t distance_;
  std::map<std::string, std::string> names_;  // that either declares, as the first calls them
};

// What the expression is made of, in the order in which it is written.
[[nodiscard]] std::vector<ExprPtr> operands_of(const Expr& expr);
// Whether two expressions are the same apart from their operands and types.
[[nodiscard]] bool same_but_operands(const ExprPtr& a, const ExprPtr& b);
// Whether a number passes through fewer than 32 bits, where it wraps around.
[[nodiscard]] bool is_narrow(const ExprPtr& expr);

// Copies, from the first on, that are one piece of code for 0, 1, 2, ... in the place of a counter.
struct CopyRun {
  Block common;
  std::size_t copies = 1;
};
// The longest such run; `copy` returns the copy of a number, and an empty block behind the last.
[[nodiscard]] CopyRun run_of_copies(const std::function<Block(std::size_t)>& copy,
                                    const Analysis& analysis, const std::string& counter);

}  // namespace regraph::rewrite
