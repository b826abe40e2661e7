// Updates of sums that are scaled and added to at once. Used by scaled_sums.
#pragma once

#include "source/analysis.h"
#include "source/ir.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

// sum = sum * scale + added, in two: the sum is scaled, and then added to. Sums may be elements of
// an array that loops go over, each once.
struct SumUpdate {
  std::string sum;
  source::StmtPtr scaling;  // null: none
  source::StmtPtr adding;   // null: none
};

class SumUpdateSplitter {
 public:
  // For updates with the variable `scale`, of a type, to which only what `is_weighted` is added.
  // `analysis` must outlive it.
  SumUpdateSplitter(const source::Analysis& analysis, std::string scale, ScalarType scalar,
                    std::function<bool(const source::ExprPtr&)> is_weighted)
      : analysis_(analysis),
        scale_(std::move(scale)),
        scalar_(scalar),
        is_weighted_(std::move(is_weighted)) {}

  // Nothing for other statements.
  [[nodiscard]] std::optional<SumUpdate> split(const source::StmtPtr& stmt,
                                               std::vector<std::string> counters = {}) const;

 private:
  [[nodiscard]] source::StmtPtr scaling_of(const source::ExprPtr& target) const;
  // target * scale, or scale * target
  [[nodiscard]] bool is_scaled(const source::ExprPtr& value, const source::ExprPtr& target) const;
  // What stands beside the scaled target in a sum; null where there is no such sum.
  [[nodiscard]] source::ExprPtr added_to_scaled(const source::ExprPtr& value,
                                                const source::ExprPtr& target) const;

  const source::Analysis& analysis_;
  const std::string scale_;
  const ScalarType scalar_;
  const std::function<bool(const source::ExprPtr&)> is_weighted_;
};

// Whether both are done for the same elements.
[[nodiscard]] bool goes_over_the_same(const source::StmtPtr& a, const source::StmtPtr& b);

// Whether it is a variable or an array of the thread's own.
[[nodiscard]] bool is_of_thread(const std::string& name, const source::Analysis& analysis);

}  // namespace regraph::rewrite
