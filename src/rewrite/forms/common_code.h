// What pieces of code have in common that differ by their place alone.
#pragma once

#include "source/analysis.h"
#include "source/ir.h"

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
  CommonCode(const source::Analysis& analysis, std::string counter, std::int64_t distance);

  // Nothing, or null, where they are not alike.
  [[nodiscard]] std::optional<source::Block> of(const source::Block& first,
                                                const source::Block& second);
  [[nodiscard]] source::ExprPtr of(const source::ExprPtr& first, const source::ExprPtr& second);

 private:
  [[nodiscard]] source::StmtPtr of(const source::StmtPtr& first, const source::StmtPtr& second);
  [[nodiscard]] std::optional<source::Polynomial> place(const source::ExprPtr& expr) const;
  [[nodiscard]] std::string own_name(const std::string& name) const;
  [[nodiscard]] source::ExprPtr moved(const source::ExprPtr& first, std::int64_t between) const;
  [[nodiscard]] source::ExprPtr with_common_operands(const source::ExprPtr& first,
                                                     const source::ExprPtr& second);

  const source::Analysis& analysis_;
  const std::string counter_;
  const std::int64_t distance_;
  std::map<std::string, std::string> names_;  // that either declares, as the first calls them
};

}  // namespace regraph::rewrite
