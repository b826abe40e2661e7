// What pieces of code have in common that differ by their place alone.
#pragma once

#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

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

}  // namespace regraph::rewrite
