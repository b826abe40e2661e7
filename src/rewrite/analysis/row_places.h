// Kernels of which a thread computes a row, along the one axis that blocks have: what they compute,
// over the thread's place in the grid along that axis. Used by attention_pattern and
// quantized_product.
#pragma once

#include "base/result.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/analysis/matrix_product.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/names.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

using ValuesByName = std::map<std::string, ExprPtr>;

// The expression with the values of names that have one in `known`, or but one in the kernel;
// `kept`: names that stay.
[[nodiscard]] ExprPtr inlined(const ExprPtr& expr, const ValuesByName& known,
                              const std::set<std::string>& kept, const Analysis& analysis);

// The value as a declaration of the type takes it.
[[nodiscard]] ExprPtr converted(const ExprPtr& value, const std::optional<ScalarType>& type);

struct RowPlaces {
  // The kernel with a thread's place along the axis as a variable, which is not declared.
  std::shared_ptr<const KernelForm> form;
  ProductAxis axis;
  std::vector<Polynomial> row_limits;  // rows are below all of these
  std::vector<ExprPtr> conditions;     // for the whole block, under which there is anything to do
  // Values that are the same for all threads of a block and no polynomials, by names that the
  // polynomials mention.
  std::vector<std::pair<std::string, ExprPtr>> values_of_block;
};

// Fills in a kernel's places. All of it must outlive it.
class RowPlacer {
 public:
  RowPlacer(const KernelAnalysis& kernel, const Launch& launch, RowPlaces& places)
      : kernel_(kernel), launch_(launch), places_(places) {}

  // Sets form and axis; comes first. Error: refused, where blocks have no axis of threads or more
  // than one.
  Status place_threads();
  // Takes what is asked of a row for one of its limits, or for a condition of the whole block.
  // Error: refused, where it is neither.
  Status take_row_guard(const ExprPtr& guard);
  // The grid's limit, where there is one. Error: refused, where rows have no limit at all.
  Status take_limit_of_grid();

  [[nodiscard]] const Analysis& analysis() const { return places_.form->analysis; }
  [[nodiscard]] Names& names() { return *names_; }
  [[nodiscard]] ExprPtr inlined(const ExprPtr& expr, const std::set<std::string>& kept = {}) const;
  // Whether the value is the same for all threads of a block, in every iteration.
  [[nodiscard]] bool is_of_block(const ExprPtr& expr) const;
  // With what is the same for all threads of a block and no polynomial as variables.
  [[nodiscard]] ExprPtr with_values_of_block(const ExprPtr& expr);
  // An integer expression over the place and the values of the block; nothing where it is no
  // polynomial.
  [[nodiscard]] std::optional<Polynomial> placed(const ExprPtr& expr);

 private:
  const KernelAnalysis& kernel_;
  const Launch& launch_;
  RowPlaces& places_;
  std::optional<Names> names_;
};

// Where a loop stands that is in no other one.
struct LoopPlace {
  Block before;                 // of all blocks around it
  std::vector<ExprPtr> guards;  // around it
  Block behind;
};

// Error: refused, where the loop stands in another one, or something is done where it is skipped;
// the reasons call it `what`: "the loop over keys".
[[nodiscard]] Result<LoopPlace> place_of_loop(const Block& body, const Stmt& loop,
                                              const std::string& what);

}  // namespace regraph::rewrite
